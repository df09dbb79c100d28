"""What `harness compare` prints: tables of two results folders side by side, for a terminal or in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from harness.reports.digits import bytes_text, fixed, ratio_with_interval, seconds_text, with_interval
from harness.reports.escaping import markdown
from harness.reports.tables import markdown_table
from harness.reports.terminal import bullets, print_table, say
from harness.verdicts.across.model import AccuracyAcross, Across, CellAcross, Measured
from harness.verdicts.wording import METRICS, listed, plural

_MOST_DECIMALS = 2  # at 80 columns
_MOST_NAMES = 4
STATES = {
    "pass": "kept",
    "fail": "dropped",
    "inconclusive": "undecided",
    "invalid": "too few",
    "dnf": "failed in B",
}
_STYLES = {"kept": "green", "dropped": "bold red", "failed in B": "magenta", "undecided": "yellow", "too few": "dim"}
_APART = (
    "Seconds and bytes of A and B were not measured in turn on one machine: their ratio also holds load, frequency and "
    "whatever else differed meanwhile, and has no interval."
)


@dataclass(frozen=True)
class Table:
    """A table with its heading; a note is a sentence below it."""

    heading: str
    header: list[str]
    rows: list[list[str]]
    note: str = ""


def across_table(found: Across, console: Console) -> None:
    """Print it; at 80 columns no row wraps."""
    say(console, f"A: {found.a}", style="bold", fold=False)
    say(console, f"B: {found.b}", style="bold", fold=False)
    bullets(console, "What differs", differing(found), most=None)
    console.print()
    for table in tables(found):
        say(console, table.heading, style="bold")
        styles = [_STYLES.get(row[-1], "") for row in table.rows]
        print_table(console, table.header, table.rows, styles)
        if table.note:
            say(console, table.note)
            console.print()
    if found.left_out:
        bullets(console, "Not compared", found.left_out)
        console.print()
    for line in answers(found):
        say(console, line, style="bold red" if found.cells_that("fail", "dnf") else "bold")


def across_markdown(found: Across) -> str:
    """The same as a document."""
    parts = [
        "# Two results compared",
        f"A: {markdown(found.a)}  \nB: {markdown(found.b)}",
        "\n\n".join(f"**{markdown(line)}**" for line in answers(found)),
        "## What differs",
        _list(differing(found)),
    ]
    for table in tables(found):
        parts += [f"## {markdown(table.heading)}", markdown_table(table.header, table.rows), markdown(table.note)]
    if found.left_out:
        parts += ["## Not compared", _list(found.left_out)]
    return "\n\n".join(part for part in parts if part) + "\n"


def answers(found: Across) -> list[str]:
    """What became of the accuracy; and, where several things differ, that none of them is to blame yet."""
    gate, states = found.gate, Counter(cell.accuracy.state for cell in found.cells)
    metric = METRICS[gate.metric]
    dropped = [cell.a for cell in found.cells_that("fail")]
    failed = [cell.a for cell in found.cells_that("dnf")]
    lines = []
    if dropped:
        lines.append(f"{metric} is shown to drop by more than {gate.max_drop_pp:g} pp in {_names(dropped)}.")
    if failed:
        lines.append(f"B failed where A ran in {_names(failed)}.")
    if not lines:
        lines.append(f"No drop of {metric} by more than {gate.max_drop_pp:g} pp is shown.")
    same = sum(cell.accuracy.identical for cell in found.cells)
    counts = [
        f"{states['pass']} kept ({same} with identical predictions)" if states["pass"] else "",
        f"{states['inconclusive']} undecided" if states["inconclusive"] else "",
        f"{states['invalid']} with too few seeds" if states["invalid"] else "",
    ]
    told = [part for part in counts if part]
    if told:
        lines[-1] += f" Of {plural(len(found.cells), 'set')} of options: {listed(told)}."
    names = [difference.what for difference in found.differences]
    if len(names) > 1:
        lines.append(
            f"{len(names)} things differ at once ({listed(names, _MOST_NAMES)}), so that a change cannot be put down "
            "to one of them."
        )
    return [_capital(line) for line in lines]


def differing(found: Across) -> list[str]:
    """A line a difference; else that there is none."""
    lines = [f"{d.what}: {d.a} in A, {d.b} in B" for d in found.differences]
    if not lines:
        lines = ["nothing that was recorded: data, versions, threads, device, gate and looks are the same"]
    if found.unrecorded:
        lines.append(f"not recorded by one of them: {listed(found.unrecorded)}")
    return lines


def tables(found: Across) -> list[Table]:
    """Accuracy first; of gains, seconds, bytes and verdicts those that there is something to show of."""
    made = [_accuracy(found), _speed(found), _memory(found), _apart(found), _verdicts(found)]
    return [table for table in made if table.rows]


def _accuracy(found: Across) -> Table:
    level = f"{100 * found.cells[0].accuracy.level:.0f} %"
    return Table(
        _capital(f"{METRICS[found.gate.metric]}, B minus A over the seeds of both"),
        ["options", "A", "B", f"B − A pp [{level}]", "seeds", "state"],
        [_accuracy_row(cell, found) for cell in found.cells],
        "; ".join(cell.accuracy.why for cell in found.cells if cell.accuracy.why),
    )


def _accuracy_row(cell: CellAcross, found: Across) -> list[str]:
    accuracy = cell.accuracy
    means = [f"{100 * mean:.2f} %" if mean is not None else "–" for mean in (accuracy.a, accuracy.b)]
    return [
        _name(cell),
        *means,
        _delta(accuracy, found.gate.max_drop_pp),
        str(accuracy.n_pairs),
        STATES[accuracy.state],
    ]


def _delta(accuracy: AccuracyAcross, max_drop_pp: float) -> str:
    if accuracy.identical:
        return "0 (identical)"
    if accuracy.ci_pp is None:
        return fixed(accuracy.delta_pp, _MOST_DECIMALS, signed=True)
    return with_interval(accuracy.delta_pp, accuracy.ci_pp, -max_drop_pp, signed=True, most=_MOST_DECIMALS)


def _speed(found: Across) -> Table:
    rows = [
        [_name(cell), _ratio(gain.a), _ratio(gain.b), _change(gain.change, gain.change_ci)]
        for cell in found.cells
        if (gain := cell.speed) is not None and (gain.a is not None or gain.b is not None)
    ]
    noisy = [f"{name}'s is {c.state}" for name, c in zip("AB", found.controls, strict=True) if c.state != "quiet"]
    note = f"Of the controls {listed(noisy)}: small changes are noise." if noisy else ""
    return Table("Speed-up within each folder", ["options", "A [CI]", "B [CI]", "B over A [95 %]"], rows, note)


def _memory(found: Across) -> Table:
    rows = [
        [_name(cell), _ratio(gain.a), _ratio(gain.b), _change(gain.change, gain.change_ci)]
        for cell in found.cells
        if (gain := cell.memory) is not None and (gain.a is not None or gain.b is not None)
    ]
    return Table("Memory saved within each folder", ["options", "A [CI]", "B [CI]", "B over A [95 %]"], rows)


def _apart(found: Across) -> Table:
    rows = []
    for cell in found.cells:
        seconds, peaks = cell.epoch_s, cell.peak_bytes
        if any(value is not None for value in (*seconds, *peaks)):
            times = [*(seconds_text(s) for s in seconds), _quotient(*seconds)]
            rows.append([_name(cell), *times, *(bytes_text(p) for p in peaks), _quotient(*peaks)])
    header = ["options", "epoch A", "epoch B", "A over B", "peak A", "peak B", "A over B"]
    return Table("Seconds and bytes", header, rows, _APART)


def _verdicts(found: Across) -> Table:
    rows = [
        [_name(cell), one, other, "same" if one == other else "changed"]
        for cell in found.cells
        for one, other in [cell.verdicts]
        if one is not None and other is not None
    ]
    changed = [cell for cell in found.cells if cell.verdicts[0] != cell.verdicts[1]]
    note = " ".join(f"{_name(cell)} in A: {cell.reasons[0]}. In B: {cell.reasons[1]}." for cell in changed)
    return Table("Verdicts", ["options", "A", "B", "B against A"], rows, note)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _name(cell: CellAcross) -> str:
    return cell.a if cell.a == cell.b else f"{cell.a} ({cell.b})"


def _names(names: Sequence[str]) -> str:
    return listed(names, _MOST_NAMES)


def _ratio(measured: Measured | None) -> str:
    return "–" if measured is None else ratio_with_interval(measured.ratio, measured.ci, 1.0, most=_MOST_DECIMALS)


def _change(change: float | None, interval: tuple[float, float] | None) -> str:
    return ratio_with_interval(change, interval, 1.0, most=_MOST_DECIMALS)


def _quotient(one: float | None, other: float | None) -> str:
    return "–" if not one or not other else f"{one / other:.2f}"


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {markdown(line)}" for line in lines)
