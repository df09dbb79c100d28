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

from harness.plan.confirmed import confirmation_left, read_confirmed
from harness.plan.done import jobs_left, statuses
from harness.plan.files import variant_plans
from harness.plan.model import Plan
from harness.spec.errors import InputError


class Reporter:
    """Prints a job's progress to the screen, with where the whole grid stands.

    Finished jobs leave their seconds in ``results/<spec>/jobs.jsonl``, so that the estimate knows what a job of each
    kind takes on this machine.

    Args:
        folder: ``results/<spec>``.
        kind: `run` or `time`; of `confirm`, whose jobs are few or many by what is accepted, the line alone is printed.
        name: the job's variant.
    """

    def __init__(self, folder: Path, kind: str, name: str) -> None:
        self._folder = folder
        self._job = (kind, name)
        self._files = {} if kind == "confirm" else _files_of_jobs(folder)
        self._started = time.monotonic()

    def __call__(self, line: str) -> None:
        print(f"{line}{self._grid() if self._files else ''}", file=sys.stdout, flush=True)

    def finished(self) -> None:
        """Note what this job took."""
        kind, name = self._job
        entry = {"kind": kind, "name": name, "seconds": round(time.monotonic() - self._started, 2)}
        with (self._folder / "jobs.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def _grid(self) -> str:
        left = {kind: sum(not file.exists() for file in files) for kind, files in self._files.items()}
        total = sum(len(files) for files in self._files.values())
        estimate = grid_seconds(left, self._folder)
        words = f" · job {total - sum(left.values()) + 1} of {total}"
        return words + (f", grid about {_clock(estimate)} left" if estimate is not None else "")


def _files_of_jobs(folder: Path) -> dict[str, list[Path]]:
    """The files that the jobs of a plan leave, by kind: cheap to look for at every line, where reading them is not."""
    try:
        plan = Plan.model_validate_json((folder / "plan.json").read_bytes())
    except (OSError, ValueError):
        return {}
    jobs = variant_plans(plan)
    timed = [name for name, job in jobs.items() if job.reference is not None]
    names = {"run": ("variants", [name for name in jobs if name in plan.cells]), "time": ("timing", timed)}
    return {kind: [folder / where / f"{name}.json" for name in found] for kind, (where, found) in names.items()}


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
    verdicts, records = _verdicts(folder), _records(folder.parent / "runs")
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


def _verdicts(folder: Path) -> dict[str, Any]:
    try:
        comparisons = json.loads((folder / "verdicts.json").read_text())["comparisons"]
    except (OSError, ValueError, KeyError):
        return {}
    return {c["variant"]: c["verdict"] for c in comparisons}


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
