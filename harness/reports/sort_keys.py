"""What the rows of the verdict table are sorted by: the numbers behind its texts."""

from __future__ import annotations

from harness.reports.answer import ORDER
from harness.verdicts.model import ComparisonVerdict

SortKey = str | float | None  # None: not measured, after all others whichever way it is sorted

# Of `harness.reports.tables.headings`; empty where a column is not sorted.
SORTED_AS = ("text", "number", "number", "number", "verdict", "")


def sort_keys(comparison: ComparisonVerdict) -> tuple[SortKey, ...]:
    """One key a heading; a verdict's is its place in `ORDER`, the best first."""
    accuracy = comparison.accuracy
    return (
        comparison.variant,
        None if accuracy is None else accuracy.delta_pp,
        comparison.speed.ratio,
        comparison.memory.ratio,
        float(ORDER.index(comparison.verdict)),
        None,
    )
