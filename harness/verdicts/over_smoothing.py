"""What is said of networks whose layers have drawn the embeddings of all nodes together."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.wording import plural


def over_smoothing_note(result: VariantResult | None) -> str | None:
    """One line where the variant or its reference is over-smoothed on a seed; else None."""
    if result is None or not any(run.over_smoothed for run in (*result.runs, *result.reference_runs)):
        return None
    said = [_said(name, runs) for name, runs in (("variant", result.runs), ("reference", result.reference_runs))]
    return f"spread of the last hidden layer's embeddings: {', '.join(words for words in said if words)}"


def _said(name: str, runs: Sequence[SeedRun]) -> str:
    """Mean spread over the seeds that were looked at, and on how many it has collapsed."""
    seen = [run for run in runs if run.over_smoothed is not None]
    if not seen:
        return ""
    mean = statistics.fmean(run.embedding_spread or 0.0 for run in seen)
    collapsed = sum(bool(run.over_smoothed) for run in seen)
    smoothed = f" (over-smoothed on {collapsed} of {plural(len(seen), 'seed')})" if collapsed else ""
    return f"{name} {mean:.3f}{smoothed}"
