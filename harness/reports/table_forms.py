"""Tables of verdicts for documents and programs: Markdown, LaTeX, CSV and JSON, with the columns that are asked for.

Markdown and LaTeX are read: references and control stand above the variants, and digits follow the intervals
(`harness.reports.digits.decimals`). CSV and JSON are computed with: numbers are unrounded, and there is no row of a
reference, since each row has the reference's numbers beside its own.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from harness.reports import escaping
from harness.reports.column_names import REPORTED
from harness.reports.columns import COLUMNS, NOTHING, Column
from harness.reports.fields import rows_of
from harness.reports.tables import latex_table, markdown_table, reference_cells
from harness.spec.schema import Gate
from harness.verdicts.model import Verdicts

Form = Literal["md", "tex", "csv", "json"]
VERSION = 1  # of the JSON form

_LATEX_HEAD = (
    "% For \\input. Needs \\usepackage[T1]{fontenc}, [utf8]{inputenc}, and textcomp, array, booktabs, longtable.\n"
    "% Too wide for a portrait page? Fewer columns by --columns, or a landscape page.\n"
)


def table_text(found: Sequence[Verdicts], form: Form, columns: Sequence[Column] | None = None) -> str:
    """One table of all verdicts.

    Args:
        found: of one spec or several.
        form: of the text.
        columns: by default those of the report's table where it is read (of LaTeX without the reasons, which no page
            has room for), with the spec's name where there are several; and all of them where it is computed with.
    """
    if form in ("csv", "json"):
        columns = columns or tuple(COLUMNS.values())
        return csv_table(found, columns) if form == "csv" else json_table(found, columns)
    if columns is None:
        names = REPORTED if form == "md" else REPORTED[:-1]
        names = names if len(found) == 1 else ("spec", *names)
        columns = [COLUMNS[name] for name in names]
    header = [_heading(column, [v.gate for v in found]) for column in columns]
    rows = [row for verdicts in found for row in _read_rows(verdicts, columns)]
    if form == "md":
        return markdown_table(header, rows) + "\n"
    return _LATEX_HEAD + latex_table(header, rows, "".join(_latex_column(c) for c in columns), _caption(found))


def csv_table(found: Sequence[Verdicts], columns: Sequence[Column] | None = None) -> str:
    """A line a row; numbers are unrounded, and empty where nothing was measured."""
    names = [field.name for column in columns or COLUMNS.values() for field in column.fields]
    file = io.StringIO()
    writer = csv.DictWriter(file, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for verdicts in found:
        for row in rows_of(verdicts):
            writer.writerow({name: _cell(value) for name, value in row.items()})
    return file.getvalue()


def json_table(found: Sequence[Verdicts], columns: Sequence[Column] | None = None) -> str:
    """`{"version": 1, "columns": […], "rows": [{…}]}`; `harness schema --of table` describes it."""
    columns = columns or tuple(COLUMNS.values())
    names = [field.name for column in columns for field in column.fields]
    rows = [{name: _finite(row.get(name)) for name in names} for v in found for row in rows_of(v)]
    content = {"version": VERSION, "columns": [column.name for column in columns], "rows": rows}
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = json.dumps(value, sort_keys=True)
    return escaping.spreadsheet(value) if isinstance(value, str) else value


def _finite(value: Any) -> Any:
    """JSON has neither infinity nor NaN: a bound that is not known is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _heading(column: Column, gates: Sequence[Gate]) -> str:
    """Its own; where the specs are judged by several metrics, all their names."""
    return " / ".join(dict.fromkeys(column.heading(gate) for gate in gates))


def _read_rows(verdicts: Verdicts, columns: Sequence[Column]) -> list[list[str]]:
    names = [column.name for column in columns]
    anchors = [{"spec": verdicts.spec} | dict(zip(REPORTED, cells, strict=True)) for cells in reference_cells(verdicts)]
    rows = [[anchor.get(name, NOTHING) for name in names] for anchor in anchors]
    confirmed = verdicts.confirmation.comparison if verdicts.confirmation is not None else None
    comparisons = [*verdicts.comparisons, *([confirmed] if confirmed is not None else [])]
    return rows + [[column.text(c, verdicts) for column in columns] for c in comparisons]


def _latex_column(column: Column) -> str:
    return "l" if column.width is None else rf">{{\raggedright\arraybackslash}}p{{{column.width}mm}}"


def _caption(found: Sequence[Verdicts]) -> str:
    specs = ", ".join(verdicts.spec for verdicts in found)
    return f"Verdicts of {specs}. Ratios are reference over variant: above 1 is faster, or smaller."
