"""Weights of nodes as neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.batches.sampling.neighbour_weights import checked_weights, neighbour_weights, of_positive_weight
from harness.graphs.csr import build_csr
from harness.graphs.structural.pagerank import pagerank

edge_lists = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def test_degree_counts_a_node_as_a_source() -> None:
    csr = build_csr(np.array([1, 1, 1, 2, 0]), np.array([0, 0, 2, 2, 0]), 4)
    assert neighbour_weights(csr.indptr, csr.indices, "degree").tolist() == [1.0, 3.0, 1.0, 0.0]
    assert neighbour_weights(np.zeros(3, np.int64), np.zeros(0, np.int32), "degree").tolist() == [0.0, 0.0]
    assert np.array_equal(neighbour_weights(csr.indptr, csr.indices, "pagerank"), pagerank(csr.indptr, csr.indices))
    with pytest.raises(ValueError, match=r"weights must be degree or pagerank, .* got 'size'"):
        neighbour_weights(csr.indptr, csr.indices, "size")


@pytest.mark.parametrize("wrong", [-1.0, -0.1, np.nan, np.inf, -np.inf, 1e-300, 1e300])
def test_the_first_bad_weight_is_named(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"node 2 has .* \(2 of 5 nodes are wrong\)"):
        checked_weights(np.array([0.0, 1.0, wrong, 3.0, wrong]), 5)


@pytest.mark.parametrize("wrong", [np.ones(4), np.ones((5, 1)), np.ones(5, complex), np.array(["1"] * 5)])
def test_weights_are_one_number_a_node(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"weights must be one number a node, \[5\]"):
        checked_weights(wrong, 5)


def test_integers_are_weights_and_float32_too() -> None:
    for dtype in (np.int32, np.uint8, np.float32, bool):
        assert checked_weights(np.array([0, 1, 1], dtype), 3).tolist() == [0.0, 1.0, 1.0]


@given(graph=edge_lists, data=st.data())
def test_edges_from_nodes_of_weight_zero_are_left_out(
    graph: tuple[int, list[tuple[int, int]]], data: st.DataObject
) -> None:
    n, edges = graph
    csr = build_csr(*(np.array([e[i] for e in edges], dtype=np.int64) for i in (0, 1)), n)
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 2.0]), min_size=n, max_size=n)))
    indptr, indices = of_positive_weight(csr.indptr, csr.indices, weights)
    for v in range(n):
        row = csr.indices[csr.indptr[v] : csr.indptr[v + 1]]
        assert indices[indptr[v] : indptr[v + 1]].tolist() == [u for u in row if weights[u] > 0]
