"""`claims.json`: what a spec's results say on the claims that it tests; all that the ledger needs of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.spec.claims import Measure
from harness.spec.options import Frozen
from harness.verdicts.model import Interval


class Measured(Frozen):
    """One quantity."""

    measure: Measure
    against: str | None = Field(None, description="The spec of the reference, where it is another.")
    state: Literal["measured", "failed", "unavailable", "missing"] = Field(
        description="failed: a run did not end well; unavailable: this hardware or library cannot; missing: not run."
    )
    value: float | None = None
    ci: Interval | None = None
    level: float | None = Field(None, description="Confidence of ci; 1 where nothing is estimated.")
    n: int = Field(0, description="Pairs, runs, ratios or processes behind it.")
    unit: str = Field("", description="What n counts.")
    reason: str = Field("", description="Why there is no value.")


class ClaimResults(Frozen):
    """`claims.json`."""

    version: Literal[1] = 1
    spec: str
    command: str = Field(description="Makes the results again.")
    date: str = Field("", description="When the last of the runs ended.")
    fingerprint: str = Field("", description="Of the prepared graph's arrays.")
    device: str = ""
    threads: dict[str, int] = Field({}, description="Of quality runs and of timing.")
    environment: dict[str, Any] = Field({}, description="Machine and versions of the timing runs.")
    measured: list[Measured] = []

    def find(self, measure: Measure, against: str | None) -> Measured | None:
        """What was measured of exactly this quantity."""
        return next((m for m in self.measured if m.measure == measure and m.against == against), None)
