"""Which files make up the grid of a spec: what the Snakefile asks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from harness.plan.confirmation import RECOMMENDED, trained
from harness.plan.confirmed import confirmation_left
from harness.plan.done import jobs_left, statuses
from harness.plan.expand import make_plan
from harness.plan.files import write_plan
from harness.plan.machine import Machine, probe
from harness.plan.model import BASELINE, CONTROL, Plan
from harness.records.confirmed import RECOMMENDED_FILE, TIMED_FILE, TRAINED_FOLDER
from harness.spec.errors import InputError, Problem
from harness.spec.load import load_spec
from harness.spec.places import cache_root


class Grid:
    """Plans specs as Snakemake asks for their files, each spec once.

    A bad spec ends the process with its messages and exit code 2: this is the Snakefile's boundary to a person.

    Args:
        spec: path of a spec that lives elsewhere (`--config spec=…`, of which Snakemake makes a number if it looks
            like one), or None.
        results: folder of all results.
        specs: folder in which `results/<name>/…` looks for `<name>.yaml`, and then for `claims/grids/<name>.yaml`.
    """

    def __init__(self, spec: str | float | None, *, results: str, specs: str) -> None:
        self._elsewhere = None if spec is None or spec == "" else Path(str(spec))
        self._results = Path(results)
        self._specs = Path(specs)
        self._plans: dict[str, Plan] = {}
        self._machine: Machine | None = None

    def default_report(self) -> str:
        """The report of `--config spec=…`, else of the quickstart."""
        plan = self._plan_file(self._elsewhere or self._specs / "quickstart.yaml")
        return self._path(plan.spec, "report.html")

    def reports(self, specs: str | list[str] | None) -> list[str]:
        """The reports of `--config specs=cora,debian`, each of which is brought up to date."""
        names = [name.strip() for name in (specs.split(",") if isinstance(specs, str) else specs or [])]
        if not any(names):
            message = "name the specs to run: `--config specs=cora,debian`; `harness report --all` runs none"
            _stop([Problem("results/index.html", message)])
        return [self.file(name, "report.html") for name in names if name]

    def file(self, spec: str, name: str) -> str:
        """A file of the plan, written by now."""
        self._plan(spec)
        return self._path(spec, name)

    def variants(self, spec: str) -> list[str]:
        """Results of all quality jobs, the references' first."""
        return [self._path(spec, f"variants/{name}.json") for name in self._plan(spec).cells]

    def timings(self, spec: str) -> list[str]:
        """Results of all timing jobs: the control and every comparison."""
        names = [CONTROL, *(c.variant for c in self._plan(spec).comparisons)]
        return [self._path(spec, f"timing/{name}.json") for name in names]

    def confirmed(self, spec: str) -> list[str]:
        """What confirms a recommendation, where the spec asks for it: the same files whatever is recommended."""
        runs = self.runs_before_timing_the_stack(spec)
        return [self._path(spec, RECOMMENDED_FILE), *runs, self._path(spec, TIMED_FILE)] if runs else []

    def runs_before_timing_the_stack(self, spec: str) -> list[str]:
        """Quality results of a confirmation."""
        return [self._path(spec, f"{TRAINED_FOLDER}/{name}.json") for name in trained(self._plan(spec))]

    def runs_before_confirming(self, spec: str, name: str) -> list[str]:
        """A part is left out on the seeds that the stack has run."""
        if name in (BASELINE, RECOMMENDED):
            return []
        return [self._path(spec, f"{TRAINED_FOLDER}/{RECOMMENDED}.json")]

    def runs_before_timing(self, spec: str, variant: str) -> list[str]:
        """Quality results that a timing job waits for: what cannot train is not timed."""
        plan = self._plan(spec)
        if variant != CONTROL:
            return [self._path(spec, f"variants/{variant}.json")]
        reference = plan.comparisons[0].reference if plan.comparisons else BASELINE
        return [self._path(spec, f"variants/{reference}.json")]

    def gpus(self, spec: str) -> int:
        """GPUs that one job of the spec needs."""
        plan = self._plan(spec)
        return int(plan.device == "cuda" or (plan.device == "auto" and self._probe().cuda))

    def judged_results(self) -> list[str]:
        """Folders of all specs planned so far that have verdicts; `report --show` tells those of an earlier plan."""
        folders = [self._results / name for name in self._plans]
        return [str(folder) for folder in folders if (folder / "verdicts.json").exists()]

    def _path(self, spec: str, name: str) -> str:
        return str(self._results / spec / name)

    def _plan(self, name: str) -> Plan:
        if name in self._plans:
            return self._plans[name]
        if self._elsewhere is not None:
            plan = self._plan_file(self._elsewhere)
            if plan.spec == name:
                return plan
        path = self._spec_file(name)
        plan = self._plan_file(path)
        if plan.spec != name:
            _stop([Problem(str(path), f"the spec's name is {plan.spec!r}; rename the file or the spec", path="name")])
        return plan

    def _spec_file(self, name: str) -> Path:
        """The file of a name: a spec of its own, else one of the grids that test the claims."""
        path, grid = self._specs / f"{name}.yaml", self._specs / "claims" / "grids" / f"{name}.yaml"
        return grid if grid.is_file() and not path.exists() else path

    def _plan_file(self, path: Path) -> Plan:
        try:
            spec = load_spec(path)
            if spec.name not in self._plans:
                plan = make_plan(spec, path, self._probe())
                write_plan(plan, self._results)
                self._plans[spec.name] = plan
                words, left = outlook(self._results, plan)
                print(words, file=sys.stderr)
                if left:
                    judge_again(self._results / plan.spec)
            return self._plans[spec.name]
        except InputError as error:
            _stop(error.problems)

    def _probe(self) -> Machine:
        if self._machine is None:
            self._machine = probe(cache_root())
        return self._machine


def judge_again(folder: Path) -> None:
    """Make the plan newer than the verdicts, where `harness analyze` has made some before all jobs had run.

    Snakemake makes what is missing between two files only where the later one is out of date.
    """
    plan, verdicts = folder / "plan.json", folder / "verdicts.json"
    if verdicts.is_file() and verdicts.stat().st_mtime_ns >= plan.stat().st_mtime_ns:
        os.utime(plan)


def outlook(results: Path, plan: Plan) -> tuple[str, bool]:
    """What is left of a plan, or of what confirms it, in one line, and whether anything is.

    A dry run and a call with nothing to do say it too.
    """
    done, left = jobs_left(statuses(results, plan))
    total = done + sum(len(names) for names in left.values())
    words = [f"{kind} {_some(names)}" for kind, names in left.items() if names]
    left_to_confirm = confirmation_left(results, plan)
    to_do = [f"to do: {'; '.join(words)}"] if words else []
    to_do += [left_to_confirm] if left_to_confirm else []
    return f"{plan.spec}: {done} of {total} jobs done; " + ("; ".join(to_do) or "none is left"), bool(to_do)


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"


def _stop(problems: list[Problem]) -> NoReturn:
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(2)
