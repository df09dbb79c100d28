"""Whether memory grows from epoch to epoch: what is held at their ends, and the slope through it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SETTLING = 2  # epochs at the start, in which caches, compiled code and the allocator's heap come to their size
EPOCHS = 8  # fewer than these after them say nothing
POINTS = 200  # of a long training: slopes of all pairs are computed
LEAST_BYTES, LEAST_SHARE = 2**20, 0.01  # an epoch, and of the peak: less is an allocator's noise
RISING = 0.75  # share of the steps between epochs that go up in a steady growth


def growth(held: Sequence[int]) -> float | None:
    """Bytes an epoch: the median slope over all pairs of epochs (Theil 1950, Sen 1968), which no outlier moves.

    Args:
        held: bytes at the end of each epoch, in order.

    Returns:
        None where fewer than `EPOCHS` are left after the first ones.
    """
    settled = held[SETTLING:]
    return None if len(settled) < EPOCHS else _slope(*_thinned(settled))


def grows(held: Sequence[int], peak_bytes: int) -> bool:
    """Whether the growth is steady and more than noise: a leak.

    A heap that finds its size grows less and less; so the slope of the second half must be as large, and most steps
    must go up.

    Args:
        held: as in `growth`.
        peak_bytes: of the run, over its base.
    """
    settled = held[SETTLING:]
    if len(settled) < EPOCHS:
        return False
    epochs, values = _thinned(settled)
    least = max(LEAST_BYTES, LEAST_SHARE * peak_bytes)
    middle = len(values) // 2
    steady = np.mean(np.diff(values) > 0) >= RISING
    return bool(steady and _slope(epochs, values) > least and _slope(epochs[middle:], values[middle:]) > least)


def _thinned(held: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Epochs and what was held after them, at most `POINTS` of both."""
    epochs = np.unique(np.linspace(0, len(held) - 1, min(len(held), POINTS)).astype(np.int64))
    return epochs, np.asarray(held, dtype=np.float64)[epochs]


def _slope(epochs: np.ndarray, values: np.ndarray) -> float:
    first, second = np.triu_indices(len(epochs), k=1)
    return float(np.median((values[second] - values[first]) / (epochs[second] - epochs[first])))
