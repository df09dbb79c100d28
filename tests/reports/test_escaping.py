"""What others wrote stays text in every format."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.escaping import clean, code, latex, markdown, page_text, spreadsheet
from harness.reports.tables import markdown_table


def test_latex_specials_are_printed_not_obeyed() -> None:
    assert latex(r"50 % of $x_1$ \& {a}#~^") == (
        r"50 \% of \$x\_1\$ \textbackslash{}\& \{a\}\#\textasciitilde{}\textasciicircum{}"
    )
    assert latex("−0.5 ≤ Δ") == r"\ensuremath{-}0.5 \ensuremath{\le} \ensuremath{\Delta}"
    assert latex("中") == "[U+4E2D]"


def test_long_words_may_break_in_latex() -> None:
    assert latex("cache-0.3", breakable=True) == r"cache-\allowbreak{}0.3"
    assert latex("x" * 80, breakable=True).count(r"\allowbreak{}") == 5


@pytest.mark.parametrize("number", ["27.1", "-0.5", "1,234,567.25", "1e-05", "2.13.0"])
def test_a_number_is_never_broken_in_latex(number: str) -> None:
    assert latex(f"[{number}", breakable=True) == f"[{number}"
    broken = latex(f"features.cache_ratio={number}, then", breakable=True)
    assert f"=\\allowbreak{{}}{number},\\allowbreak{{}} then" in broken


def test_names_break_at_their_joints_on_a_page_and_numbers_do_not_break() -> None:
    assert page_text("features.cache_ratio") == "features.<wbr>cache_<wbr>ratio"
    assert page_text("cache-0.3 of 1_000.5") == "cache-0.3 of 1_000.5"
    assert page_text("1.06 [0.99, 1.13]") == "1.06 [0.99,\u00a01.13]"
    assert page_text("80 % in 0.4 ms, 3 of 5") == "80\u00a0% in 0.4\u00a0ms, 3 of 5"


def test_a_command_is_code_on_a_page() -> None:
    assert page_text("`harness claims` has <all>, `a.b`") == (
        "<code>harness claims</code> has &lt;all&gt;, <code>a.<wbr>b</code>"
    )


@given(st.text())
def test_a_page_shows_the_text_and_nothing_more(text: str) -> None:
    shown = re.sub("</?code>", "`", page_text(text).replace("<wbr>", ""))
    assert "<" not in shown
    assert html.unescape(shown).replace("\u00a0", " ") == clean(text)


@given(st.text())
def test_latex_output_is_what_pdflatex_can_read(text: str) -> None:
    assert all(ord(c) < 0x7F or 0xC0 <= ord(c) <= 0xFF for c in latex(text))


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a|b", "**bold**", "[x](y)", "`code`", "a\nb", "&lt;"])
def test_markdown_cells_stay_one_cell_of_plain_text(text: str) -> None:
    lines = markdown_table(["name", "value"], [[text, "1"]]).splitlines()
    assert len(lines) == 3
    assert lines[2].replace("\\|", "").count("|") == 3
    assert "<" not in lines[2]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("−0.06 [−0.31, +0.19]", "−0.06 [−0.31, +0.19]"),
        ("features.cache_ratio", "features.cache_ratio"),
        ("_em_", r"\_em\_"),
        ("![x](y)", r"![x\](y)"),
        ("[x][y]", r"\[x\][y]"),
        ("[ ] done", r"\[ ] done"),
        ("a[^1]", r"a\[^1]"),
        ("of the looks [3]: pass", "of the looks [3]: pass"),
        ("[3]: https://x", r"\[3]: https://x"),
        ("`harness claims` has *all*", r"`harness claims` has \*all\*"),
        ("a ` b", r"a \` b"),
        ("``x``", r"\`\`x\`\`"),
        ("`<b>` and `a|b`", r"\`&lt;b&gt;\` and \`a\|b\`"),
        (r"\`x y` `z`", r"\\`x y` `z`"),
    ],
)
def test_markdown_escapes_what_would_mean_something(text: str, escaped: str) -> None:
    assert markdown(text) == escaped


def test_markdown_shows_an_entity_as_it_was_written() -> None:
    assert markdown("&lt;b") == "&amp;lt;b"
    assert code("a`b``c") == "```a`b``c```"
    assert code("`") == "`` ` ``"


def test_colour_codes_control_characters_and_surrogates_are_dropped() -> None:
    assert clean("\x1b[31mred\x1b[0m\x00\tend\ud800\u202eX") == "red endX"


def test_a_spreadsheet_runs_no_formula() -> None:
    assert spreadsheet('=HYPERLINK("x")').startswith("'=")
    assert spreadsheet("cache-0.3") == "cache-0.3"


@given(st.text())
def test_a_csv_cell_survives_writing_and_reading(text: str) -> None:
    file = io.StringIO()
    csv.writer(file).writerow([spreadsheet(text), "end"])
    (row,) = csv.reader(io.StringIO(file.getvalue()))
    assert row == [spreadsheet(text), "end"]
