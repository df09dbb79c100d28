"""The numbers that a figure draws, as a table that anyone can draw it from again."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from harness.reports.escaping import spreadsheet

Cell = str | int | float | None  # None: not measured, an empty cell


@dataclass(frozen=True)
class FigureData:
    """Rows under headings.

    Args:
        headings: a word each, with the unit where a number has one (`epoch_s`, `delta_pp`, `bytes`).
        rows: a cell a heading, numbers unrounded.

    Raises:
        ValueError: a row has another length than the headings.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ValueError(f"{len(row)} cells under {len(self.headings)} headings: {list(row)}")

    def csv(self) -> str:
        """The file `figures/<name>.csv`; text that a spreadsheet would run as a formula is quoted."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.headings)
        writer.writerows([spreadsheet(cell) if isinstance(cell, str) else cell for cell in row] for row in self.rows)
        return file.getvalue()
