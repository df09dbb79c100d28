"""Where a grid stands, on a terminal: once, or live until nothing is left. Readable at 80 columns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.records.running import RunningJob
from harness.reports.digits import shortened_apart
from harness.reports.escaping import clean
from harness.reports.progress import clock
from harness.reports.standing import Standing, Watcher, plan_guess_s
from harness.reports.terminal import STYLES
from harness.verdicts.wording import plural

EVERY_S = 2.0
_NAME = 26  # characters of a variant's name in the table
_SILENT_S = 600.0  # after which a job on another machine may be gone
_WORDS = {"run": "train", "time": "time", "confirm-run": "confirm", "confirm-time": "time the stack:"}


def status_table(standing: Standing, console: Console) -> None:
    """Print what is done, under way and failed, what is left, and the verdicts so far."""
    for part in _parts(standing):
        console.print(part, soft_wrap=isinstance(part, Text), highlight=False)


def watch(
    watcher: Watcher, console: Console, every_s: float = EVERY_S, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Show where a grid stands until nothing is left to run, or Ctrl-C; then the table once more.

    On a terminal the view is drawn again in place. Elsewhere a line is printed when a run or a job is over, without
    any escape code.

    Args:
        watcher: of the results folder; it reads files and takes no lock.
        every_s: seconds between two looks.
        sleep: waits; tests put their own in its place.

    Raises:
        InputError: there is no plan any more, or it is of another version.
    """
    standing = watcher.look()
    try:
        if console.is_terminal and not console.is_dumb_terminal:
            standing = _draw(watcher, standing, console, every_s, sleep)
        else:
            standing = _tell(watcher, standing, console, every_s, sleep)
    except KeyboardInterrupt:
        standing = watcher.look()
    status_table(standing, console)


def _draw(
    watcher: Watcher, standing: Standing, console: Console, every_s: float, sleep: Callable[[float], None]
) -> Standing:
    with Live(_view(standing), console=console, auto_refresh=False, transient=True) as live:
        while not standing.complete:
            sleep(every_s)
            standing = watcher.look()
            live.update(_view(standing), refresh=True)
    return standing


def _tell(
    watcher: Watcher, standing: Standing, console: Console, every_s: float, sleep: Callable[[float], None]
) -> Standing:
    said = None
    while True:
        news = (standing.done, standing.ok, standing.failed, [(j.kind, j.name) for j in standing.running])
        if news != said:
            running = "; ".join(_job_words(job) for job in standing.running) or "no job is known to run"
            stamp = time.strftime("%H:%M:%S", time.localtime(standing.at))
            console.print(Text(f"{stamp} {_counts(standing)}; {running}"), soft_wrap=True, highlight=False)
            said = news
        if standing.complete:
            return standing
        sleep(every_s)
        standing = watcher.look()


def _view(standing: Standing) -> RenderableType:
    """What changes most on top, where a small window shows it."""
    clocked = time.strftime("%H:%M:%S", time.localtime(standing.at))
    head = Table.grid(expand=True)
    head.add_column()
    head.add_column(justify="right")
    head.add_row(Text(f"{standing.plan.spec} ({standing.folder})", style="bold"), Text(clocked, style="dim"))
    bar = Table.grid()  # a bar by itself ends no line
    bar.add_row(ProgressBar(total=max(standing.total, 1), completed=standing.done, width=60))
    ending = Text("Ctrl-C ends this view, and nothing else.", style="dim")
    return Group(head, bar, *_parts(standing, counts_first=True), ending)


def _parts(standing: Standing, counts_first: bool = False) -> Iterator[RenderableType]:
    counts = Text(f"{_counts(standing)}. Folder: {standing.folder}" if not counts_first else _counts(standing))
    if counts_first:
        yield counts
        yield from _running(standing)
        yield Text("")
    yield _table(standing)
    for name, record in standing.failures:
        log = standing.folder.parent / "runs" / "logs" / f"{record['run_id']}.log"
        failed = f"{name} seed {record['seed']}: {record['status']}: {record['message']} (log: {log})"
        yield Text(clean(failed), style="red")
    for job in standing.stopped:
        log = standing.folder / "logs" / f"{job.kind}-{job.name}.log"
        yield Text(clean(f"{_WORDS[job.kind]} {job.name} ended before it was done (log: {log})"), style="red")
    for line in standing.confirmation:
        yield Text(clean(line))
    if not counts_first:
        yield from _running(standing)
        yield counts


def _counts(standing: Standing) -> str:
    failed = f", {standing.failed} failed" if standing.failed else ""
    words = f"{standing.done} of {standing.total} jobs done; {plural(standing.ok, 'run')} ok{failed}"
    return f"{words}; {left}" if (left := _left(standing)) else words


def _left(standing: Standing) -> str:
    """What is left, by the jobs done; before there is one of each kind, what the plan guesses of the whole."""
    if standing.complete:
        return "nothing is left"
    then = ", then the confirmation" if standing.confirmation_left and not standing.grid_complete else ""
    if standing.grid_complete:
        return standing.confirmation_left
    if standing.left_s is not None:
        return f"about {clock(standing.left_s)} left{then}"
    guess = plan_guess_s(standing.plan)
    if guess is None:
        return ""
    return f"the whole was guessed to take {' to '.join(dict.fromkeys(map(clock, guess)))}{then}"


def _running(standing: Standing) -> Iterator[RenderableType]:
    if standing.running:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("running", overflow="fold", max_width=34)
        table.add_column("it said", overflow="ellipsis", no_wrap=True, ratio=1)
        table.add_column("for", justify="right", no_wrap=True)
        for job in standing.running:
            table.add_row(Text(_job_name(job)), Text(clean(_said(job, standing.at))), clock(standing.at - job.since))
        yield table
    elif not standing.complete:
        yield Text("No job is known to run.", style="yellow")


def _job_name(job: RunningJob) -> str:
    there = "" if job.alive else f" on {job.host}"
    return clean(f"{_WORDS[job.kind]} {job.name}{there}")


def _said(job: RunningJob, now: float) -> str:
    """Its last line without its own name, which stands beside it, and how long ago where nobody can look whether it
    still runs."""
    line = job.line.removeprefix(f"{job.name}: ").removeprefix(f"{job.name} ") or "starting"
    silent = now - job.heard
    return f"{line} ({clock(silent)} ago)" if job.alive is None and silent > _SILENT_S else line


def _job_words(job: RunningJob) -> str:
    line = f" ({job.line})" if job.line else ""
    return clean(f"{_job_name(job)}{line}")


def _table(standing: Standing) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("variant", no_wrap=True)
    for column in ("runs", "timing", "verdict" if standing.judged else "verdict so far"):
        table.add_column(column, overflow="fold")
    active = {(job.kind, job.name) for job in standing.running}
    names = [*(job.variant for job in standing.jobs), *(skipped.variant for skipped in standing.plan.skipped)]
    shown = dict(zip(names, shortened_apart([clean(name) for name in names], _NAME), strict=True))
    for job in standing.jobs:
        runs = _runs_words(job.quality, standing.runs[job.variant], ("run", job.variant) in active)
        timing = "running" if ("time", job.variant) in active and job.timing == "missing" else job.timing
        timing = {"none": "-"}.get(timing, timing)
        verdict = standing.verdicts.get(job.variant, "")
        table.add_row(shown[job.variant], runs, timing, Text(verdict, style=STYLES.get(verdict, "")))
    for skipped in standing.plan.skipped:
        table.add_row(shown[skipped.variant], "skipped", "skipped", Text("skipped", style=STYLES["skipped"]))
    return table


def _runs_words(quality: str, runs: Counter[str], active: bool) -> str:
    words = ", ".join(f"{count} {status}" for status, count in sorted(runs.items()) if count)
    if quality != "missing":
        return {"none": "-"}.get(quality, words)
    so_far = f"{words} so far" if words else "missing"
    return ("running" if not words else f"{so_far}, running") if active else so_far
