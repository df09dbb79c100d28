"""The ledger in GitHub's Markdown: whole, or the short table of a README."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.reports.claims.terminal import tally_text
from harness.reports.claims.wording import DECIDED, deciding_text, state_text, table_rows
from harness.reports.escaping import markdown
from harness.reports.tables import markdown_table
from harness.verdicts.claims.ledger import ClaimOutcome


def summary(outcomes: Sequence[ClaimOutcome]) -> str:
    """A row for each claim that was tested, with what decided it beside its figure, and how many were not."""
    run = [o for o in outcomes if o.state not in ("not testable here", "not run yet")]
    rows = [[o.claim.id, o.claim.title, o.claim.figure, deciding_text(o), state_text(o)] for o in run]
    table = markdown_table(["", "claim", "figure", "measured", "outcome"], rows) if rows else "None has been run yet."
    return f"{markdown(tally_text(outcomes))}\n\n{table}\n\n{markdown(DECIDED)}\n"


def whole(outcomes: Sequence[ClaimOutcome]) -> str:
    """Every claim with its outcome, every quantity with its interval, and the reason of each that is not testable."""
    tested = [o for o in outcomes if o.claim.not_testable is None]
    left = [[o.claim.id, o.claim.title, o.claim.not_testable or ""] for o in outcomes if o.claim.not_testable]
    parts = [
        "# Claims put to the test",
        markdown(tally_text(outcomes)),
        "Made by `harness claims --format md`. A claim holds where the measured interval lies wholly inside the region "
        "that its entry states beforehand, and is refuted where it lies wholly outside.",
        markdown_table(["", "claim", "figure", "outcome"], [_row(o) for o in tested]),
        "## What was measured",
        *[part for outcome in tested for part in _claim(outcome)],
        "## Not testable here",
        markdown_table(["", "claim", "why"], left) if left else "None.",
    ]
    return "\n\n".join(parts) + "\n"


def _row(outcome: ClaimOutcome) -> list[str]:
    return [outcome.claim.id, outcome.claim.title, outcome.claim.figure, state_text(outcome)]


def _claim(outcome: ClaimOutcome) -> Iterator[str]:
    claim = outcome.claim
    yield f"### {claim.id}: {markdown(claim.title)}"
    figure = f" Figure: {claim.figure}." if claim.figure else ""
    yield markdown(f"{claim.statement}{figure}")
    if claim.tested_as:
        yield markdown(claim.tested_as)
    rows = [[graph.test.graph, *row] for graph in outcome.graphs for row in table_rows(graph)]
    yield markdown_table(["graph", "quantity", "measured", "holds where", "outcome"], rows)
