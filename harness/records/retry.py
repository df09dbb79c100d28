"""Forgetting failed runs, so that the next call of Snakemake makes them again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

from harness.records.files import read_model
from harness.records.results import TimingResult, VariantResult
from harness.records.store import RecordStore
from harness.spec.options import Frozen

Result = TypeVar("Result", bound=Frozen)


def forget_failed(folder: Path, statuses: Collection[str], cells: Mapping[str, str]) -> list[str]:
    """Remove the failed records of a spec and every result that rests on them.

    Args:
        folder: ``results/<spec>``.
        statuses: which failures to forget.
        cells: the plan's cells, id to name: their quality records are forgotten where no result lists them either,
            since the job that made them was stopped before its end.

    Returns:
        ``<variant> seed <n> (<status>)`` of each record forgotten, sorted.

    Raises:
        InputError: a result is no file of this version; nothing is removed.
    """
    store = RecordStore(folder.parent / "runs")
    variants = _results(folder / "variants", VariantResult)
    timings = _results(folder / "timing", TimingResult)
    forgotten: set[str] = set()
    for path, result in variants.items():
        own = [(result.variant, r) for r in result.runs if r.status in statuses]
        reference = [(result.reference or "", r) for r in result.reference_runs if r.status in statuses]
        for name, run in own + reference:
            store.forget(statuses, [run.run_id])
            forgotten.add(f"{name} seed {run.seed} ({run.status})")
        if own or reference:
            path.unlink()
            timings.pop(folder / "timing" / path.name, None)
            (folder / "timing" / path.name).unlink(missing_ok=True)
    for path, timing in timings.items():
        failed = [p for b in timing.blocks for p in b.processes if p.status in statuses]
        if failed:
            path.unlink()
            forgotten |= {f"{timing.variant} timing ({p.status})" for p in failed}
    forgotten |= _forget_unlisted(store, statuses, cells)
    if forgotten:
        # Snakemake makes nothing again while the last files of the chain are there.
        for name in ("verdicts.json", "report.html", "report.md", "report.tex", "report.csv"):
            (folder / name).unlink(missing_ok=True)
    return sorted(forgotten)


def _forget_unlisted(store: RecordStore, statuses: Collection[str], cells: Mapping[str, str]) -> set[str]:
    forgotten = set()
    for run_id in store.run_ids():
        record = store.read(run_id)
        if record is None or record.purpose != "quality" or record.cell_id not in cells:
            continue
        if store.forget(statuses, [run_id]):
            forgotten.add(f"{cells[record.cell_id]} seed {record.seed} ({record.status})")
    return forgotten


def _results(folder: Path, model: type[Result]) -> dict[Path, Result]:
    return {path: read_model(path, model) for path in sorted(folder.glob("*.json"))}
