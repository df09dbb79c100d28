"""Two ways of doing one piece of work, timed in turn: A B B A."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

Work = Callable[[int], object]  # does piece i


def alternated(
    sides: Mapping[str, Work], pieces: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each side for each piece of work: in the order given for even pieces, reversed for odd ones.

    Args:
        clock: `time.perf_counter` where several threads work, which needs a quiet machine; `time.thread_time` for
            work on this thread alone, which other processes disturb far less.
    """
    taken: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for piece in range(pieces):
        for name in order if piece % 2 == 0 else reversed(order):
            started = clock()
            sides[name](piece)
            taken[name].append(clock() - started)
    return taken


def ratios(taken: Mapping[str, list[float]], over: str, under: str) -> list[float]:
    """Seconds of ``over`` by those of ``under``, piece by piece."""
    return [a / b for a, b in zip(taken[over], taken[under], strict=True)]


def median_ratio(taken: Mapping[str, list[float]], over: str, under: str) -> float:
    """Median over the pieces, which a disturbance of one of them does not move."""
    return median(ratios(taken, over, under))


def waited_for_a_core() -> float:
    """Seconds since its start that this thread was ready to run and had no core; 0 where the kernel does not say.

    Where its growth is more than a few percent of the time that passes, other work disturbs a measurement by the clock
    on the wall.
    """
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:  # not Linux
        return 0.0
