"""Progress of a grid: lines as runs end, with an estimate of what is left, and the table of `harness status`."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.plan.confirmation import plan_id, trained
from harness.plan.confirmed import confirmation_left, read_confirmed
from harness.plan.done import jobs_left, statuses
from harness.plan.files import variant_plans
from harness.plan.model import Plan
from harness.records.confirmed import TIMED_FILE, TRAINED_FOLDER
from harness.spec.errors import InputError
from harness.verdicts.model import Verdicts

_GRID = ("run", "time")


class Reporter:
    """Prints a job's progress to the screen, with where the whole grid stands.

    Finished jobs leave their seconds in ``results/<spec>/jobs.jsonl``, so that the estimate knows what a job of each
    kind takes on this machine.

    Args:
        folder: ``results/<spec>``.
        kind: `run`, `time`, `confirm-run` or `confirm-time`; all cells of a confirmation are timed by one job.
        name: the job's variant.
    """

    def __init__(self, folder: Path, kind: str, name: str) -> None:
        self._folder = folder
        self._job = (kind, name)
        files = _files_of_jobs(folder)
        own = files.get(kind, {}).get("" if kind == "confirm-time" else name)
        self._others = {kind: [path for path in paths.values() if path != own] for kind, paths in files.items()}
        self._total = sum(map(len, files.values()))
        self._started = time.monotonic()

    def __call__(self, line: str) -> None:
        print(f"{line}{self._grid() if self._total else ''}", file=sys.stdout, flush=True)

    def finished(self) -> None:
        """Note what this job took."""
        kind, name = self._job
        entry = {"kind": kind, "name": name, "seconds": round(time.monotonic() - self._started, 2)}
        with (self._folder / "jobs.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")

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
        return f"{words}, grid about {_clock(estimate)} left{then}"


def _files_of_jobs(folder: Path) -> dict[str, dict[str, Path]]:
    """The files that the jobs of a plan leave, by kind and name; those of a confirmation where it is asked for.

    To look for them at every line is cheap, where reading them is not.
    """
    try:
        plan = Plan.model_validate_json((folder / "plan.json").read_bytes())
    except (OSError, ValueError):
        return {}
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
    try:
        entries = [json.loads(line) for line in (folder / "jobs.jsonl").read_text().splitlines()]
    except (OSError, ValueError):
        return None
    seen: dict[str, list[float]] = defaultdict(list)
    for entry in entries:
        seen[entry["kind"]].append(entry["seconds"])
    if any(count and not seen[kind] for kind, count in left.items()):
        return None
    return sum(count * sum(seen[kind]) / len(seen[kind]) for kind, count in left.items() if count)


def status_table(plan: Plan, folder: Path, console: Console) -> None:
    """Print what is done, under way and failed under ``results/<spec>``, what is left, and the verdicts so far."""
    verdicts, records = _verdicts(folder, plan), _records(folder.parent / "runs")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("variant", "runs", "timing", "verdict"):
        table.add_column(column, overflow="fold")
    failures = []
    jobs = statuses(folder.parent, plan)
    for job in jobs:
        made = records.get(plan.cells[job.variant].cell_id, []) if job.variant in plan.cells else []
        runs = job.runs or dict(Counter(record["status"] for record in made))
        words = ", ".join(f"{count} {status}" for status, count in sorted(runs.items()))
        words = {"none": "-", "missing": f"{words} so far" if words else "missing"}.get(job.quality, words)
        table.add_row(job.variant, words, job.timing, verdicts.get(job.variant, ""))
        failures += [(job.variant, record) for record in made if record["status"] != "ok"][:1]
    for skipped in plan.skipped:
        table.add_row(skipped.variant, "skipped", "skipped", "skipped")
    console.print(table)
    for name, record in failures:
        log = folder.parent / "runs" / "logs" / f"{record['run_id']}.log"
        text = f"{name} seed {record['seed']}: {record['status']}: {record['message']} (log: {log})"
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    for line in _confirmation_lines(folder, plan):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    done, names_left = jobs_left(jobs)
    left = {kind: len(names) for kind, names in names_left.items()}
    total = done + sum(left.values())
    estimate = grid_seconds(left, folder)
    tail = f"; about {_clock(estimate)} left" if estimate else ""
    console.print(f"{done} of {total} jobs done{tail}. Folder: {folder}", soft_wrap=True)


def _confirmation_lines(folder: Path, plan: Plan) -> list[str]:
    """What of a confirmation is there, a line a cell, and what is left."""
    left = confirmation_left(folder.parent, plan)
    try:
        found = read_confirmed(folder, plan)
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


def _records(runs: Path) -> dict[str, list[dict[str, Any]]]:
    """Quality records by cell id, of what can be read."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(runs.glob("*.json")):
        try:
            record = json.loads(path.read_bytes())
            if record["purpose"] == "quality":
                found[record["cell_id"]].append({k: record[k] for k in ("run_id", "seed", "status", "message")})
        except (OSError, ValueError, KeyError):
            continue
    return found


def _verdicts(folder: Path, plan: Plan) -> dict[str, Any]:
    """By variant, of this plan."""
    try:
        verdicts = Verdicts.model_validate_json((folder / "verdicts.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return {} if verdicts.of_another(plan_id(plan)) else {c.variant: c.verdict for c in verdicts.comparisons}


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
