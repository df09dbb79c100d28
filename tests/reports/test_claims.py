"""Claims in words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.claims.markdown import summary
from harness.reports.claims.rows import claim_rows
from harness.reports.claims.terminal import ledger_table
from harness.reports.claims.wording import (
    basis_text,
    condition_text,
    deciding_text,
    measured_text,
    number_text,
    quantity_text,
    region_text,
    state_text,
)
from harness.reports.report import write_report
from harness.spec.claims import Expectation, Measure, Region
from harness.verdicts.claims.ledger import ledger
from tests.reports.conftest import comparison
from tests.verdicts.claims.entries import FASTER, SLOWER, claim_of, lookup_of, measured_of, results_of

ACCURACY = Measure(quantity="accuracy_delta_pp", variant="fanout")
COUNTER = Measure(quantity="counter", path="counters.nodes", over="counters.batches")


@pytest.mark.parametrize(
    ("measure", "against", "words"),
    [
        (ACCURACY, None, "accuracy in pp, fanout minus baseline"),
        (Measure(quantity="accuracy_delta_pp"), "raw", "accuracy in pp, this spec minus raw"),
        (ACCURACY, "raw", "accuracy in pp, fanout of this spec minus baseline of raw"),
        (
            Measure(quantity="stage_share", stages=("sample", "fetch")),
            None,
            "share of sample + fetch in a step of baseline",
        ),
        (COUNTER, None, "nodes / batches of baseline"),
        (Measure(quantity="memory_ratio", variant="a", reference="b"), None, "peak memory, b over a"),
    ],
)
def test_quantities(measure: Measure, against: str | None, words: str) -> None:
    assert quantity_text(measure, against) == words


@pytest.mark.parametrize(
    ("value", "measure", "text"),
    [
        (-0.314, ACCURACY, "−0.31"),
        (0.0, ACCURACY, "0.00"),
        (1.4149, COUNTER, "1.41"),
        (12.34, COUNTER, "12.3"),
        (123.4, COUNTER, "123"),
        (0.01234, COUNTER, "0.0123"),
        (0.00001, COUNTER, "1.0e−05"),
        (250_000.0, COUNTER, "2.5e+05"),
        (0.0, COUNTER, "0.0000"),
    ],
)
def test_numbers(value: float, measure: Measure, text: str) -> None:
    assert number_text(value, measure) == text


def test_regions_and_values() -> None:
    assert region_text(Region(at_most=-3.6), ACCURACY) == "at most −3.60"
    assert region_text(Region(at_least=0.83, at_most=0.91), COUNTER) == "0.83 to 0.91"
    assert measured_text(None, ACCURACY) == "not run yet"
    assert measured_text(measured_of(ACCURACY, -5.0, -4.0), ACCURACY) == "−4.50 [−5.00, −4.00]"
    assert measured_text(measured_of(ACCURACY, -4.0, -4.0, level=1.0), ACCURACY) == "−4.00"
    assert measured_text(measured_of(ACCURACY, None, state="failed", reason="it diverged"), ACCURACY) == "it diverged"
    assert basis_text(measured_of(ACCURACY, -5.0, -4.0)) == "98 %, 10 pairs"
    assert basis_text(measured_of(COUNTER, 1.0, 2.0, unit="processes", n=8)) == "98 %, 8 processes"


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        ([(-5, -4), (-5, -4)], "holds on 2 of 2"),
        ([(-1, 0), (-1, 0)], "refuted on 2 of 2"),
        ([(-5, -4), (-1, 0)], "holds on 1 of 2"),
        ([(-5, -4), (-5, 0)], "holds on 1 of 2, else open"),
        ([(-5, 0), (-1, 0)], "refuted on 1 of 2, else open"),
        ([(-5, 0), (-5, 0)], "undecided on 2 of 2"),
        ([(-5, -4), None], "holds on 1 of 1, 1 not run"),
        ([None, None], "not run yet"),
    ],
)
def test_states(intervals: list[tuple[float, float] | None], words: str) -> None:
    held = [
        results_of(spec, measured_of(SLOWER.measure, *interval))
        for spec, interval in zip(("wordnet", "debian"), intervals, strict=True)
        if interval is not None
    ]
    (outcome,) = ledger([claim_of()], lookup_of(*held))
    assert state_text(outcome) == words


def test_what_decided_stands_beside_the_figure() -> None:
    """On wordnet it is not faster, so that speed decides; on debian it loses points, but fewer than the figure's."""
    held = [
        results_of("wordnet", measured_of(SLOWER.measure, -5.0, -4.0), measured_of(FASTER.measure, 1.0, 1.1)),
        results_of("debian", measured_of(SLOWER.measure, -0.6, -0.2), measured_of(FASTER.measure, 1.0, 1.1)),
    ]
    (outcome,) = ledger([claim_of(SLOWER, FASTER)], lookup_of(*held))
    words = "speed-up: wordnet 1.05 [1.00, 1.10]; accuracy in pp: debian −0.40 [−0.60, −0.20]"
    assert deciding_text(outcome) == words
    (header, _, row) = [line.split("|")[1:-1] for line in summary([outcome]).splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in header[1:]] == ["claim", "figure", "measured", "outcome"]
    assert [cell.strip() for cell in row[2:]] == ["−4 points", words, "refuted on 2 of 2"]
    file = io.StringIO()
    ledger_table([outcome], Console(file=file, width=80))
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert f"figure: −4 points; measured: {words}" in " ".join(file.getvalue().split())


def test_of_a_claim_about_two_variants_the_one_that_decided_is_named() -> None:
    metis = SLOWER.model_copy(update={"variant": "cluster-metis"})
    held = results_of("wordnet", measured_of(SLOWER.measure, -5.0, -4.0), measured_of(metis.measure, -0.6, -0.2))
    (outcome,) = ledger([claim_of(SLOWER, metis, graphs=("wordnet",))], lookup_of(held))
    assert deciding_text(outcome).startswith("accuracy in pp of cluster-metis: wordnet −0.40")


def test_where_nothing_decided_nothing_is_printed() -> None:
    failed = measured_of(SLOWER.measure, None, state="failed", reason="it diverged")
    (waiting,) = ledger([claim_of()], lookup_of())
    (open_,) = ledger([claim_of(graphs=("wordnet",))], lookup_of(results_of("wordnet", failed)))
    assert deciding_text(waiting) == ""
    assert deciding_text(open_) == "accuracy in pp: wordnet not measured"


def test_a_condition_is_met_or_not() -> None:
    sparse = Expectation(quantity="counter", path="counters.block_density.0", holds=Region(at_most=0.1))
    held = results_of("wordnet", measured_of(sparse.measure, 0.2, 0.3), measured_of(FASTER.measure, 1.4, 1.5))
    (outcome,) = ledger([claim_of(FASTER, where=(sparse,), graphs=("wordnet",))], lookup_of(held))
    (graph,) = outcome.graphs
    assert graph.state == "not testable here"
    assert condition_text(graph.conditions[0], graph).endswith("tested where at most 0.10: not met")
    assert [row[3:] for row in claim_rows([outcome], "wordnet")] == [
        ["only where at most 0.10", "not met"],
        ["at least 1.30", "holds"],
    ]
    assert claim_rows([outcome], "debian") == []


def test_a_report_has_a_section_of_the_claims_it_tests(tmp_path: Path, make_verdicts, make_plan, make_results) -> None:
    verdicts = make_verdicts([comparison("cache-0.3", "accept")])
    spec = make_plan(verdicts).spec
    held = results_of(spec, measured_of(SLOWER.measure, -5.0, -4.0))
    outcomes = ledger([claim_of(graphs=(spec,))], lookup_of(held))
    for claims, times in (([], 0), (outcomes, 1)):
        write_report(make_plan(verdicts), verdicts, *make_results(verdicts), tmp_path, claims)
        for form in ("md", "tex", "html"):
            text = (tmp_path / f"report.{form}").read_text()
            assert text.replace(r"\allowbreak{}", "").count("A4: a smaller fan-out loses points") == times, form
            assert text.count("Claims that these results test") == times, form
    assert "| A4: a smaller fan-out loses points" in (tmp_path / "report.md").read_text()
