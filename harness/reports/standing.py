"""Where a grid stands, from the files that its jobs leave: read again and again by whoever watches, without a lock."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.plan.confirmation import plan_id
from harness.plan.confirmed import Confirmed, confirmation_left, read_confirmed
from harness.plan.cost import cost
from harness.plan.done import JobStatus, jobs_left, results_there, statuses
from harness.plan.model import Plan
from harness.records.files import read_model
from harness.records.record import FAILED
from harness.records.running import RunningJob, jobs_under_way
from harness.reports.progress import grid_seconds, job_files
from harness.spec.errors import InputError
from harness.verdicts.model import Verdicts

RESULT_FOLDERS = ("variants", "timing", "confirmed", "confirmed/variants", "confirmed/timing")


@dataclass(frozen=True)
class Standing:
    """A grid at one moment.

    Attributes:
        folder: ``results/<spec>``.
        jobs: the plan's jobs, by what they have left.
        runs: quality runs of the grid by variant, then by status; of jobs that are not over too.
        failures: the first run of a variant that failed: variant, its record's id, seed, status, message.
        running: jobs that are known to run: here, or on another machine where nobody can look.
        stopped: jobs that were killed or ended in an error before they left a result.
        confirmation: a line a cell of the confirmation, and what is left of it.
        confirmation_left: in words; empty where nothing is.
        confirmation_jobs: of these, how many are over, and how many there are.
        verdicts: by variant, as far as its results are there.
        judged: those verdicts are of all results, as `verdicts.json` has them.
        left_s: seconds of the jobs left, one after the other, at the pace of those done; None where it is not known.
        at: when, seconds since 1970.
    """

    plan: Plan
    folder: Path
    jobs: list[JobStatus]
    runs: dict[str, Counter[str]]
    failures: list[tuple[str, dict[str, Any]]]
    running: list[RunningJob]
    stopped: list[RunningJob]
    confirmation: list[str]
    confirmation_left: str
    confirmation_jobs: tuple[int, int]
    verdicts: dict[str, str]
    judged: bool
    left_s: float | None
    at: float

    @property
    def done(self) -> int:
        """Jobs that are over."""
        return jobs_left(self.jobs)[0] + self.confirmation_jobs[0]

    @property
    def total(self) -> int:
        """Jobs of the plan with those that confirm it, as the jobs' own lines count them."""
        done, left = jobs_left(self.jobs)
        return done + sum(map(len, left.values())) + self.confirmation_jobs[1]

    @property
    def grid_complete(self) -> bool:
        """All is there but the confirmation."""
        return not any(jobs_left(self.jobs)[1].values())

    @property
    def complete(self) -> bool:
        """Nothing is left to run."""
        return self.grid_complete and not self.confirmation_left

    @property
    def ok(self) -> int:
        """Quality runs that ended well."""
        return sum(runs["ok"] for runs in self.runs.values())

    @property
    def failed(self) -> int:
        """Quality runs that did not."""
        return sum(runs[status] for runs in self.runs.values() for status in FAILED)


@dataclass
class Watcher:
    """Reads a results folder again and again; what has not changed is not read twice.

    Args:
        folder: ``results/<spec>``, with a `plan.json`.
        refine: puts the prepared graph's estimates into a plan.
    """

    folder: Path
    refine: Callable[[Plan], Plan] = lambda plan: plan
    _plan: Plan | None = None
    _plan_stamp: object = None
    _results_stamp: object = None
    _jobs: list[JobStatus] = field(default_factory=list)
    _verdicts: tuple[dict[str, str], bool] = field(default_factory=lambda: ({}, False))
    _records: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    def look(self) -> Standing:
        """The grid as it stands now.

        Raises:
            InputError: there is no plan, or it is not of this version.
        """
        plan = self._current_plan()
        stamp = _stamp(self.folder)
        if stamp != self._results_stamp:
            self._jobs = statuses(self.folder.parent, plan)
            self._verdicts = _verdicts(self.folder, plan)
            self._results_stamp = stamp
        by_cell = self._by_cell()
        running, stopped = _under_way(self.folder, self._jobs)
        confirmed = _confirmed(self.folder, plan)
        fresh = None if confirmed is None or confirmed.confirmation.plan is None else confirmed.confirmation.plan.seeds
        runs, failures = {}, []
        for job in self._jobs:
            made = by_cell.get(plan.cells[job.variant].cell_id, []) if job.variant in plan.cells else []
            made = [record for record in made if fresh is None or record["seed"] < fresh.first]
            runs[job.variant] = _runs_there(job, made)
            failures += [(job.variant, record) for record in made if record["status"] != "ok"][:1]
        left = confirmation_left(self.folder.parent, plan)
        return Standing(
            plan=plan,
            folder=self.folder,
            jobs=self._jobs,
            runs=runs,
            failures=failures,
            running=running,
            stopped=stopped,
            confirmation=_confirmation_lines(self.folder, plan, left),
            confirmation_left=left,
            confirmation_jobs=_confirmation_jobs(self.folder, plan, confirmed),
            verdicts=self._verdicts[0],
            judged=self._verdicts[1],
            left_s=_seconds_left(plan, self._jobs, running, self.folder),
            at=time.time(),
        )

    def _current_plan(self) -> Plan:
        path = self.folder / "plan.json"
        stamp = path.stat().st_mtime_ns if path.is_file() else None
        if self._plan is None or stamp != self._plan_stamp:
            self._plan, self._plan_stamp, self._results_stamp = self.refine(read_model(path, Plan)), stamp, None
        return self._plan

    def _by_cell(self) -> dict[str, list[dict[str, Any]]]:
        """Quality records by cell id, of what can be read; a record never changes once it is there."""
        store = self.folder.parent / "runs"
        names = {path.name for path in store.glob("*.json")}
        self._records = {name: self._records[name] for name in names & self._records.keys()}
        for name in names - self._records.keys():
            self._records[name] = _record(store / name)
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for _, record in sorted(self._records.items()):
            if record is not None:
                found[record["cell_id"]].append(record)
        return found


def _runs_there(job: JobStatus, records: list[dict[str, Any]]) -> Counter[str]:
    """Runs of a variant by status: a seed once, also those that other variants made of a reference.

    A job's own result has no more than the looks that decided it: by it alone the count would fall when a job ends.
    """
    by_seed = Counter({record["seed"]: record["status"] for record in records}.values())
    own = Counter(job.runs)
    return by_seed if by_seed.total() > own.total() else own


def _confirmed(folder: Path, plan: Plan) -> Confirmed | None:
    """The confirmation as far as it is there; a damaged one is none, and `confirmation_left` says that."""
    try:
        return read_confirmed(folder, plan)
    except InputError:
        return None


def _confirmation_jobs(folder: Path, plan: Plan, confirmed: Confirmed | None) -> tuple[int, int]:
    """Jobs of the confirmation that are over, and all; what another plan's left is not over."""
    kinds = {kind: named for kind, named in job_files(plan, folder).items() if kind.startswith("confirm")}
    files = [file for named in kinds.values() for file in named.values()]
    return (0 if confirmed is None else sum(file.is_file() for file in files)), len(files)


def _record(path: Path) -> dict[str, Any] | None:
    """What is shown of a quality record; None of another, or of one that cannot be read."""
    try:
        record = json.loads(path.read_bytes())
        if record["purpose"] != "quality":
            return None
        texts = {key: str(record[key]) for key in ("cell_id", "run_id", "status", "message")}
        return texts | {"seed": int(record["seed"])}
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None


def _stamp(folder: Path) -> tuple[tuple[str, int], ...]:
    """Which result files there are, and of when."""
    found = []
    for path in [folder / "verdicts.json", *(p for where in RESULT_FOLDERS for p in (folder / where).glob("*.json"))]:
        try:
            found.append((str(path), path.stat().st_mtime_ns))
        except OSError:
            continue
    return tuple(sorted(found))


def _under_way(folder: Path, jobs: list[JobStatus]) -> tuple[list[RunningJob], list[RunningJob]]:
    """Jobs that run, and jobs that stopped without a result. One whose result is there has merely been made again."""
    missing = {("run", job.variant) for job in jobs if job.quality == "missing"}
    missing |= {("time", job.variant) for job in jobs if job.timing == "missing"}
    found = jobs_under_way(folder)
    running = [job for job in found if job.alive is not False]
    return running, [job for job in found if job.alive is False and (job.kind, job.name) in missing]


def _seconds_left(plan: Plan, jobs: list[JobStatus], running: list[RunningJob], folder: Path) -> float | None:
    """At the pace of the jobs done, less what the running ones have had; before one of each kind, None."""
    left = {kind: len(names) for kind, names in jobs_left(jobs)[1].items()}
    seconds = grid_seconds(left, folder)
    if seconds is None:
        return None
    had = sum(time.time() - job.since for job in running if left.get(job.kind))
    return max(0.0, seconds - had)


def plan_guess_s(plan: Plan) -> tuple[float, float] | None:
    """Least and most seconds of the whole plan, before anything has run; None where sizes are not known."""
    found = cost(plan)
    if found is None:
        return None
    return found.quality_min_s + found.timing_min_s, found.quality_max_s + found.timing_max_s


def _verdicts(folder: Path, plan: Plan) -> tuple[dict[str, str], bool]:
    """By variant: those of `verdicts.json` where all results are older, else what the results so far amount to."""
    path = folder / "verdicts.json"
    stamps = dict(_stamp(folder))
    own = stamps.pop(str(path), None)
    if own is not None and all(stamp <= own for stamp in stamps.values()):
        try:
            verdicts = Verdicts.model_validate_json(path.read_bytes())
        except (OSError, ValueError):
            verdicts = None
        if verdicts is not None and not verdicts.of_another(plan_id(plan)):
            return {c.variant: c.verdict for c in verdicts.comparisons}, True
    return _so_far(folder, plan), False


def _so_far(folder: Path, plan: Plan) -> dict[str, str]:
    """Verdicts of the variants that are trained and timed; of those only trained, where their accuracy stands."""
    from harness.verdicts.analyze import analyze  # scipy, which a folder without results does without

    variants, timings = results_there(folder, plan)
    if not variants:
        return {}
    found = {}
    for comparison in analyze(plan, variants, timings).comparisons:
        name = comparison.variant
        if name not in variants:
            continue
        decided = comparison.verdict in ("reject", "dnf", "enables")
        accuracy = f"accuracy: {comparison.accuracy.state}" if comparison.accuracy is not None else ""
        found[name] = comparison.verdict if decided or name in timings else accuracy
    return found


def _confirmation_lines(folder: Path, plan: Plan, left: str) -> list[str]:
    """What of a confirmation is there, a line a cell, and what is left."""
    try:
        found: Confirmed | None = read_confirmed(folder, plan)
    except InputError as error:
        return [*map(str, error.problems), left]
    lines = []
    for name in [] if found is None or found.confirmation.plan is None else found.confirmation.plan.cells:
        result, timing = found.variants.get(name), found.timings.get(name)
        runs = Counter(run.status for run in result.runs) if result is not None else Counter[str]()
        words = [f"{count} {status}" for status, count in sorted(runs.items())]
        words += [f"timing {timing.status}"] if timing is not None else []
        lines.append(f"fresh seeds, {name}: {', '.join(words) or 'missing'}")
    return lines + ([left] if left else [])
