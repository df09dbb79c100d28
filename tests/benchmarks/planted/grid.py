"""A spec's way to its verdicts, as the command line goes it: plan, prepare, run, time, analyze."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.plan.expand import make_plan
from harness.plan.files import write_plan
from harness.plan.machine import probe
from harness.plan.model import CONTROL, Plan, VariantPlan
from harness.records.results import TimingResult, VariantResult
from harness.runs.job import run_variant
from harness.runs.timing import time_variant
from harness.spec.load import load_spec
from harness.spec.places import cache_root
from harness.verdicts.analyze import analyze
from harness.verdicts.decide import accuracy_decided, speed_decided
from harness.verdicts.model import ComparisonVerdict

SPECS = Path(__file__).parent / "specs"


@dataclass(frozen=True)
class Grid:
    """A planned spec, its prepared graph, and the folder of its results."""

    plan: Plan
    jobs: Mapping[str, VariantPlan]
    graph: Path
    results: Path

    def run(self, variant: str, first_seed: int = 0, seeds: int | None = None) -> VariantResult:
        """Train a variant and its reference; the same seed is trained once.

        Args:
            seeds: as many, whatever they say; None lets the gate stop at a look.
        """
        job = self._job(variant, first_seed)
        if seeds is not None:
            looks = job.seeds.model_copy(update={"looks": (seeds,)})
            job = job.model_copy(update={"seeds": looks})
        decide = accuracy_decided(job.gate, job.seeds.looks)
        return run_variant(job, self.graph, self.results, decide=decide, progress=_silent)

    def time(self, variant: str, patience_s: float, first_seed: int = 0, epochs: int | None = None) -> TimingResult:
        """Time a variant against its reference; each call times anew.

        Args:
            variant: or `control`.
            patience_s: to wait for a quiet machine.
            epochs: timed in each process; None for as many as the spec says.
        """
        job = self._job(variant, first_seed)
        if epochs is not None:
            job = job.model_copy(update={"timing": job.timing.model_copy(update={"epochs": epochs})})
        decide = speed_decided(job.gate, job.timing, "control" if variant == CONTROL else job.goal)
        timed = time_variant(job, self.graph, self.results, decide=decide, progress=_silent, patience_s=patience_s)
        if timed.status != "ok":
            raise SystemExit(f"{self.plan.spec}: {variant} could not be timed: {timed.reason}")
        return timed

    def verdict(
        self, quality: VariantResult, timing: TimingResult | None = None, control: TimingResult | None = None
    ) -> ComparisonVerdict:
        """What the analyser says of one variant."""
        given = {CONTROL: control, quality.variant: timing}
        timings = {name: result for name, result in given.items() if result is not None}
        found = analyze(self.plan, {quality.variant: quality}, timings)
        return next(c for c in found.comparisons if c.variant == quality.variant)

    @property
    def steps(self) -> int:
        """Steps of the baseline's epoch."""
        nodes, batch = open_graph(self.graph).meta.train_nodes, self.jobs[CONTROL].cell.training.batch_size
        return -(-nodes // batch)

    def pause_ms(self, variant: str) -> float:
        """What the model of a cell waits in each step (`PausedSage`)."""
        return float(self.plan.cells[variant].model.args["pause_ms"])

    def _job(self, variant: str, first_seed: int) -> VariantPlan:
        job = self.jobs[variant]
        return job.model_copy(update={"seeds": job.seeds.model_copy(update={"first": first_seed})})


def planned(name: str, results: Path) -> Grid:
    """The spec of that name beside this file."""
    path = SPECS / f"{name}.yaml"
    plan = make_plan(load_spec(path), path, probe(cache_root()))
    if plan.skipped:
        raise SystemExit(f"{path}: {plan.skipped[0].variant} cannot run here: {plan.skipped[0].reason}")
    write_plan(plan, results)
    folder = results / plan.spec / "plan"
    names = [CONTROL, *(c.variant for c in plan.comparisons)]
    jobs = {name: VariantPlan.model_validate_json((folder / f"{name}.json").read_text()) for name in names}
    dataset = plan.dataset
    return Grid(plan, jobs, prepare(dataset.dataset, dataset.dataset_id, Path(dataset.spec_dir)), results)


def _silent(line: str) -> None:
    """Twenty repetitions of what a job says are no news."""
