"""What `harness compare` says, as data: A is the folder named first, B the other."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.spec.options import Frozen
from harness.spec.schema import Gate
from harness.verdicts.model import Control, Interval, SeedDifference, Verdict

AccuracyState = Literal["pass", "fail", "inconclusive", "invalid", "dnf"]


class Difference(Frozen):
    """One thing that is not the same in both folders."""

    what: str
    a: str
    b: str


class AccuracyAcross(Frozen):
    """The gate's metric of one cell: B against A, paired by seed, over all seeds that both have; one look."""

    a: float | None = Field(None, description="Mean over the pairs, a fraction.")
    b: float | None = None
    delta_pp: float | None = Field(None, description="B minus A, percentage points.")
    ci_pp: Interval | None = Field(None, description="LB and UB of the one-sided tests.")
    level: float = Field(description="Confidence of ci_pp, two-sided.")
    n_pairs: int
    state: AccuracyState = Field(description="As of a variant against its baseline; dnf: B failed where A ran.")
    same_predictions: int = Field(0, description="Pairs whose predictions are equal, by hash.")
    identical: bool = Field(False, description="All of them, and the metric with them.")
    why: str = Field("", description="Of dnf: how the run of B ended.")
    seeds: list[SeedDifference] = Field([], description="`reference` is A, `variant` is B.")


class Measured(Frozen):
    """A ratio within one folder, the cell's reference over the cell, timed in blocks."""

    ratio: float
    ci: Interval
    level: float


class Gain(Frozen):
    """A ratio of one cell in both folders."""

    a: Measured | None = None
    b: Measured | None = None
    change: float | None = Field(None, description="B's ratio over A's: above 1 the gain is larger in B.")
    change_ci: Interval | None = Field(None, description="At 95 %, by Welch's t interval of both log ratios.")


class CellAcross(Frozen):
    """A full set of options that both folders have."""

    a: str = Field(description="Its name in A.")
    b: str
    accuracy: AccuracyAcross
    speed: Gain | None = Field(None, description="None of a reference, and where references differ.")
    memory: Gain | None = None
    epoch_s: tuple[float | None, float | None] = Field(
        (None, None), strict=False, description="Median timed seconds an epoch in A and B: not measured in turn."
    )
    peak_bytes: tuple[int | None, int | None] = Field((None, None), strict=False)
    verdicts: tuple[Verdict | None, Verdict | None] = Field((None, None), strict=False)
    reasons: tuple[str, str] = Field(("", ""), strict=False)


class Across(Frozen):
    """All of it."""

    version: Literal[1] = 1
    a: str = Field(description="The folder A, as it was given.")
    b: str
    specs: tuple[str, str] = Field(strict=False)
    gate: Gate = Field(description="Of A: B is judged by it.")
    differences: list[Difference] = []
    unrecorded: list[str] = Field([], description="What one of the folders does not say.")
    controls: tuple[Control, Control] = Field(strict=False)
    cells: list[CellAcross]
    left_out: list[str] = Field([], description="Variants and confirmations that are not compared, and why.")

    def cells_that(self, *states: AccuracyState) -> list[CellAcross]:
        """Cells whose accuracy has one of these states."""
        return [cell for cell in self.cells if cell.accuracy.state in states]
