"""The claims that one spec's results test, as rows of its report."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reports.claims.wording import table_rows
from harness.verdicts.claims.ledger import ClaimOutcome


def claim_rows(outcomes: Sequence[ClaimOutcome], spec: str) -> list[list[str]]:
    """A row for each quantity: claim, what is measured, the value, where the claim holds, and what that makes of it."""
    return [
        [f"{outcome.claim.id}: {outcome.claim.title}", *row]
        for outcome in outcomes
        for graph in outcome.graphs
        if graph.test.spec == spec
        for row in table_rows(graph)
    ]
