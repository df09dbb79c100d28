"""What the jobs of a confirmation leave: results with the id of the job that they answer."""

from __future__ import annotations

from pydantic import Field

from harness.records.results import TimingResult, VariantResult
from harness.spec.options import Frozen

# Below results/<spec>/.
RECOMMENDED_FILE = "recommended.json"
TRAINED_FOLDER = "confirmed/variants"
TIMED_FOLDER = "confirmed/timing"
TIMED_FILE = "confirmed/timing.json"


class ConfirmedQuality(Frozen):
    """`confirmed/variants/<name>.json`: the quality runs of one cell, or why there are none."""

    name: str
    job_id: str = Field("", description="Empty where there was no job: the variant is no part of the stack.")
    result: VariantResult | None = None
    reason: str = Field("", description="Why nothing was run.")


class ConfirmedTiming(Frozen):
    """`confirmed/timing/<name>.json`: one cell timed; kept as long as its job stays the same."""

    name: str
    job_id: str
    result: TimingResult


class ConfirmedTimings(Frozen):
    """`confirmed/timing.json`: everything that is to be timed has been, or why not."""

    timed: list[str] = Field([], description="Cells, in order; each has a file of its own.")
    reason: str = Field("", description="Why nothing was timed.")
