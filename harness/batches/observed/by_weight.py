"""Draws by weight made apart from the samplers: what importance sampling does to these rows, by trying it.

Its probabilities have no closed form (the sum of the inclusion probabilities of exponential clocks, say, is another),
so they are not computed, but simulated from the definition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_SEED = 20_210_907  # any: the simulation is a yardstick, and the same each time


def draws_by_weight(
    weight: np.ndarray, row: np.ndarray, count: np.ndarray, times: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Sequential Poisson samples: of each row the ``count`` edges with the smallest u / w, u uniform in (0, 1].

    Args:
        weight: positive, float64, ``[edges]``. row: of each edge, int64, ascending, ``[edges]``.
        count: of each row, 0 or less than its edges, int64, ``[rows]``.
        times: samples.

    Returns:
        For each sample whether each edge is drawn, bool, ``[edges]``, and the smallest key that is not, float64,
        ``[rows]``; infinite for a row without edges.
    """
    random = np.random.default_rng(_SEED)
    size = np.bincount(row, minlength=len(count))
    begin = np.cumsum(size) - size
    held = size > count
    for _ in range(times):
        key = (1.0 - random.random(len(weight))) / weight
        order = np.lexsort((key, row))
        drawn = np.zeros(len(weight), np.bool_)
        drawn[order] = np.arange(len(weight)) - begin[row] < count[row]
        threshold = np.full(len(count), np.inf)
        threshold[held] = key[order[(begin + count)[held]]]
        yield drawn, threshold
