"""Entries of the ledger, and what was measured, for tests."""

from __future__ import annotations

from typing import Any

from harness.spec.claims import Claim, ClaimTest, Expectation, Measure, Region
from harness.verdicts.claims.model import ClaimResults, Measured

SLOWER = Expectation(quantity="accuracy_delta_pp", variant="fanout", holds=Region(at_most=-3.6))
FASTER = Expectation(quantity="speed_ratio", variant="fanout", holds=Region(at_least=1.3))


def claim_of(*expects: Expectation, graphs: tuple[str, ...] = ("wordnet", "debian"), **changes: Any) -> Claim:
    """A claim with these expectations, tested on each graph by the spec of its name."""
    content: dict[str, Any] = {
        "id": "A4",
        "title": "a smaller fan-out loses points",
        "statement": "Cutting the fan-out costs accuracy.",
        "figure": "−4 points",
        "expects": expects or (SLOWER,),
        "tests": tuple(ClaimTest(graph=graph, spec=graph) for graph in graphs),
    }
    return Claim(**(content | changes))


def measured_of(measure: Measure, lower: float | None, upper: float = 0.0, **changes: Any) -> Measured:
    """An interval of this quantity; None for one that has none."""
    if lower is None:
        return Measured(measure=measure, **changes)
    content: dict[str, Any] = {
        "measure": measure,
        "state": "measured",
        "value": (lower + upper) / 2,
        "ci": (lower, upper),
        "level": 0.98,
        "n": 10,
        "unit": "pairs",
    }
    return Measured(**(content | changes))


def results_of(spec: str, *measured: Measured) -> ClaimResults:
    """A spec's `claims.json`."""
    return ClaimResults(
        spec=spec,
        command=f"snakemake --cores 2 results/{spec}/report.html",
        date="2026-11-30T03:00:00+00:00",
        measured=list(measured),
    )


def lookup_of(*held: ClaimResults):
    """As `lookup_under` would find them."""
    return lambda spec: [(f"results/{h.spec}/claims.json", h) for h in held if h.spec == spec]
