"""PageRank against its equation and against networkx."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs.csr import build_csr
from harness.graphs.structural.pagerank import pagerank

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


@settings(max_examples=200)
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
