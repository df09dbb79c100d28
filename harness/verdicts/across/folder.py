"""One results folder as `harness compare` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.ids import canonical
from harness.plan.model import CONTROL, Cell, Plan
from harness.plan.version import uses_metis
from harness.records.data_version import DataVersion
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.verdicts.costs import cell_epoch
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.profiles import arms_of


@dataclass(frozen=True)
class ResultsFolder:
    """What was planned and what came of it.

    Attributes:
        name: as the person gave it.
        variants, timings: results of this plan, by name.
        verdicts: as the folder's own version of the harness gave them.
    """

    name: str
    plan: Plan
    variants: Mapping[str, VariantResult]
    timings: Mapping[str, TimingResult]
    verdicts: Verdicts

    @property
    def results(self) -> list[VariantResult | TimingResult]:
        return [*self.variants.values(), *self.timings.values()]

    @property
    def cut_by_metis(self) -> bool:
        return any(uses_metis(cell) for cell in self.plan.cells.values())

    def cells(self) -> dict[str, Cell]:
        """By their options; of two with the same options the first."""
        found: dict[str, Cell] = {}
        for cell in self.plan.cells.values():
            found.setdefault(options_key(cell), cell)
        return found

    def runs(self, name: str) -> dict[int, SeedRun]:
        """All quality runs of a cell by seed: its own, and those made as others' reference at later looks."""
        own = self.variants[name].runs if name in self.variants else []
        as_reference = (r for v in self.variants.values() if v.reference == name for r in v.reference_runs)
        found: dict[int, SeedRun] = {}
        for run in (*own, *as_reference):
            found.setdefault(run.seed, run)
        return found

    def timing(self, name: str) -> TimingResult | None:
        """A variant's; the control's for the cell that is timed against itself."""
        control = self.timings.get(CONTROL)
        return control if control is not None and control.reference == name else self.timings.get(name)

    def epoch_seconds(self, name: str) -> float | None:
        """Median of a cell's steady-state epochs, over all timing jobs it was an arm of; see `cell_epoch`."""
        return cell_epoch(arms_of(name, self.timings))[0]

    def comparison(self, name: str) -> ComparisonVerdict | None:
        return next((c for c in self.verdicts.comparisons if c.variant == name and c.verdict != "skipped"), None)

    def judged_otherwise(self, name: str) -> bool:
        """Whether the verdict on a variant is of an earlier plan: another gate, other looks, or another patch.

        Told by what they say and not by the plan's id, which a version that has more options makes anew.
        """
        judged, plan = self.verdicts, self.plan
        if (judged.gate, tuple(judged.looks), judged.timing) != (plan.gate, plan.seeds.looks, plan.timing):
            return True
        found, cell = self.comparison(name), self.plan.cells.get(name)
        return found is not None and cell is not None and found.patch != cell.patch

    def fingerprints(self) -> list[str]:
        """Of the data of all results, each once."""
        return list(dict.fromkeys(result.fingerprint for result in self.results if result.fingerprint))

    def data(self) -> DataVersion | None:
        return next((result.data for result in self.results if result.data is not None), None)

    def recorded(self, key: str) -> list[Any]:
        """Values of the environment's `key` in all results and in the runs that say another, each once."""
        environments: Iterable[Mapping[str, Any]] = [
            *(result.environment for result in self.results),
            *(run.environment for v in self.variants.values() for run in (*v.runs, *v.reference_runs)),
        ]
        found: list[Any] = []
        for environment in environments:
            value = environment.get(key)
            if value not in (None, "", *found):
                found.append(value)
        return found


def options_key(cell: Cell) -> str:
    """The same for two cells that differ in nothing but their names, ids or the patch that led there.

    Ids are of no use between versions: an option that came with a default changes them all.
    """
    return canonical(cell.model_dump(by_alias=True, include={"model", "training", "options"}))
