"""From intervals to what a claim amounts to."""

from __future__ import annotations

import pytest

from harness.spec.claims import Expectation, Region
from harness.verdicts.claims.ledger import ledger, over_expectations, over_graphs, tally
from harness.verdicts.claims.region import decide
from tests.verdicts.claims.entries import FASTER, SLOWER, claim_of, lookup_of, measured_of, results_of

HOLDS, REFUTED, OPEN, NOT_RUN, NOT_HERE = "holds", "refuted", "undecided", "not run yet", "not testable here"


@pytest.mark.parametrize(
    ("lower", "upper", "region", "decision"),
    [
        (-4.5, -3.7, {"at_most": -3.6}, HOLDS),
        (-4.5, -3.6, {"at_most": -3.6}, HOLDS),  # the bound belongs to the region
        (-4.5, -3.5, {"at_most": -3.6}, OPEN),
        (-3.6, -3.0, {"at_most": -3.6}, OPEN),
        (-3.5, -3.0, {"at_most": -3.6}, REFUTED),
        (1.31, 1.4, {"at_least": 1.3}, HOLDS),
        (1.2, 1.29, {"at_least": 1.3}, REFUTED),
        (0.84, 0.9, {"at_least": 0.83, "at_most": 0.91}, HOLDS),
        (0.84, 0.92, {"at_least": 0.83, "at_most": 0.91}, OPEN),
        (0.80, 0.95, {"at_least": 0.83, "at_most": 0.91}, OPEN),  # wider than the region
        (0.92, 0.95, {"at_least": 0.83, "at_most": 0.91}, REFUTED),
        (0.5, 0.6, {"at_least": 0.83, "at_most": 0.91}, REFUTED),
    ],
)
def test_an_interval_decides_only_wholly(lower: float, upper: float, region: dict[str, float], decision: str) -> None:
    assert decide(lower, upper, Region(**region)) == decision


@pytest.mark.parametrize(
    ("states", "conditions", "outcome"),
    [
        ([HOLDS, HOLDS], [], HOLDS),
        ([HOLDS, OPEN], [], OPEN),
        ([OPEN, REFUTED], [], REFUTED),
        ([NOT_RUN, REFUTED], [], REFUTED),  # the missing one cannot save it
        ([HOLDS, NOT_RUN], [], NOT_RUN),
        ([HOLDS, NOT_HERE], [], NOT_HERE),
        ([HOLDS], [HOLDS], HOLDS),
        ([REFUTED], [REFUTED], NOT_HERE),  # a graph without the condition tests nothing
        ([HOLDS], [OPEN], OPEN),
        ([HOLDS], [NOT_RUN], NOT_RUN),
    ],
)
def test_all_quantities_must_hold(states, conditions, outcome) -> None:
    assert over_expectations(states, conditions) == outcome


@pytest.mark.parametrize(
    ("states", "outcome"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([REFUTED, REFUTED], REFUTED),
        ([HOLDS, REFUTED], "depends on the graph"),
        ([HOLDS, REFUTED, OPEN], "depends on the graph"),
        ([HOLDS, OPEN], OPEN),
        ([HOLDS, NOT_RUN], HOLDS),
        ([NOT_RUN, NOT_HERE], NOT_RUN),
        ([NOT_HERE, NOT_HERE], NOT_HERE),
        ([], NOT_HERE),
    ],
)
def test_over_graphs(states, outcome) -> None:
    assert over_graphs(states) == outcome


def test_a_claim_over_two_graphs() -> None:
    both = claim_of(SLOWER, FASTER)
    wordnet = results_of("wordnet", measured_of(SLOWER.measure, -5.0, -4.0), measured_of(FASTER.measure, 1.4, 1.5))
    debian = results_of("debian", measured_of(SLOWER.measure, -1.0, 0.1), measured_of(FASTER.measure, 1.4, 1.5))
    (found,) = ledger([both], lookup_of(wordnet, debian))
    assert found.state == "depends on the graph"
    assert [graph.state for graph in found.graphs] == [HOLDS, REFUTED]
    assert found.graphs[0].source == "results/wordnet/claims.json"


def test_what_was_measured_otherwise_does_not_count() -> None:
    other = Expectation(quantity="accuracy_delta_pp", variant="labor", holds=SLOWER.holds)
    held = results_of("wordnet", measured_of(other.measure, -5.0, -4.0))
    (found,) = ledger([claim_of(graphs=("wordnet",))], lookup_of(held))
    assert found.state == NOT_RUN
    assert found.graphs[0].command == "snakemake --cores 2 results/wordnet/report.html"


def test_a_region_may_change_without_measuring_again() -> None:
    held = results_of("wordnet", measured_of(SLOWER.measure, -3.0, -2.0))
    milder = SLOWER.model_copy(update={"holds": Region(at_most=-1.0)})
    states = [ledger([claim_of(e, graphs=("wordnet",))], lookup_of(held))[0].state for e in (SLOWER, milder)]
    assert states == [REFUTED, HOLDS]


@pytest.mark.parametrize(("state", "outcome"), [("missing", NOT_RUN), ("unavailable", NOT_HERE), ("failed", OPEN)])
def test_without_an_interval(state: str, outcome: str) -> None:
    held = results_of("wordnet", measured_of(SLOWER.measure, None, state=state, reason="why"))
    (found,) = ledger([claim_of(graphs=("wordnet",))], lookup_of(held))
    assert found.state == outcome
    assert found.graphs[0].findings[0].measured.reason == "why"


def test_a_committed_result_stands_in_for_a_missing_one() -> None:
    missing = results_of("wordnet", measured_of(SLOWER.measure, None, state="missing", reason="not trained"))
    committed = results_of("wordnet", measured_of(SLOWER.measure, -5.0, -4.0))
    (found,) = ledger(
        [claim_of(graphs=("wordnet",))],
        lambda _: [("results/wordnet", missing), ("results/reference/wordnet", committed)],
    )
    assert (found.state, found.graphs[0].source) == (HOLDS, "results/reference/wordnet")


def test_one_graph_is_read_from_one_file() -> None:
    """Half of a claim from one machine and half from another would be a result of neither."""
    missing = measured_of(FASTER.measure, None, state="missing")
    here = results_of("wordnet", measured_of(SLOWER.measure, -5.0, -4.0), missing)
    committed = results_of("wordnet", measured_of(SLOWER.measure, -3.0, -2.0), measured_of(FASTER.measure, 1.4, 1.5))
    (found,) = ledger(
        [claim_of(SLOWER, FASTER, graphs=("wordnet",))],
        lambda _: [("results/wordnet", here), ("results/reference/wordnet", committed)],
    )
    assert [f.state for f in found.graphs[0].findings] == [REFUTED, HOLDS]
    assert found.graphs[0].source == "results/reference/wordnet"


def test_a_claim_that_is_not_testable_is_counted() -> None:
    left = claim_of(id="A21", not_testable="it needs several workers", expects=(), tests=())
    found = ledger([left, claim_of(id="A5")], lookup_of())
    assert tally(found) == {
        HOLDS: 0,
        REFUTED: 0,
        "depends on the graph": 0,
        OPEN: 0,
        NOT_RUN: 1,
        NOT_HERE: 1,
    }
