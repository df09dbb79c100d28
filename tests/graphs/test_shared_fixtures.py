"""The graphs that other folders' tests rely on are what they say."""

from __future__ import annotations

import numpy as np

from harness.graphs.graph import Graph


def test_tiny_graph_is_small_undirected_and_learnable(tiny_graph: Graph) -> None:
    assert (tiny_graph.num_nodes, tiny_graph.num_classes, tiny_graph.meta.directed) == (300, 4, False)
    centroids = np.stack([tiny_graph.x[tiny_graph.y == c].mean(axis=0) for c in range(4)])
    nearest = np.argmin(((tiny_graph.x[:, None] - centroids) ** 2).sum(axis=2), axis=1)
    assert (nearest == tiny_graph.y).mean() > 0.7


def test_odd_graph_has_what_tidy_graphs_lack(odd_graph: Graph) -> None:
    meta = odd_graph.meta
    assert meta.directed
    assert meta.isolated_nodes == 5
    assert meta.self_loops == 6
    assert meta.duplicate_edges >= 49 + 1 + 2
    assert meta.max_in_degree == len(odd_graph.indices[odd_graph.indptr[0] : odd_graph.indptr[1]]) >= 98
    assert odd_graph.train.size
    assert odd_graph.val.size
    assert odd_graph.test.size
