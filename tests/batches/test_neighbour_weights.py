"""Weights of nodes as neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.sampling.neighbour_weights import checked_weights, neighbour_weights, of_positive_weight, pagerank
from harness.graphs.csr import build_csr

edge_lists = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def by_a_dense_solve(n: int, edges: list[tuple[int, int]], damping: float) -> np.ndarray:
    passed = np.zeros((n, n))  # to, from
    for source, target in edges:
        passed[target, source] += 1
    out = passed.sum(0)
    passed = np.where(out > 0, passed / np.maximum(out, 1), 1 / n)
    return np.linalg.solve(np.eye(n) - damping * passed, np.full(n, (1 - damping) / n))


@settings(max_examples=200, deadline=None)
@given(graph=edge_lists, damping=st.sampled_from([0.0, 0.5, 0.85, 0.99]))
def test_pagerank_solves_its_equation(graph: tuple[int, list[tuple[int, int]]], damping: float) -> None:
    n, edges = graph
    source, target = (np.array([e[i] for e in edges], dtype=np.int64) for i in (0, 1))
    csr = build_csr(source, target, n)
    rank = pagerank(csr.indptr, csr.indices, damping)
    assert np.abs(rank - by_a_dense_solve(n, edges, damping)).sum() < 2e-8
    assert (rank > 0).all()


def test_pagerank_follows_the_messages() -> None:
    star = build_csr(np.array([1, 2, 3]), np.array([0, 0, 0]), 4)  # three sources, one target
    rank = pagerank(star.indptr, star.indices)
    assert rank[0] > 3 * rank[1]
    assert rank[1:] == pytest.approx(rank[1])


def test_pagerank_is_that_of_networkx() -> None:
    networkx = pytest.importorskip("networkx", reason="the comparison needs networkx")
    rng = np.random.default_rng(3)
    source, target = np.unique(rng.integers(0, 50, (200, 2)), axis=0).T
    csr = build_csr(source, target, 60)  # ten nodes without an edge
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    theirs = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    assert pagerank(csr.indptr, csr.indices, 0.85) == pytest.approx([theirs[v] for v in range(60)], abs=1e-9)


def test_pagerank_of_no_node_and_of_bad_numbers() -> None:
    empty = np.zeros(1, np.int64), np.zeros(0, np.int32)
    assert pagerank(*empty).shape == (0,)
    for damping in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="damping must lie in"):
            pagerank(*empty, damping=damping)
    for tolerance in (0.0, float("nan")):
        with pytest.raises(ValueError, match="tolerance must be above 0"):
            pagerank(*empty, tolerance=tolerance)


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
