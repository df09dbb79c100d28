"""Progress of a grid: lines as runs end, with an estimate of what is left."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path

from harness.plan.confirmation import trained
from harness.plan.files import variant_plans
from harness.plan.model import Plan
from harness.records.confirmed import TIMED_FILE, TRAINED_FOLDER
from harness.records.running import JobKind, Presence

_GRID = ("run", "time")


class Reporter:
    """Prints a job's progress to the screen, with where the whole grid stands.

    While it runs, a job can be seen in ``results/<spec>/running`` (`harness.records.running`). Finished jobs leave
    their seconds in ``results/<spec>/jobs.jsonl``, so that the estimate knows what a job of each kind takes on this
    machine.

    Args:
        folder: ``results/<spec>``.
        kind: of job; all cells of a confirmation are timed by one job.
        name: the job's variant.
    """

    def __init__(self, folder: Path, kind: JobKind, name: str) -> None:
        self._folder = folder
        self._job = (kind, name)
        files = _planned_files(folder)
        own = files.get(kind, {}).get("" if kind == "confirm-time" else name)
        self._others = {kind: [path for path in paths.values() if path != own] for kind, paths in files.items()}
        self._total = sum(map(len, files.values()))
        self._started = time.monotonic()
        self._presence = Presence(folder, kind, name)
        self._presence.say("")

    def __call__(self, line: str) -> None:
        self._presence.say(line)
        print(f"{line}{self._grid() if self._total else ''}", file=sys.stdout, flush=True)

    def finished(self) -> None:
        """Note what this job took; a disk that cannot be written costs the estimate, and the job nothing."""
        kind, name = self._job
        entry = {"kind": kind, "name": name, "seconds": round(time.monotonic() - self._started, 2)}
        with contextlib.suppress(OSError), (self._folder / "jobs.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")
        self._presence.end()

    def _grid(self) -> str:
        """This job is one of those left, whatever an earlier run of it has left.

        Nothing is estimated of a confirmation, whose jobs are long or done at once by what is accepted.
        """
        left = {kind: sum(not file.exists() for file in files) for kind, files in self._others.items()}
        words = f" · job {self._total - sum(left.values())} of {self._total}"
        if self._job[0] not in _GRID:
            return words
        of_grid = {kind: left[kind] + (kind == self._job[0]) for kind in _GRID}
        estimate = grid_seconds(of_grid, self._folder)
        if estimate is None:
            return words
        then = ", then the confirmation" if len(left) > len(_GRID) else ""
        return f"{words}, grid about {clock(estimate)} left{then}"


def _planned_files(folder: Path) -> dict[str, dict[str, Path]]:
    try:
        return job_files(Plan.model_validate_json((folder / "plan.json").read_bytes()), folder)
    except (OSError, ValueError):
        return {}


def job_files(plan: Plan, folder: Path) -> dict[str, dict[str, Path]]:
    """The files that the jobs of a plan leave, by kind and name; those of a confirmation where it is asked for.

    Whoever says how many jobs there are counts these. To look for them is cheap, where reading them is not.
    """
    jobs = variant_plans(plan)
    timed = [name for name, job in jobs.items() if job.reference is not None]
    names = {"run": ("variants", [name for name in jobs if name in plan.cells]), "time": ("timing", timed)}
    confirming = trained(plan)
    if confirming:
        names["confirm-run"] = (TRAINED_FOLDER, confirming)
    files = {kind: {n: folder / where / f"{n}.json" for n in found} for kind, (where, found) in names.items()}
    return files | ({"confirm-time": {"": folder / TIMED_FILE}} if confirming else {})


def grid_seconds(left: dict[str, int], folder: Path) -> float | None:
    """Seconds of the jobs left, one after the other, at the mean of those done; None before one of each is known."""
    seen = _seconds_taken(folder)
    if any(count and not seen[kind] for kind, count in left.items()):
        return None
    return sum(count * sum(seen[kind]) / len(seen[kind]) for kind, count in left.items() if count)


def _seconds_taken(folder: Path) -> dict[str, list[float]]:
    """By kind of job; a line that was cut short when its job was killed is left out."""
    found: dict[str, list[float]] = defaultdict(list)
    try:
        lines = (folder / "jobs.jsonl").read_bytes().splitlines()
    except OSError:
        return found
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError, OverflowError):
            entry = json.loads(line)
            kind, seconds = str(entry["kind"]), float(entry["seconds"])
            if 0.0 <= seconds < math.inf:
                found[kind].append(seconds)
    return found


def clock(seconds: float) -> str:
    """40 s, 12 min, 3.5 h."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
