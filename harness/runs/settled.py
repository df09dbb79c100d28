"""When a process's warm-up is over: seen in its own epoch times, and in nothing else.

The scheme is that of Georges, Buytaert and Eeckhout (2007): go on until the last k measurements meet a criterion, or a
cap is reached, and keep the last k. Theirs is a coefficient of variation of one or two percent, which a machine shared
with others never meets (4 to 10 % were measured here), though nothing warms up any more; noise is what the interval of
the ratios is for. What a warm-up, or a clock that changes, leaves behind is a difference between the early and the late
part of the window, so these are compared, as in Geweke's (1992) diagnostic. Geweke tests the difference; a handful of
epochs gives no test any power, so here its size decides. A process may never settle (Barrett et al. 2017): it is kept,
and says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

TOLERANCE = 0.05  # by which the late half may take longer, or less long, than the early one
WINDOWS = 3  # so many times the epochs to be timed are run at most


def settled(epoch_s: Sequence[float]) -> bool:
    """Whether the medians of the first and of the last half are within 5 % of each other; a middle epoch is in neither.

    Args:
        epoch_s: seconds of the epochs of one window, in order. A single one shows no change.
    """
    half = len(epoch_s) // 2
    if half == 0:
        return True
    early, late = statistics.median(epoch_s[:half]), statistics.median(epoch_s[-half:])
    return max(early, late) <= (1.0 + TOLERANCE) * min(early, late)


def enough(epoch_s: Sequence[float], window: int) -> bool:
    """Whether the epochs on the clock may end: the last ``window`` of them have settled, or the cap is reached."""
    if len(epoch_s) < window:
        return False
    return settled(epoch_s[-window:]) or len(epoch_s) >= WINDOWS * window
