"""The verdict table as people read it, and tables of any cells in Markdown and LaTeX.

Digits follow the intervals by the rule of `harness.reports.digits.decimals`: as many as the interval's width supports,
and enough that no bound prints as the limit it is judged against.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from harness.reports import escaping
from harness.reports.answer import metric
from harness.reports.digits import MOST_DECIMALS, bytes_text, ratio_with_interval, seconds_text, with_interval
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict, ReferenceSummary, Verdicts
from harness.verdicts.wording import plural, ratio_text


def headings(gate: Gate) -> list[str]:
    """Of the verdict table; the metric's name follows the gate."""
    return ["variant", f"Δ {metric(gate)}, pp [CI]", "speed-up [CI]", "memory ratio [CI]", "verdict", "why"]


def verdict_cells(comparison: ComparisonVerdict, gate: Gate) -> list[str]:
    """One row, plain text, by `headings`."""
    return [
        comparison.variant,
        accuracy_text(comparison, gate),
        speed_text(comparison, gate),
        memory_text(comparison, gate),
        verdict_text(comparison),
        comparison.reason,
    ]


def verdict_text(comparison: ComparisonVerdict) -> str:
    """The verdict, and whether it is exploratory."""
    return f"{comparison.verdict} (exploratory)" if comparison.exploratory else comparison.verdict


def reference_cells(verdicts: Verdicts) -> list[list[str]]:
    """Rows by `headings` for what the variants are compared with, so that a difference has something to differ from.

    The baseline, and each reference that has no row of its own: mean of the metric in per cent, median seconds of an
    epoch, and the median over the comparisons of the peak of the timing processes. Then the control.
    """
    compared = {c.variant for c in verdicts.comparisons}
    rows = []
    for reference in verdicts.references:
        if reference.name in compared:
            continue
        against = [c for c in verdicts.comparisons if c.reference == reference.name]
        peaks = [c.memory.reference_bytes for c in against if c.memory.reference_bytes is not None]
        rows.append(
            [
                reference.name,
                "–" if reference.mean is None else f"{100.0 * reference.mean:.2f} %",
                "–" if (epoch_s := _epoch_of(reference, against)) is None else f"{seconds_text(epoch_s)} an epoch",
                bytes_text(statistics.median(peaks)) if peaks else "–",
                "reference",
                f"mean of {plural(reference.n, 'run')}; median epoch"
                f"{' (of disturbed blocks, since there are no others)' * reference.epoch_disturbed} and peak memory",
            ]
        )
    return [*rows, *_control_cells(verdicts)]


def _epoch_of(reference: ReferenceSummary, against: Sequence[ComparisonVerdict]) -> float | None:
    """Of all its timings; in files from before that was kept, the median over those of the comparisons."""
    epochs = [c.speed.reference_epoch_s for c in against if c.speed.reference_epoch_s is not None]
    return reference.epoch_s or (statistics.median(epochs) if epochs else None)


def _control_cells(verdicts: Verdicts) -> list[list[str]]:
    """The noise floor beside the gains: what the baseline gains over itself."""
    control = verdicts.control
    if control.ratio is None:
        return []
    speed = ratio_with_interval(control.ratio, control.ci, 1.0, verdicts.gate.min_speedup, most=2)
    memory = "–" if control.memory_ratio is None else ratio_text(control.memory_ratio)
    return [["control", "–", speed, memory, control.state, f"the noise floor: {control.reason}"]]


def accuracy_text(comparison: ComparisonVerdict, gate: Gate, most: int = MOST_DECIMALS) -> str:
    """Change of the metric in percentage points, with its interval, in no more than `most` decimals."""
    accuracy = comparison.accuracy
    if accuracy is None:
        return "–"
    if accuracy.identical and accuracy.state == "pass":
        return "0 (identical)"
    return with_interval(accuracy.delta_pp, accuracy.ci_pp, -gate.max_drop_pp, signed=True, most=most)


def speed_text(comparison: ComparisonVerdict, gate: Gate, most: int = MOST_DECIMALS) -> str:
    """Reference over variant in seconds an epoch: above 1 is faster."""
    return ratio_with_interval(comparison.speed.ratio, comparison.speed.ci, 1.0, gate.min_speedup, most=most)


def memory_text(comparison: ComparisonVerdict, gate: Gate, most: int = MOST_DECIMALS) -> str:
    """Reference over variant in peak bytes: above 1 is smaller."""
    memory = comparison.memory
    interval = None if memory.exact else memory.ci
    return ratio_with_interval(memory.ratio, interval, 1.0, gate.min_memory_saving, most=most)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A GitHub table; every cell is escaped."""
    from tabulate import tabulate

    escaped = [[escaping.markdown(cell) or "–" for cell in row] for row in rows]
    return tabulate(escaped, [escaping.markdown(h) for h in header], tablefmt="github", disable_numparse=True)


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: str, caption: str) -> str:
    """A booktabs table over as many pages as it needs (packages booktabs, longtable, array); every cell is escaped.

    Args:
        header: headings.
        rows: cells, plain text.
        columns: LaTeX's column specification, one column a heading.
        caption: plain text.
    """
    line = _latex_row(header, lambda text: rf"\textbf{{{escaping.latex(text)}}}")
    body = "\n".join(_latex_row(row, lambda text: escaping.latex(text, breakable=True)) for row in rows)
    top = f"\\toprule\n{line}\n\\midrule"
    return (
        f"\\begin{{longtable}}{{{columns}}}\n\\caption{{{escaping.latex(caption)}}}\\\\\n{top}\n\\endfirsthead\n"
        f"{top}\n\\endhead\n\\bottomrule\n\\endfoot\n{body}\n\\end{{longtable}}\n"
    )


def _latex_row(cells: Sequence[str], escape: Callable[[str], str]) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"
