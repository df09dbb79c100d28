"""What a pilot's results tell of the spread of paired differences."""

from __future__ import annotations

from dataclasses import dataclass

from harness.verdicts.half_node import least_spread_pp
from harness.verdicts.means import sample_sd
from harness.verdicts.model import Verdicts
from harness.verdicts.power import sd_interval


@dataclass(frozen=True)
class Spread:
    """Standard deviation of a variant's paired differences, percentage points, with its 95 % interval.

    Attributes:
        half_node_pp: half a test node where it stands for a smaller spread, as in the gate; it then bounds all three.
    """

    variant: str
    pairs: int
    sd_pp: float
    lower_pp: float
    upper_pp: float
    half_node_pp: float | None = None


def pilot_spreads(verdicts: Verdicts) -> list[Spread]:
    """Of each variant with at least two complete pairs, over all of them, counted by its looks or not."""
    nodes = None if verdicts.test_set is None else verdicts.test_set.nodes
    found = []
    for comparison in verdicts.comparisons:
        accuracy = comparison.accuracy
        d = [] if accuracy is None else [s.delta_pp for s in accuracy.seeds]
        if accuracy is None or len(d) < 2:
            continue
        sd, least = sample_sd(d), least_spread_pp(accuracy, d, nodes)
        sd, lower, upper = (max(figure, least or 0.0) for figure in (sd, *sd_interval(sd, len(d))))
        found.append(Spread(comparison.variant, len(d), sd, lower, upper, least))
    return found
