"""What is said of networks whose layers have drawn the embeddings of all nodes together."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.wording import plural

_SHOWN = 8  # layers; of more, the first and the last ones


def spread_note(result: VariantResult | None) -> str | None:
    """One line with the spread of each layer's embeddings, of the variant and its reference; None where not known."""
    if result is None:
        return None
    said = [_by_layer(name, runs) for name, runs in (("variant", result.runs), ("reference", result.reference_runs))]
    known = "; ".join(words for words in said if words)
    return f"spread of embeddings by layer, from the features to the logits: {known}" if known else None


def _by_layer(name: str, runs: Sequence[SeedRun]) -> str:
    """Medians over the seeds that were looked at, and on how many of these a layer has collapsed."""
    layers = list(zip_longest(*(run.spread_by_layer for run in runs if run.spread_by_layer)))
    if not layers:
        return ""
    spreads = [_median(layer) for layer in layers]
    if len(spreads) > _SHOWN:
        spreads = [*spreads[: _SHOWN // 2], "…", *spreads[-_SHOWN // 2 :]]
    collapsed, seen = _collapsed(runs)
    smoothed = f" (over-smoothed on {collapsed} of {plural(seen, 'seed')})" if collapsed else ""
    return f"{name} {', '.join(spreads)}{smoothed}"


def _median(spreads: Sequence[float | None]) -> str:
    known = [spread for spread in spreads if spread is not None]
    return f"{statistics.median(known):.3f}" if known else "all zero"


def _collapsed(runs: Sequence[SeedRun]) -> tuple[int, int]:
    """Seeds that are over-smoothed, of those that were looked at."""
    seen = [run.over_smoothed for run in runs if run.over_smoothed is not None]
    return sum(seen), len(seen)


def over_smoothing_warning(results: Mapping[str, VariantResult]) -> str | None:
    """One line that names the cells which are over-smoothed on most seeds; None where none is.

    Args:
        results: of the references and the variants, by name, in the order to name them.
    """
    named = [f"{name} ({_seeds(result.runs)})" for name, result in results.items() if _mostly(result.runs)]
    if not named:
        return None
    return (
        f"the layers have drawn all nodes together (over-smoothing) in {', '.join(named)}: fewer layers, "
        "`model.norm: pair`, `model.residual` or `model.jumping` may keep them apart"
    )


def _mostly(runs: Sequence[SeedRun]) -> bool:
    collapsed, seen = _collapsed(runs)
    return collapsed > seen / 2


def _seeds(runs: Sequence[SeedRun]) -> str:
    """On how many seeds, and the median of how far apart the embeddings are."""
    collapsed, seen = _collapsed(runs)
    spreads = [run.embedding_spread or 0.0 for run in runs if run.over_smoothed is not None]
    return f"{collapsed} of {plural(seen, 'seed')}, spread {statistics.median(spreads):.3f}"
