"""Cluster-GCN batches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from harness.batches.clusters import ClusterBatches


def dense(indptr: np.ndarray, indices: np.ndarray) -> sp.csr_array:
    n = len(indptr) - 1
    matrix = sp.csr_array((np.ones(len(indices), np.int64), indices, indptr), shape=(n, n), copy=True)
    matrix.sum_duplicates()
    return matrix


@pytest.fixture
def part() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 13, 2000)


@pytest.fixture
def clusters(skewed, make_graph, part) -> ClusterBatches:
    return ClusterBatches(make_graph(*skewed), part, {"seconds": 1.5}, per_batch=4, layers=3, seed=1)


def test_edges_are_those_of_the_induced_subgraph(skewed, clusters: ClusterBatches) -> None:
    whole = dense(*skewed)
    for batch in clusters.epoch(1):
        block = batch.blocks[0]
        expected = whole[batch.nodes][:, batch.nodes]
        assert (dense(block.indptr, block.indices) != expected).nnz == 0
        assert np.array_equal(block.in_degree, np.diff(skewed[0])[batch.nodes])
        assert block.num_src == block.num_dst == len(batch.nodes)
        assert len(batch.blocks) == 3
        assert all(b is block for b in batch.blocks)


def test_an_epoch_holds_every_node_and_every_training_node_once(clusters: ClusterBatches) -> None:
    for epoch in range(3):
        batches = list(clusters.epoch(epoch))
        assert len(batches) == clusters.num_batches == 4
        assert np.array_equal(np.sort(np.concatenate([b.nodes for b in batches])), np.arange(2000))
        targets = np.concatenate([b.nodes[b.targets] for b in batches])
        assert np.array_equal(np.sort(targets), np.arange(0, 2000, 2))


def test_parts_are_joined_anew_each_epoch(clusters: ClusterBatches, part: np.ndarray) -> None:
    joined = [[frozenset(part[b.nodes]) for b in clusters.epoch(e)] for e in range(2)]
    assert [len(parts) for parts in joined[0]] == [4, 4, 4, 1]
    assert joined[0] != joined[1]
    assert joined[0] == [frozenset(part[b.nodes]) for b in clusters.epoch(0)]


def test_edges_between_joined_parts_are_kept(skewed, make_graph, part: np.ndarray) -> None:
    shares = []
    for per_batch in (1, 4, 13, 99):
        clusters = ClusterBatches(make_graph(*skewed), part, {}, per_batch, 1, seed=0)
        list(clusters.epoch(0))
        shares.append(clusters.counters()["kept_edge_share"])
    target = np.repeat(np.arange(2000), np.diff(skewed[0]))
    inside = np.mean(part[target] == part[skewed[1]])
    assert shares[0] == pytest.approx(inside)
    assert shares[0] < shares[1] < shares[2] == shares[3] == 1.0


def test_counters_hold_what_was_handed_out(clusters: ClusterBatches) -> None:
    assert clusters.preprocess_s == {"partition_s": 1.5}
    first = next(iter(clusters.epoch(0)))
    found = clusters.counters()
    assert (found["batches"], found["nodes"], found["edges"]) == (1, len(first.nodes), first.num_edges)
    assert found["kept_edge_share"] == first.num_edges / np.diff(clusters._indptr)[first.nodes].sum()


def test_empty_parts_make_no_batch_and_no_training_node_makes_no_target(skewed, make_graph) -> None:
    part = np.where(np.arange(2000) < 1000, 3, 9)  # parts 0 .. 2 and 4 .. 8 are empty
    clusters = ClusterBatches(make_graph(*skewed, train=np.arange(10)), part, {}, per_batch=1, layers=2, seed=0)
    assert sorted(len(b.targets) for b in clusters.epoch(0)) == [0, 10]
    assert all(len(b.nodes) == 1000 for b in clusters.epoch(1))


def test_no_nodes_no_batches(make_graph) -> None:
    graph = make_graph(np.zeros(1, np.int64), np.zeros(0, np.int32))
    assert list(ClusterBatches(graph, np.zeros(0, np.int64), {}, 2, 2, seed=0).epoch(0)) == []
