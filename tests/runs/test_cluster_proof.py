"""No partition of any graph is refused that its method made, however odd the graph."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.clusters import ClusterBatches
from harness.graphs import cached_partition
from harness.graphs.csr import build_csr
from harness.graphs.graph import Graph, GraphMeta
from harness.runs.proof.clusters import cluster_faults
from harness.spec.options import Partition


def _edges(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    every = np.arange(n)
    if kind == "random":
        return rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)
    if kind == "stars":
        return rng.integers(0, max(1, n // 20), n), every
    if kind == "hubs":
        return np.repeat(np.arange(min(3, n)), n), np.tile(every, min(3, n))
    if kind == "cliques":
        return tuple(np.nonzero(every[:, None] // 7 == every[None, :] // 7))
    if kind == "complete":
        return tuple(np.nonzero(np.ones((n, n), bool)))
    if kind == "path":
        return every[:-1], every[1:]
    return every[:0], every[:0]


def _graph(kind: str, n: int, seed: int) -> Graph:
    source, target = _edges(kind, n, np.random.default_rng(seed))
    built = build_csr(source, target, n)
    none = np.zeros(0, np.int64)
    meta = GraphMeta(
        name=kind, dataset={}, fingerprint="", num_nodes=n, num_edges=len(source), num_features=1, num_classes=2,
        class_names=["a", "b"], train_nodes=n, val_nodes=0, test_nodes=0, directed=True, isolated_nodes=0, self_loops=0,
        duplicate_edges=0, max_in_degree=0, split="random",
    )  # fmt: skip
    zeros = np.zeros(n, np.int64)
    return Graph(Path(), meta, built.indptr, built.indices, np.zeros((n, 1), np.float32), zeros, zeros, none, none)


@pytest.mark.parametrize("method", ["metis", "random", "fennel", "ldg"])
@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["random", "stars", "hubs", "cliques", "complete", "path", "no edges"]),
    n=st.sampled_from([1, 2, 5, 20, 80, 300]),
    parts=st.one_of(st.integers(1, 12), st.integers(1, 320)),
    share=st.floats(0.0, 1.0),
    seed=st.integers(0, 10**6),
)
def test_what_a_method_makes_is_proven(method: str, kind: str, n: int, parts: int, share: float, seed: int) -> None:
    graph, asked = _graph(kind, n, seed), Partition(method=method, parts=parts, per_batch=max(1, int(share * parts)))
    with TemporaryDirectory() as folder:
        part, report = cached_partition(graph, parts, method, seed, Path(folder))
    batches = ClusterBatches(graph, part, report, asked.per_batch, 2, seed)
    for epoch in range(2):
        assert sum(len(batch.nodes) for batch in batches.epoch(epoch)) == n
    assert list(cluster_faults(asked, batches.counters() | {"num_nodes": n, "epochs": 2})) == []
