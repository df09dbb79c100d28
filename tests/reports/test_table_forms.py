"""Tables for documents and programs: they parse, they compile, they say what the verdicts say."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from harness.reports.columns import COLUMNS, chosen
from harness.reports.fields import control_values, values_of
from harness.reports.table_forms import table_text
from harness.reports.table_schema import table_page, table_schema
from harness.reports.tables import headings
from harness.spec.errors import InputError

from .conftest import accuracy, comparison, failed_comparison, some_of_each, speed
from .latex import pdflatex

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
HOSTILE = r"a|b`c*d_e <b>x</b> \input{/etc/passwd} $x_1$ & 50 % # 中文"


@pytest.fixture(scope="module")
def each(make_verdicts):
    """One of every verdict, and names and reasons that are markup."""
    hostile = comparison(HOSTILE, "reject", patch={HOSTILE: HOSTILE}, reason=HOSTILE)
    return make_verdicts([*some_of_each(), hostile, failed_comparison("=cmd()")])


def _rendered(text: str) -> list[list[str]]:
    """Cells of the table that a parser of GitHub's Markdown sees; fails unless it sees that and nothing else."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert (tokens[0].type, tokens[-1].type) == ("table_open", "table_close")
    assert sum(token.type == "table_open" for token in tokens) == 1
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= {"text", "text_special"}  # no markup of anyone's making
            rows[-1].append("".join(child.content for child in children))
    return rows


def test_markdown_is_one_table_with_the_columns_asked_for(each) -> None:
    rows = _rendered(table_text([each], "md", chosen("variant,verdict,why,patch")))
    assert rows[0] == ["variant", "verdict", "why", "changes"]
    assert {len(row) for row in rows} == {4}
    found = {row[0]: row for row in rows[1:]}
    assert list(found) == ["baseline", "control", *(c.variant for c in each.comparisons)]
    assert found[HOSTILE][2] == HOSTILE


def test_without_columns_markdown_has_those_of_the_report_and_several_specs_their_names(each) -> None:
    assert _rendered(table_text([each], "md"))[0] == headings(each.gate)
    other = each.model_copy(update={"spec": "other"})
    rows = _rendered(table_text([each, other], "md"))
    assert rows[0] == ["spec", *headings(each.gate)]
    assert {row[0] for row in rows[1:]} == {each.spec, "other"}


def test_digits_follow_the_interval_and_never_contradict_the_verdict(make_verdicts) -> None:
    close = accuracy(-0.1308, 0.3689)  # LB -0.4997: passes, and must not print as -0.50
    verdicts = make_verdicts([comparison("a", accuracy=close, speed=speed(1.2, 0.2)), comparison("b")])
    rows = _rendered(table_text([verdicts], "md", chosen("variant,accuracy,speed")))
    found = {row[0]: row[1:] for row in rows}
    assert found["a"] == ["−0.1308 [−0.4997, +0.2381]", "1.20 [0.96, 1.44]"]
    assert found["b"] == ["−0.06 [−0.31, +0.19]", "1.21 [1.15, 1.27]"]


def test_csv_and_json_hold_the_same_rows_and_the_schema_describes_them(each) -> None:
    columns = chosen("speed,variant,accuracy,patch,why")
    rows = list(csv.DictReader(io.StringIO(table_text([each], "csv", columns))))
    content = json.loads(table_text([each], "json", columns))
    assert content["columns"] == ["speed", "variant", "accuracy", "patch", "why"]
    assert [list(row) for row in content["rows"]] == [list(row) for row in rows]
    assert list(rows[0])[:2] == ["speedup", "speedup_lower"]
    for line, row, c in zip(rows, content["rows"], each.comparisons, strict=False):
        assert row["speedup"] == c.speed.ratio
        assert line["speedup"] == ("" if c.speed.ratio is None else repr(c.speed.ratio))
        assert row["patch"] == c.patch
        assert (row["variant"], row["reason"]) == (c.variant, c.reason)
    assert rows[-2]["variant"] == "'=cmd()"
    assert content["rows"][-1]["variant"] == "control"
    Draft202012Validator(table_schema()).validate(content)
    with pytest.raises(Exception, match="speedup"):
        Draft202012Validator(table_schema()).validate(content | {"rows": [{"speedup": "fast"}]})


def test_every_value_has_a_field_and_every_field_a_value(each) -> None:
    described = [field.name for column in COLUMNS.values() for field in column.fields]
    assert len(described) == len(set(described))
    given = values_of(comparison("a"), each)
    assert set(given) == set(described)
    assert set(control_values(each.control, "s")) <= set(described)


def test_a_bound_that_is_not_known_is_null_in_json(make_verdicts) -> None:
    verdicts = make_verdicts([comparison("a", accuracy=accuracy().model_copy(update={"ci_pp": (-float("inf"), 0.1)}))])
    (row, _) = json.loads(table_text([verdicts], "json"))["rows"]
    assert (row["delta_lower_pp"], row["delta_upper_pp"]) == (None, 0.1)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("variant,speeed", "'speeed' is no column, did you mean 'speed'?"),
        ("delta_pp", "'delta_pp' is no column, it is part of 'accuracy'"),
        ("speed,variant,speed", "'speed' stands twice"),
        (" , ", "names no column"),
    ],
)
def test_unknown_columns_are_refused_with_what_is_allowed(names: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        chosen(names)
    assert words in str(error.value)
    assert f"allowed: {', '.join(COLUMNS)}" in str(error.value)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles_in_a_document_with_the_packages_that_it_names(each, tmp_path) -> None:
    (tmp_path / "short.tex").write_text(table_text([each], "tex"))
    (tmp_path / "whole.tex").write_text(table_text([each], "tex", tuple(COLUMNS.values())))
    packages = "\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}\\usepackage{textcomp,array,booktabs,longtable}"
    text = f"\\documentclass{{article}}{packages}\\begin{{document}}\\input{{short}}\\input{{whole}}\\end{{document}}"
    (tmp_path / "paper.tex").write_text(text)
    done = pdflatex(tmp_path, "paper.tex")
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_page_of_the_documentation_is_current() -> None:
    assert PAGE.read_text() == table_page(), "run `harness schema --of table --format md > docs/tables.md`"
