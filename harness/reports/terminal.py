"""What a terminal shows: the verdicts at the end of a grid, and the plan before it. Readable at 80 columns."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.plan.cost import cost, most_confirmed
from harness.plan.model import CONTROL, Cell, Plan
from harness.plan.partitions import PartitionReport, PlannedPartition
from harness.reports.answer import answer, control_line, looks_line, metric, reasons, resolution_line
from harness.reports.details import patch_text
from harness.reports.digits import bytes_text, decimals, seconds_text, shortened, shortened_apart
from harness.reports.escaping import clean
from harness.reports.open_questions import EXPLORATORY, HEADING, open_questions
from harness.reports.tables import accuracy_text, reference_cells, speed_text
from harness.reports.together import HEADING as TOGETHER
from harness.reports.together import together
from harness.reports.where_time_goes import HEADING as TIME_HEADING
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.wording import plural, ratio_text

STYLES = {
    "accept": "bold green",
    "enables": "cyan",
    "inconclusive": "yellow",
    "no-gain": "dim",
    "reject": "red",
    "dnf": "magenta",
    "skipped": "dim",
}
_PARTITION_HEADER = ["partition", "cut", "kept", "over", "nodes", "edges", "train", "empty", "time"]
_SHORTEST_NAME = 10
_INDENT = 5  # of what stands under a row
_MOST_LINES = 12  # of reasons and of open questions; the page has them all
_MOST_NAMES = 8  # in one line
_ASCII = str.maketrans({"−": "-", "–": "-", "—": "-", "…": "~", "×": "x", "Δ": "d", "α": "alpha", "≤": "<=", "≥": ">="})


def verdict_table(verdicts: Verdicts, console: Console, folder: Path | None = None) -> None:
    """Print the verdicts: table with the references on top, answer, control, what is open, and where the report is.

    Args:
        verdicts: as analysed.
        console: colours only where it is a terminal; at 80 columns no row of the table wraps.
        folder: where the report lies; nothing is said of it without one.
    """
    heading = f"{verdicts.spec} on {verdicts.device}" if verdicts.device else verdicts.spec
    say(console, heading, style="bold")
    anchors = [row[:5] for row in reference_cells(verdicts)]
    print_table(
        console,
        ["variant", f"Δ {metric(verdicts.gate)} pp [CI]", "speed-up [CI]", "memory", "verdict"],
        [*anchors, *(_row(c, verdicts) for c in verdicts.comparisons)],
        styles=["dim"] * len(anchors) + [STYLES[c.verdict] for c in verdicts.comparisons],
    )
    if any(c.exploratory for c in verdicts.comparisons):
        say(console, f"* {EXPLORATORY[0].lower()}{EXPLORATORY[1:]}: not by the looks and the gate that were declared.")
    say(console, answer(verdicts), style="bold")
    say(console, control_line(verdicts), style="" if verdicts.control.state == "quiet" else "yellow")
    say(console, resolution_line(verdicts))
    say(console, looks_line(verdicts))
    _print_together(verdicts, console)
    bullets(console, TIME_HEADING, verdicts.diagnosis.sentences)
    explained = [c for c in verdicts.comparisons if c.verdict not in ("accept", "inconclusive")]
    bullets(console, "Why", reasons(explained))
    bullets(console, HEADING, open_questions(verdicts, _MOST_NAMES))
    if folder is not None:
        console.print()
        page, text = folder / "report.html", folder / "report.md"
        say(console, f"Report: {text if text.is_file() and not page.is_file() else page}", fold=False)


def _print_together(verdicts: Verdicts, console: Console) -> None:
    """What is recommended together: whether it is confirmed, what each part is worth, and how the stack grows."""
    found = together(verdicts)
    if found is None:
        return
    bullets(console, TOGETHER, [*found.lines, *found.words])
    heights = verdicts.confirmation.heights if verdicts.confirmation is not None else []
    if len(heights) > 1:
        console.print()
        print_table(console, ["stack", "speed-up [CI]", "an epoch", "peak"], [row[:4] for row in found.heights])


def _row(comparison: ComparisonVerdict, verdicts: Verdicts) -> list[str]:
    gate, memory = verdicts.gate, comparison.memory
    places = decimals(*(memory.ci or (None, None)), gate.min_memory_saving, most=2)
    return [
        comparison.variant,
        accuracy_text(comparison, gate, most=2),
        speed_text(comparison, gate, most=2),
        "–" if memory.ratio is None else ratio_text(memory.ratio, places),
        comparison.verdict + ("*" if comparison.exploratory else ""),
    ]


def plan_table(plan: Plan, console: Console, partitions: Sequence[PlannedPartition] = ()) -> None:
    """Print what a spec expands to, before anything runs: counts, cost, memory, partitions, skips and warnings."""
    say(console, f"{plan.spec} ({plan.spec_path}), {plan.design}", style="bold")
    print_table(console, ["cell", "changes", "memory", "epoch"], [_cell_row(c) for c in plan.cells.values()])
    plan_totals(plan, console)
    _partition_table(plan, console, partitions)
    bullets(console, f"Skipped ({len(plan.skipped)})", _skip_reasons(plan), most=None)
    bullets(console, "Warnings", plan.warnings, most=None)


def plan_totals(plan: Plan, console: Console) -> None:
    """Print how many runs a plan has, what they cost, and the memory of the largest."""
    looks, blocks = plan.seeds.looks, [n // 2 for n in plan.timing.looks]
    timed = [*(c.variant for c in plan.comparisons), CONTROL]
    say(
        console,
        f"{plural(len(plan.comparisons), 'comparison')}; {_span(plan.runs_min, plan.runs_max, 'quality run')} "
        f"({_span(looks[0], looks[-1], 'seed')}, {plural(plan.quality_threads, 'thread')} each); "
        f"{plural(len(timed), 'timing job')} of {_span(blocks[0], blocks[-1], 'block')}, four processes a block, "
        f"{plural(plan.timing_threads, 'thread')} each{_confirmation_text(plan)}.",
    )
    say(console, _cost_text(plan))
    say(console, _memory_text(plan))


def _confirmation_text(plan: Plan) -> str:
    """The most that confirming adds."""
    runs, timings = most_confirmed(plan)
    if not runs:
        return ""
    return f"; and the confirmation, at most {plural(runs, 'more run')} and {plural(timings, 'timing')}"


def _partition_table(plan: Plan, console: Console, partitions: Sequence[PlannedPartition]) -> None:
    """The partitions of the first seed that were made, and what makes the others."""
    if not partitions:
        return
    console.print()
    say(console, f"Partitions (seed {plan.seeds.first})", style="bold")
    made = [_partition_row(p, p.report, p.train) for p in partitions if p.report and p.train is not None]
    if made:
        print_table(console, _PARTITION_HEADER, made)
        say(
            console,
            "Of all edges; over: edges kept over those that random parts of the same sizes keep; nodes, edges, train: "
            "the largest part over the mean, train in training labels; time: of making it.",
        )
    left = [p.request.label for p in partitions if p.report is None]
    if left:
        command = f"harness prepare {shlex.quote(plan.spec_path)}"
        say(console, f"{'; '.join(left)}: not made yet; `{command}` makes {'it' if len(left) == 1 else 'them'}.")


def _partition_row(partition: PlannedPartition, report: PartitionReport, train: float) -> list[str]:
    balance = (report.balance["nodes"], report.balance["edges"], train)
    return [
        partition.request.label,
        f"{100 * report.edge_cut:.1f} %",
        f"{100 * report.kept_edge_share:.1f} %",
        f"{report.kept_over_random:.{2 if report.kept_over_random < 10 else 0}f}x",
        *(f"{value:.2f}" for value in balance),
        str(report.parts - report.non_empty_parts),
        seconds_text(_rough(report.seconds)),
    ]


def _span(least: int, most: int, noun: str) -> str:
    return plural(most, noun) if least == most else f"{least} to {plural(most, noun)}"


def _cell_row(cell: Cell) -> list[str]:
    epoch = cell.estimate.epoch_s
    return [
        cell.name,
        patch_text(cell.patch) or "nothing",
        bytes_text(cell.estimate.memory_bytes),
        seconds_text(epoch),
    ]


def _cost_text(plan: Plan) -> str:
    """Of all jobs, one after the other, and what is in it; a rough guess, and only where each cell has one."""
    found = cost(plan)
    if found is None:
        return f"Cost: {_unknown(plan)}"
    seconds = found.quality_min_s + found.timing_min_s, found.quality_max_s + found.timing_max_s
    span = " to ".join(dict.fromkeys(seconds_text(_rough(s)) for s in seconds))
    more = found.confirmation_max_s
    then = f", and at most about {seconds_text(_rough(more))} more to confirm" if more else ""
    return (
        f"Cost: about {span}, one job after the other{then}: training, timing, and the start of jobs and processes "
        "(a rough guess; evaluation comes on top)."
    )


def _unknown(plan: Plan) -> str:
    """Why there is no estimate, and what gives one."""
    if any(cell.model.class_path is not None for cell in plan.cells.values()):
        return "not known for a network of your own."
    spec = shlex.quote(plan.spec_path)
    return f"not known before the data set's size is; run `harness prepare {spec}`."


def _rough(seconds: float) -> float:
    return float(f"{seconds:.1e}")


def _memory_text(plan: Plan) -> str:
    known = {n: c.estimate.memory_bytes for n, c in plan.cells.items() if c.estimate.memory_bytes is not None}
    if not known:
        return f"Memory: {_unknown(plan)}"
    name = max(known, key=lambda n: known[n])
    parts = sorted(plan.cells[name].estimate.parts.items(), key=lambda part: -part[1])
    listed = ", ".join(f"{part} {bytes_text(size)}" for part, size in parts if size)
    largest = f"Memory: about {bytes_text(known[name])} in the largest run ({shortened(clean(name), 40)}), roughly"
    return f"{largest}: {listed}." if listed else f"{largest}."


def _skip_reasons(plan: Plan) -> list[str]:
    return [f"{skip.variant}: {skip.reason}" for skip in plan.skipped]


def print_table(
    console: Console,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[str] = (),
    below: Sequence[str] = (),
) -> None:
    """Columns as wide as their cells; where there is no room, names are cut inside and a column `changes` is wrapped.

    Args:
        console: where to.
        header: headings; the first column holds the names.
        rows: cells.
        styles: of each row's last cell.
        below: text under each row; none where it is empty.
    """
    columns = [[_plain(text, console) for text in column] for column in zip(header, *rows, strict=True)]
    widths = [max(len(text) for text in column) for column in columns]
    elastic = [i for i, name in enumerate(header) if i == 0 or name == "changes"]
    spare = console.width - sum(w for i, w in enumerate(widths) if i not in elastic) - 2 * (len(header) - 1)
    for left, i in enumerate(elastic):
        widths[i] = min(widths[i], max(spare // (len(elastic) - left), _SHORTEST_NAME))
        spare -= widths[i]
    columns[0] = [_plain(text, console) for text in shortened_apart(columns[0], widths[0])]
    for number, cells in enumerate(zip(*columns, strict=True)):
        style = styles[number - 1] if styles and number else ""
        for line in _row_lines(cells, widths, style):
            if number == 0:
                line.stylize("bold")
            console.print(line, soft_wrap=True)
        under = _plain(below[number - 1], console) if below and number else ""
        for words in textwrap.wrap(under, console.width - _INDENT):
            console.print(Text(f"{'':{_INDENT}}{words}", style="dim"), soft_wrap=True)
    console.print()


def _row_lines(cells: Sequence[str], widths: Sequence[int], style: str) -> Iterator[Text]:
    """One line, or more where a cell is wider than its column."""
    wrapped = [_wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*wrapped, fillvalue=""):
        line = Text("  ".join(part.ljust(w) for part, w in zip(parts[:-1], widths[:-1], strict=True)) + "  ")
        line.append(parts[-1], style=style)
        line.rstrip()
        yield line


def _wrapped(cell: str, width: int) -> list[str]:
    return textwrap.wrap(cell, width, break_on_hyphens=False) or [""]


def say(console: Console, text: str, style: str = "", fold: bool = True) -> None:
    """A paragraph; a path stays on one line, so that it can be clicked or copied."""
    line = Text(_plain(text, console), style=style)
    for part in line.wrap(console, console.width) if fold else [line]:
        part.rstrip()
        console.print(part, soft_wrap=True)


def bullets(console: Console, heading: str, lines: Sequence[str], most: int | None = _MOST_LINES) -> None:
    if not lines:
        return
    console.print()
    say(console, heading, style="bold")
    shown = lines if most is None or len(lines) <= most else lines[: most - 1]
    if len(shown) < len(lines):
        shown = [*shown, f"and {len(lines) - len(shown)} more, in the report"]
    for line in shown:
        wrapped = Text(_plain(line, console)).wrap(console, console.width - 2)
        for number, part in enumerate(wrapped):
            part.rstrip()
            console.print(Text("  " if number else "- ").append_text(part), soft_wrap=True)


def _plain(text: str, console: Console) -> str:
    """Printable, and in ASCII where the terminal knows nothing else."""
    text = clean(text)
    if console.options.ascii_only:
        return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
    return text
