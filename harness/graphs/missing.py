"""Missing features, NaN, filled with what the nodes that have them hold on average."""

from __future__ import annotations

import numpy as np

from harness.graphs.features import chunks_of, row_slices


def fill_missing(x: np.ndarray, fitted: np.ndarray) -> tuple[int, list[int]]:
    """Put the mean of its column, over the fitted nodes that have the feature, into each NaN, in place.

    Args:
        x: features, float32, ``[num_nodes, num_features]``, writable, NaN where missing.
        fitted: ids of the nodes that the means are of, ``[t]``.

    Returns:
        How many entries were filled, and the columns that no fitted node has: 0 is filled in there.
    """
    total, known = np.zeros(x.shape[1]), np.zeros(x.shape[1], np.int64)
    for rows in chunks_of(x, fitted):
        there = ~np.isnan(rows)
        known += there.sum(axis=0)
        total += np.where(there, rows, 0.0).sum(axis=0)
    mean = total / np.maximum(known, 1)
    filled, unknown = 0, np.zeros(x.shape[1], bool)
    for chunk in row_slices(len(x), 2 * x.shape[1]):
        rows = x[chunk]
        missing = np.isnan(rows)
        if missing.any():
            filled += int(missing.sum())
            unknown |= missing.any(axis=0) & (known == 0)
            x[chunk] = np.where(missing, mean, rows)
    return filled, np.flatnonzero(unknown).tolist()
