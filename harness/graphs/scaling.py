"""Scaling of features, fitted on the training nodes alone so that nothing of the test set leaks in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.graphs.features import chunks_of, row_slices


@dataclass(frozen=True)
class Scale:
    """``(x - shift) / width`` by column; both float64, ``[num_features]``."""

    shift: np.ndarray
    width: np.ndarray


def fit_scale(x: np.ndarray, train: np.ndarray, kind: Literal["standard", "minmax"]) -> Scale:
    """Shift and width of each column over the training rows.

    `standard` gives mean 0 and standard deviation 1 (divisor n), `minmax` the range 0 .. 1, on those rows. A
    column that is constant there has width 1: it becomes 0, and never NaN.

    Args:
        x: features, ``[num_nodes, num_features]``.
        train: ids of the training nodes, ``[t]``, at least one.
        kind: which of the two.
    """
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    total = np.zeros(x.shape[1])
    for rows in chunks_of(x, train):
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
        total += rows.sum(axis=0)
    constant = low == high
    if kind == "minmax":
        return Scale(low, np.where(constant, 1.0, high - low))
    mean = np.where(constant, low, total / len(train))
    squares = np.zeros(x.shape[1])
    for rows in chunks_of(x, train):
        squares += np.square(rows - mean).sum(axis=0)
    return Scale(mean, np.where(constant, 1.0, np.sqrt(squares / len(train))))


def apply_scale(x: np.ndarray, scale: Scale) -> None:
    """Scale all rows in place, chunk by chunk.

    Args:
        x: features, float32, ``[num_nodes, num_features]``, writable.
        scale: from `fit_scale`.
    """
    for chunk in row_slices(len(x), 2 * x.shape[1]):
        x[chunk] = (x[chunk].astype(np.float64) - scale.shift) / scale.width


def divide_rows(x: np.ndarray) -> None:
    """Divide each row by the sum of its absolute values, in place: the usual preparation of bags of words.

    Nothing is fitted, so nothing can leak. A row of zeros stays zero. (Kipf and Welling 2017, section 5.2.)

    Args:
        x: features, float32, ``[num_nodes, num_features]``, writable.
    """
    for chunk in row_slices(len(x), 2 * x.shape[1]):
        rows = x[chunk].astype(np.float64)
        total = np.abs(rows).sum(axis=1, keepdims=True)
        x[chunk] = rows / np.where(total > 0.0, total, 1.0)
