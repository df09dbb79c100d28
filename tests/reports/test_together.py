"""What is recommended together, in every form of a report."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.digits import seconds_text
from harness.reports.figures.stack import stack_figures
from harness.reports.report import write_report
from harness.reports.terminal import plan_table, verdict_table
from harness.reports.together import together
from tests.verdicts.confirmed_results import confirmed, grid, verdicts_of
from tests.verdicts.results import FAILING, SAME, quality_of


def screen(draw, *arguments: object) -> str:
    file = io.StringIO()
    draw(*arguments, Console(file=file, width=80))
    return file.getvalue()


def test_every_form_of_a_report_has_the_section(tmp_path: Path) -> None:
    verdicts = verdicts_of(confirmed())
    write_report(grid(), verdicts, {}, {}, tmp_path)
    for name in ("report.md", "report.html", "report.tex"):
        text = (tmp_path / name).read_text()
        assert "Recommended together" in text
        assert "earns its place" in text
        assert "confirmed on fresh seeds" in text.lower()
    assert "+ b" in (tmp_path / "figures" / "stack.svg").read_text()
    assert "\ntest,recommended,baseline,speed," in (tmp_path / "report.csv").read_text()


def test_the_terminal_says_it_in_80_columns() -> None:
    text = screen(verdict_table, verdicts_of(confirmed()))
    assert max(map(len, text.splitlines())) <= 80
    section = text[text.index("Recommended together") :]
    assert "- leaving out" in section.lower()
    assert "baseline + a" in section
    assert "Recommended together" not in screen(verdict_table, verdicts_of(None, plan=grid(confirm="none")))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            confirmed(variants={"recommended": quality_of("recommended", FAILING)}),
            "Not confirmed, reject on fresh seeds",
        ),
        (None, "Not confirmed yet"),
    ],
)
def test_what_is_not_confirmed_is_said_so(found, words: str) -> None:
    text = " ".join(screen(verdict_table, verdicts_of(found)).split())
    assert "Not confirmed: 2 of 2 variants pass alone" in text
    assert words in text


def test_a_height_that_was_not_timed_is_told_and_not_drawn() -> None:
    result = confirmed()
    del result.timings["up-to-a"]
    verdicts = verdicts_of(result)
    section = together(verdicts)
    assert section is not None
    assert section.heights[0] == ["baseline + a", "–", "–", "–", "–"]
    assert "baseline + a has no ratio: there is no timing." in section.words
    assert "Without a ratio: a." in stack_figures(verdicts)[0].caption


def test_the_seconds_of_the_heights_agree_with_their_ratios_on_a_machine_that_drifts() -> None:
    """The lower height was timed while the machine was three times as slow."""
    verdicts = verdicts_of(confirmed())
    found = verdicts.confirmation
    assert found is not None
    low, whole = found.heights
    assert low.speed.variant_epoch_s is not None
    assert whole.speed.reference_epoch_s is not None
    slow = low.speed.model_copy(update={"variant_epoch_s": 3 * low.speed.variant_epoch_s})
    found = found.model_copy(update={"heights": [low.model_copy(update={"speed": slow}), whole]})
    section = together(verdicts.model_copy(update={"confirmation": found}))
    assert section is not None
    baseline_s = whole.speed.reference_epoch_s
    assert [row[2] for row in section.heights] == [
        seconds_text(baseline_s / (height.speed.ratio or 0)) for height in (low, whole)
    ]


def test_nothing_to_confirm_draws_nothing() -> None:
    verdicts = verdicts_of(None, second=SAME)
    assert stack_figures(verdicts)[0].missing == "Not drawn: no height of the stack was timed."
    assert stack_figures(verdicts_of(None, plan=grid(confirm="none"))) == []


def test_the_plan_says_what_confirming_may_add() -> None:
    text = " ".join(screen(plan_table, grid(most_parts=2)).split())
    assert "and the confirmation, at most 80 more runs and 4 timings." in text
