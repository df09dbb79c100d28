"""Does a measured interval bear a claim out?"""

from __future__ import annotations

from typing import Literal

from harness.spec.claims import Region

Decision = Literal["holds", "refuted", "undecided"]


def decide(lower: float, upper: float, region: Region) -> Decision:
    """**holds** where the interval lies wholly inside the region, **refuted** where wholly outside, else **undecided**.

    The region's bounds belong to it.
    """
    least = region.at_least if region.at_least is not None else float("-inf")
    most = region.at_most if region.at_most is not None else float("inf")
    if least <= lower and upper <= most:
        return "holds"
    if upper < least or lower > most:
        return "refuted"
    return "undecided"
