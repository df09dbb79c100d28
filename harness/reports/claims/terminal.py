"""The ledger in a terminal of 80 columns, and one claim in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console

from harness.reports.claims.wording import DECIDED, condition_text, deciding_text, finding_text, state_text
from harness.reports.terminal import bullets, print_table, say
from harness.verdicts.claims.ledger import ClaimOutcome, ClaimState, GraphOutcome, tally
from harness.verdicts.wording import plural

STYLES: dict[ClaimState, str] = {
    "holds": "green",
    "refuted": "red",
    "depends on the graph": "cyan",
    "undecided": "yellow",
    "not run yet": "dim",
    "not testable here": "dim",
}


def ledger_table(outcomes: Sequence[ClaimOutcome], console: Console) -> None:
    """A claim with its outcome, and below it its figure and what decided; then how many are in each state."""
    rows = [[o.claim.id, o.claim.title, state_text(o)] for o in outcomes]
    styles, below = [STYLES[o.state] for o in outcomes], [_decided(o) for o in outcomes]
    print_table(console, ["", "claim", "outcome"], rows, styles, below)
    say(console, tally_text(outcomes), style="bold")
    say(console, DECIDED)
    say(console, "`harness claims A4` shows one with its figures; a refuted claim is a result, not a fault.")


def _decided(outcome: ClaimOutcome) -> str:
    measured = deciding_text(outcome)
    figure = f"figure: {outcome.claim.figure}; " if outcome.claim.figure else ""
    return f"{figure}measured: {measured}" if measured else ""


def tally_text(outcomes: Sequence[ClaimOutcome]) -> str:
    """How many claims are in each state."""
    counts = ", ".join(f"{count} {state}" for state, count in tally(outcomes).items() if count)
    return f"{plural(len(outcomes), 'claim')}: {counts}."


def claim_details(outcome: ClaimOutcome, console: Console) -> None:
    """Statement, figure and case; then each graph with what was measured on it, and where that lies."""
    claim = outcome.claim
    say(console, f"{claim.id}: {claim.title}: {state_text(outcome)}", style=f"bold {STYLES[outcome.state]}")
    for line in _about(outcome):
        say(console, line)
    for graph in outcome.graphs:
        bullets(console, f"{graph.test.graph}: {graph.state}", [*_measured(graph), _origin(graph)], most=None)


def _about(outcome: ClaimOutcome) -> Iterator[str]:
    claim = outcome.claim
    yield f"Statement: {claim.statement}"
    for name, text in (("Figure", claim.figure), ("Where", claim.case), ("Tested as", claim.tested_as)):
        if text:
            yield f"{name}: {text}"
    if claim.not_testable is not None:
        yield f"Not testable here: {claim.not_testable}"


def _measured(graph: GraphOutcome) -> Iterator[str]:
    for condition in graph.conditions:
        yield condition_text(condition, graph)
    for finding in graph.findings:
        yield finding_text(finding, graph)


def _origin(graph: GraphOutcome) -> str:
    if graph.state == "not run yet":
        return f"to run it: {graph.command}"
    when = f", {graph.date[:10]}" if graph.date else ""
    return f"from {graph.source}{when}; again: {graph.command}"
