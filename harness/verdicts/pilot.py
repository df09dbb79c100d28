"""What a pilot's results tell of the spread of paired differences."""

from __future__ import annotations

from dataclasses import dataclass

from harness.verdicts.means import sample_sd
from harness.verdicts.model import Verdicts
from harness.verdicts.power import sd_interval


@dataclass(frozen=True)
class Spread:
    """Standard deviation of a variant's paired differences, percentage points, with its 95 % interval."""

    variant: str
    pairs: int
    sd_pp: float
    lower_pp: float
    upper_pp: float


def pilot_spreads(verdicts: Verdicts) -> list[Spread]:
    """Of each variant with at least two complete pairs, over all of them, counted by its looks or not."""
    found = []
    for comparison in verdicts.comparisons:
        d = [] if comparison.accuracy is None else [s.delta_pp for s in comparison.accuracy.seeds]
        if len(d) < 2:
            continue
        sd = sample_sd(d)
        found.append(Spread(comparison.variant, len(d), sd, *sd_interval(sd, len(d))))
    return found
