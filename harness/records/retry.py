"""Forgetting failed runs, so that the next call of Snakemake makes them again."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from harness.records.results import TimingResult, VariantResult
from harness.records.store import RecordStore


def forget_failed(folder: Path, statuses: Collection[str]) -> list[str]:
    """Remove the failed records of a spec and every result that rests on them.

    Args:
        folder: ``results/<spec>``.
        statuses: which failures to forget.

    Returns:
        ``<variant> seed <n> (<status>)`` of each record forgotten, sorted.
    """
    store = RecordStore(folder.parent / "runs")
    forgotten: set[str] = set()
    for path in sorted((folder / "variants").glob("*.json")):
        result = VariantResult.model_validate_json(path.read_text())
        own = [(result.variant, r) for r in result.runs if r.status in statuses]
        reference = [(result.reference or "", r) for r in result.reference_runs if r.status in statuses]
        for name, run in own + reference:
            store.path(run.run_id).unlink(missing_ok=True)
            forgotten.add(f"{name} seed {run.seed} ({run.status})")
        if own or reference:
            path.unlink()
            (folder / "timing" / path.name).unlink(missing_ok=True)
    for path in sorted((folder / "timing").glob("*.json")):
        timing = TimingResult.model_validate_json(path.read_text())
        failed = [p for b in timing.blocks for p in b.processes if p.status in statuses]
        if failed:
            path.unlink()
            forgotten |= {f"{timing.variant} timing ({p.status})" for p in failed}
    return sorted(forgotten)
