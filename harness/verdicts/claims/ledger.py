"""Entries and what was measured to the ledger: which claims hold, on which graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from harness.spec.claims import Claim, ClaimTest, Expectation
from harness.spec.options import Frozen
from harness.verdicts.claims.model import ClaimResults, Measured
from harness.verdicts.claims.region import decide

TestState = Literal["holds", "refuted", "undecided", "not testable here", "not run yet"]
ClaimState = Literal["holds", "refuted", "depends on the graph", "undecided", "not testable here", "not run yet"]
STATES: tuple[ClaimState, ...] = (
    "holds",
    "refuted",
    "depends on the graph",
    "undecided",
    "not run yet",
    "not testable here",
)


class Finding(Frozen):
    """One expectation on one graph."""

    expected: Expectation
    measured: Measured | None
    state: TestState


class GraphOutcome(Frozen):
    """A claim on one graph."""

    test: ClaimTest
    conditions: list[Finding] = []
    findings: list[Finding]
    state: TestState
    source: str = ""
    date: str = ""
    command: str


class ClaimOutcome(Frozen):
    """A claim, and what became of it."""

    claim: Claim
    state: ClaimState
    graphs: list[GraphOutcome]

    def count(self, state: TestState) -> int:
        return sum(graph.state == state for graph in self.graphs)


Lookup = Callable[[str], Iterable[tuple[str, ClaimResults]]]  # by spec: sources and what they hold, the first wins


def ledger(claims: Iterable[Claim], lookup: Lookup) -> list[ClaimOutcome]:
    """Judge every claim on every graph.

    Args:
        claims: entries.
        lookup: where a spec's ``claims.json`` are, in the order to look into them.
    """
    return [_outcome(claim, lookup) for claim in claims]


def tally(outcomes: Iterable[ClaimOutcome]) -> dict[ClaimState, int]:
    """Claims in each state."""
    found = Counter(outcome.state for outcome in outcomes)
    return {state: found[state] for state in STATES}


def _outcome(claim: Claim, lookup: Lookup) -> ClaimOutcome:
    graphs = [_on_graph(claim, test, list(lookup(test.spec))) for test in claim.tests]
    return ClaimOutcome(claim=claim, state=over_graphs([g.state for g in graphs]), graphs=graphs)


def _on_graph(claim: Claim, test: ClaimTest, sources: Sequence[tuple[str, ClaimResults]]) -> GraphOutcome:
    used = _source((*claim.where, *claim.expects), test, sources)
    conditions = [_finding(expected, test, used) for expected in claim.where]
    findings = [_finding(expected, test, used) for expected in claim.expects]
    return GraphOutcome(
        test=test,
        conditions=conditions,
        findings=findings,
        state=over_expectations([f.state for f in findings], [c.state for c in conditions]),
        source=used[0] if used is not None else "",
        date=used[1].date if used is not None else "",
        command=used[1].command if used is not None else _command(test),
    )


def _command(test: ClaimTest) -> str:
    specs = [test.spec] if test.against is None else [test.spec, test.against]
    return f"snakemake --cores 2 {' '.join(f'results/{spec}/report.html' for spec in specs)}"


def _finding(expected: Expectation, test: ClaimTest, used: tuple[str, ClaimResults] | None) -> Finding:
    measured = None if used is None else used[1].find(expected.measure, test.against)
    return Finding(expected=expected, measured=measured, state=_state(expected, measured))


def _source(
    wanted: Sequence[Expectation], test: ClaimTest, sources: Sequence[tuple[str, ClaimResults]]
) -> tuple[str, ClaimResults] | None:
    """The one that all of a claim on a graph is read from, so that machines are not mixed.

    The one in which least is missing, of equals the first.
    """
    best: tuple[str, ClaimResults] | None = None
    most = -1
    for source in sources:
        found = [m for e in wanted if (m := source[1].find(e.measure, test.against)) is not None]
        there = sum(m.state != "missing" for m in found)
        if found and there > most:
            best, most = source, there
    return best


def _state(expected: Expectation, measured: Measured | None) -> TestState:
    if measured is None or measured.state == "missing":
        return "not run yet"
    if measured.state == "unavailable":
        return "not testable here"
    if measured.ci is None:
        return "undecided"
    return decide(*measured.ci, expected.holds)


def over_expectations(states: Sequence[TestState], conditions: Sequence[TestState] = ()) -> TestState:
    """All of a claim's quantities on one graph: all must hold, and one that is refuted refutes.

    Only where all conditions hold: a graph that fails one does not test the claim.
    """
    if conditions and (met := over_expectations(conditions)) != "holds":
        return "not testable here" if met == "refuted" else met
    order: tuple[TestState, ...] = ("refuted", "not run yet", "not testable here", "undecided")
    return next((state for state in order if state in states), "holds")


def over_graphs(states: Sequence[TestState]) -> ClaimState:
    """A claim over its graphs: what all say that were run; where some hold and some refute, it depends on the graph.

    One that some decide and another leaves open stays undecided. Without graphs it is not testable here.
    """
    run = {state for state in states if state not in ("not run yet", "not testable here")}
    if not run:
        return "not run yet" if "not run yet" in states else "not testable here"
    if {"holds", "refuted"} <= run:
        return "depends on the graph"
    if len(run) == 1:
        (state,) = run
        return state
    return "undecided"
