"""What is seen of a data set before it is prepared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.drafts.look import both_ways, homophily, look
from harness.graphs.features import dense_rows
from harness.graphs.raw import RawGraph


def test_homophily_counts_edges_whose_ends_are_labelled() -> None:
    y = np.array([0, 0, 1, -1])
    assert homophily(np.array([0, 0, 1]), np.array([1, 2, 3]), y) == 0.5
    assert homophily(np.array([0]), np.array([3]), y) is None


def test_reverses_are_looked_up() -> None:
    assert both_ways(np.array([0, 1, 2]), np.array([1, 0, 3]), 4) == pytest.approx(2 / 3)
    assert both_ways(np.array([2]), np.array([2]), 4) == 1.0  # a self-loop has no other way


def _raw(x: np.ndarray, y: np.ndarray) -> RawGraph:
    ends = np.arange(len(x) - 1)
    return RawGraph("g", Path("g.npz"), "dataset.path", ends, ends + 1, dense_rows(x), y)


def test_classes_and_missing_features() -> None:
    x = np.ones((5, 2), np.float32)
    x[3, 1] = np.nan
    seen = look(_raw(x, np.array([0, 0, 0, 2, -1])))
    assert (seen.labelled, seen.classes, seen.smallest_class, seen.rarest_share) == (4, 3, 1, 0.25)
    assert (seen.missing, seen.sparse, seen.uneven) == (True, False, False)


def test_bags_of_words_are_told_from_columns_of_unlike_scale() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    words = (rng.random((200, 30)) < 0.05).astype(np.float32)
    assert (look(_raw(words, y)).sparse, look(_raw(words, y)).uneven) == (True, False)
    even = rng.standard_normal((200, 3)).astype(np.float32)
    assert not look(_raw(even, y)).uneven
    assert look(_raw(even * np.float32([1, 1, 1000]), y)).uneven
    assert look(_raw(even + np.float32([0, 0, 500]), y)).uneven
