"""Density of blocks: edges over destinations times sources."""

from __future__ import annotations

import numpy as np
import pytest

from harness.batches.batch import Batch, Block
from harness.batches.observed.density import BlockDensity


def block(degrees: list[int], num_src: int) -> Block:
    indptr = np.cumsum([0, *degrees])
    degree = np.array(degrees, dtype=np.int64)
    return Block(indptr, np.zeros(indptr[-1], dtype=np.int64), num_src, degree, np.zeros(num_src, dtype=np.int64))


def batch(*blocks: Block) -> Batch:
    return Batch(np.arange(blocks[0].num_src), blocks, np.zeros(0, dtype=np.int64))


def test_layer_by_layer_the_mean_over_batches():
    density = BlockDensity()
    assert density.counters() == {"block_density": []}
    density.count(batch(block([2, 0, 3], 10), block([1], 3)))  # 5 of 30, 1 of 3
    density.count(batch(block([1, 1], 4), block([2], 2)))  # 2 of 8, 2 of 2
    assert density.counters()["block_density"] == pytest.approx([(5 / 30 + 2 / 8) / 2, (1 / 3 + 1) / 2])


def test_a_complete_graph_is_1_and_an_empty_one_0():
    complete, empty, nothing = BlockDensity(), BlockDensity(), BlockDensity()
    complete.count(batch(block([4] * 4, 4)))
    empty.count(batch(block([0] * 4, 4)))
    nothing.count(batch(block([], 0)))
    assert [d.counters()["block_density"] for d in (complete, empty, nothing)] == [[1.0], [0.0], [0.0]]
