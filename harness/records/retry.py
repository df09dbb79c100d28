"""Forgetting runs, failed ones or all of a variant, so that the next call of Snakemake makes them again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar, get_args

from harness.records.confirmed import (
    RECOMMENDED_FILE,
    TIMED_FILE,
    TIMED_FOLDER,
    TRAINED_FOLDER,
    ConfirmedQuality,
    ConfirmedTiming,
)
from harness.records.files import read_model
from harness.records.record import Status
from harness.records.results import TimingResult, VariantResult
from harness.records.store import RecordStore
from harness.spec.options import Frozen

Result = TypeVar("Result", bound=Frozen)

_LAST_FILES = (
    RECOMMENDED_FILE,
    TIMED_FILE,
    "verdicts.json",
    "report.html",
    "report.md",
    "report.tex",
    "report.csv",
)


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
    forgotten = _forget(store, statuses, variants, timings, folder / "timing")
    forgotten |= _forget_confirmed(store, folder, statuses)
    forgotten |= _forget_unlisted(store, statuses, cells)
    if forgotten:
        _forget_last_files(folder)
    return sorted(forgotten)


def _forget(
    store: RecordStore,
    statuses: Collection[str],
    variants: dict[Path, VariantResult],
    timings: dict[Path, TimingResult],
    timed: Path,
) -> set[str]:
    """Remove failed records and the results that rest on them; what a removed result's timing rests on goes too."""
    forgotten: set[str] = set()
    timings = dict(timings)
    for path, result in variants.items():
        own = [(result.variant, r) for r in result.runs if r.status in statuses]
        reference = [(result.reference or "", r) for r in result.reference_runs if r.status in statuses]
        for name, run in own + reference:
            store.forget(statuses, [run.run_id])
            forgotten.add(f"{name} seed {run.seed} ({run.status})")
        if own or reference:
            path.unlink()
            timings.pop(timed / path.name, None)
            (timed / path.name).unlink(missing_ok=True)
    for path, timing in timings.items():
        failed = [p for b in timing.blocks for p in b.processes if p.status in statuses]
        if failed:
            path.unlink()
            forgotten |= {f"{timing.variant} timing ({p.status})" for p in failed}
    return forgotten


def _forget_confirmed(store: RecordStore, folder: Path, statuses: Collection[str]) -> set[str]:
    """Likewise of a confirmation, whose results stand in files with the ids of their jobs."""
    trained = _results(folder / TRAINED_FOLDER, ConfirmedQuality)
    timed = _results(folder / TIMED_FOLDER, ConfirmedTiming)
    variants = {path: found.result for path, found in trained.items() if found.result is not None}
    timings = {path: found.result for path, found in timed.items()}
    return _forget(store, statuses, variants, timings, folder / TIMED_FOLDER)


def forget_results(folder: Path, variants: Collection[str], timings: Collection[str]) -> list[str]:
    """Remove results that must be made again though their runs ended well, and every result that rests on them.

    Args:
        folder: ``results/<spec>``.
        variants: names whose quality runs and timings go, with their records. Where one is the reference of others,
            their results go too; of their runs only the reference's.
        timings: names, or ``control``, of which only the timings go.

    Returns:
        What was forgotten, ``<variant>: 5 runs`` and ``<variant>: timing``, sorted.

    Raises:
        InputError: a result is no file of this version; nothing is removed.
    """
    store = RecordStore(folder.parent / "runs")
    quality = _results(folder / "variants", VariantResult)
    timed = _results(folder / "timing", TimingResult)
    runs: dict[str, set[str]] = {}
    for path, result in quality.items():
        if result.variant in variants:
            runs.setdefault(result.variant, set()).update(run.run_id for run in result.runs)
        if result.reference in variants:
            runs.setdefault(result.reference or "", set()).update(run.run_id for run in result.reference_runs)
        if {result.variant, result.reference} & set(variants):
            path.unlink()
    forgotten = [f"{name}: {len(store.forget(get_args(Status), sorted(ids)))} runs" for name, ids in runs.items()]
    for path, timing in timed.items():
        rests = {timing.variant, timing.reference} & set(variants)
        if rests or path.stem in timings:
            path.unlink()
            forgotten.append(f"{path.stem}: timing")
    if forgotten:
        _forget_last_files(folder)
    return sorted(forgotten)


def last_files(folder: Path) -> list[str]:
    """Files of ``results/<spec>`` that rest on all results, and that go with any of them."""
    return [name for name in _LAST_FILES if (folder / name).exists()]


def _forget_last_files(folder: Path) -> None:
    """Snakemake makes nothing again while the last files of the chain are there."""
    for name in _LAST_FILES:
        (folder / name).unlink(missing_ok=True)


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
