"""A spec's results as claims are measured on: its arms by name, pairs by seed, and what the runs recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.plan.model import BASELINE, CONTROL, Plan
from harness.plan.version import uses_metis
from harness.records.one_line import one_line
from harness.records.record import Record
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.records.store import RecordStore
from harness.spec.claims import Measure
from harness.verdicts.comparable import Remedy, quality_difference

PAIRS_OF_A_BLOCK = ((0, 1), (3, 2))  # reference and variant of each half


class NotMeasured(Exception):
    """Why there is no value; the states are those of `Measured`."""

    def __init__(self, state: Literal["failed", "unavailable", "missing"], reason: str) -> None:
        super().__init__(reason)
        self.state, self.reason = state, reason


@dataclass(frozen=True)
class SpecResults:
    """All that a spec left.

    Attributes:
        plan: what was to run.
        variants: quality results by name.
        timings: timing results by name, the control's among them.
        folder: ``results/<spec>``.
    """

    plan: Plan
    variants: Mapping[str, VariantResult]
    timings: Mapping[str, TimingResult]
    folder: Path
    _read: dict[str, Record | None] = field(default_factory=dict, repr=False)

    def arm(self, name: str) -> VariantResult:
        """The quality runs of a cell.

        Raises:
            NotMeasured: it was skipped, or has not run.
        """
        self._there(name)
        if name not in self.variants:
            raise NotMeasured("missing", f"`{name}` of {self.plan.spec} has not been trained")
        return self.variants[name]

    def timing(self, name: str) -> TimingResult:
        """The timing of a variant against its reference; of the baseline, the control.

        Raises:
            NotMeasured: it was skipped, has not run, or did not end well.
        """
        self._there(name)
        timing = self.timings.get(CONTROL if name == BASELINE else name)
        if timing is None:
            raise NotMeasured("missing", f"`{name}` of {self.plan.spec} has not been timed")
        if timing.status != "ok":
            raise NotMeasured("failed", f"`{name}` was not timed to its end: {timing.reason or timing.status}")
        return timing

    def _there(self, name: str) -> None:
        skipped = next((s.reason for s in self.plan.skipped if s.variant == name), None)
        if skipped is not None:
            raise NotMeasured("unavailable", f"`{name}` cannot run here: {skipped}")

    def record(self, run_id: str) -> Record:
        """What a run left.

        Raises:
            NotMeasured: its record is gone.
        """
        if run_id not in self._read:
            self._read[run_id] = RecordStore(self.folder.parent / "runs").read(run_id)
        record = self._read[run_id]
        if record is None:
            raise NotMeasured("missing", f"the record of run {run_id} is gone")
        return record

    def runs(self, name: str) -> dict[int, SeedRun]:
        """All quality runs of a cell, by seed: its own job's, and those that variants made of it as their reference.

        Runs of other libraries, threads or data than its own, of a job that was made again later, are none of them.

        Raises:
            NotMeasured: there is none.
        """
        self._there(name)
        made = [result for result in self.variants.values() if result.reference == name]
        own = self.variants.get(name, made[0] if made else None)
        arms = [result.reference_runs for result in made if self.difference(result, own) is None]
        if name in self.variants:
            arms.append(self.variants[name].runs)
        found = {run.seed: run for runs in arms for run in runs}
        if not found:
            raise NotMeasured("missing", f"`{name}` of {self.plan.spec} has not been trained")
        return dict(sorted(found.items()))

    def difference(self, result: VariantResult, other: VariantResult | None) -> str | None:
        """Why the quality runs of two results must not be compared; None where they may."""
        cells = [self.plan.cells.get(r.variant) for r in (result, other) if r is not None]
        cut = any(cell is not None and uses_metis(cell) for cell in cells)
        return quality_difference(result, other, Remedy(self.plan.spec), cut)

    def quality_records(self, name: str) -> dict[int, Record]:
        """Records of a cell's quality runs, by seed.

        Raises:
            NotMeasured: one of them did not end well, which no mean may leave out; or there is none.
        """
        return {run.seed: self.record(run.run_id) for run in ended_well(name, self.runs(name).values())}

    def timing_records(self, name: str) -> list[Record]:
        """Records of the processes in which a cell was timed; of the baseline, those of the control."""
        timing = self.timing(name)
        arms = ("reference", "variant") if name == BASELINE else ("variant",)
        return [self.record(p.run_id) for b in timing.blocks for p in b.processes if p.arm in arms]

    def block_pairs(self, name: str) -> list[tuple[Record, Record]]:
        """Reference and variant of each half of each block."""
        blocks = self.timing(name).blocks
        return [
            (self.record(b.processes[reference].run_id), self.record(b.processes[variant].run_id))
            for b in blocks
            for reference, variant in PAIRS_OF_A_BLOCK
        ]

    def last_end(self) -> str:
        """When the last of its runs ended, in the records' form; nothing where no record is left."""
        run_ids = [result.runs[-1].run_id for result in self.variants.values() if result.runs]
        run_ids += [t.blocks[-1].processes[-1].run_id for t in self.timings.values() if t.blocks]
        store = RecordStore(self.folder.parent / "runs")
        found = [record.ended_at for run_id in run_ids if (record := store.read(run_id)) is not None]
        return max(found, default="")

    def dataset(self) -> dict[str, Any]:
        """The prepared graph's metadata.

        Raises:
            NotMeasured: the graph has not been prepared.
        """
        try:
            found = json.loads((self.folder / "dataset.json").read_text(encoding="utf-8"))["meta"]
        except (OSError, ValueError, KeyError):
            raise NotMeasured("missing", f"{self.folder / 'dataset.json'} is not there") from None
        return dict(found)


def ended_well(name: str, runs: Iterable[SeedRun]) -> list[SeedRun]:
    """The runs, where all ended well.

    Raises:
        NotMeasured: one did not, which no mean may leave out.
    """
    runs = list(runs)
    failed = next((run for run in runs if run.status != "ok"), None)
    if failed is not None:
        said = f": {one_line(failed.message)}" if failed.message else ""
        raise NotMeasured("failed", f"seed {failed.seed} of `{name}` ended as {failed.status}{said}")
    return runs


def refuse_unlike(measure: Measure, results: SpecResults, reference: SpecResults) -> None:
    """Hold the arms of a comparison to the same conditions.

    Raises:
        NotMeasured: the variant has not run, or the arms must not be compared.
    """
    variant_arm, reference_arm = results.arm(measure.variant), reference.variants.get(measure.reference_name)
    if reference is not results:  # what differs between the specs is their data
        variant_arm = variant_arm.model_copy(update={"fingerprint": ""})
    difference = results.difference(variant_arm, reference_arm)
    if difference is not None:
        raise NotMeasured("failed", difference)
