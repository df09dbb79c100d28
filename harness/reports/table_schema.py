"""What `harness report --format json` and `csv` hold: a JSON schema, and the same as a page of the documentation."""

from __future__ import annotations

import json
from typing import Any

from harness.reports.column_names import REPORTED
from harness.reports.columns import COLUMNS
from harness.reports.fields import Field
from harness.reports.table_forms import VERSION

_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": ["string", "null"]},
    "number": {"type": ["number", "null"]},
    "whole number": {"type": ["integer", "null"]},
    "true or false": {"type": ["boolean", "null"]},
    "patch": {"type": ["object", "null"]},
}
_HEAD = f"""\
# Tables of verdicts

Written by `harness schema --of table --format md`; a test says when it is stale. `harness report RESULTS --format md`
(or `tex`, `csv`, `json`) prints a table of what is in `results/<spec>/verdicts.json`; several folders make one table.
`--columns variant,speed,verdict` chooses columns and their order.

- **Markdown** and **LaTeX** are for reading: references and control stand above the variants, and digits follow the
  intervals. Without `--columns` they have those of the report:
  {", ".join(f"`{name}`" for name in REPORTED)}; LaTeX leaves out the last.
  LaTeX is one `longtable` with booktabs, for `\\input` in a document; its first line says what packages it needs.
- **CSV** and **JSON** are for programs: unrounded numbers, the fields below, all of them without `--columns`. One row a
  comparison, one for what was `recommended` together where it was confirmed, and one for the `control`. What was not
  measured is empty in CSV and null in JSON. `results/<spec>/report.csv` is the same CSV. In CSV a `patch` is JSON in
  a cell, and text that a spreadsheet would take for a formula has an apostrophe before it.
- JSON is `{{"version": {VERSION}, "columns": [names], "rows": [{{field: value}}]}}`; `harness schema --of table` is its
  schema.

| column | field | holds | meaning |
|---|---|---|---|
"""


def table_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the JSON form."""
    fields = {field.name: _described(field) for column in COLUMNS.values() for field in column.fields}
    row = {
        "type": "object",
        "description": "The fields of the columns asked for; null where nothing was measured.",
        "properties": fields,
        "additionalProperties": False,
    }
    names = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": list(COLUMNS)}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "harness table of verdicts",
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "columns": names | {"description": "As asked for, in this order."},
            "rows": {"type": "array", "items": row, "description": "Comparisons, the recommended whole, the control."},
        },
        "required": ["version", "columns", "rows"],
        "additionalProperties": False,
    }


def table_schema_text() -> str:
    """The schema as text."""
    return json.dumps(table_schema(), indent=2, ensure_ascii=False) + "\n"


def table_page() -> str:
    """The text of docs/tables.md."""
    lines = [
        f"| {f'`{column.name}`' if first else ''} | `{field.name}` | {field.kind} | {field.meaning} |"
        for column in COLUMNS.values()
        for first, field in ((field is column.fields[0], field) for field in column.fields)
    ]
    return _HEAD + "\n".join(lines) + "\n"


def _described(field: Field) -> dict[str, Any]:
    return _TYPES[field.kind] | {"description": field.meaning}
