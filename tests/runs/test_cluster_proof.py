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
from harness.graphs.partitioning import methods
from harness.graphs.partitioning.methods import random_parts
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
    return _graph_of(*_edges(kind, n, np.random.default_rng(seed)), n)


def _graph_of(source: np.ndarray, target: np.ndarray, n: int) -> Graph:
    built = build_csr(source, target, n)
    none = np.zeros(0, np.int64)
    meta = GraphMeta(
        name="g", dataset={}, fingerprint="", num_nodes=n, num_edges=len(source), num_features=1, num_classes=2,
        class_names=["a", "b"], train_nodes=n, val_nodes=0, test_nodes=0, directed=True, isolated_nodes=0, self_loops=0,
        duplicate_edges=0, max_in_degree=0, split="random",
    )  # fmt: skip
    zeros = np.zeros(n, np.int64)
    return Graph(Path(), meta, built.indptr, built.indices, np.zeros((n, 1), np.float32), zeros, zeros, none, none)


@pytest.mark.parametrize("method", ["metis", "random", "fennel", "ldg"])
@settings(max_examples=60)
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


def _faults(graph: Graph, method: str, parts: int, folder: Path) -> tuple[list[str], dict]:
    asked = Partition(method=method, parts=parts, per_batch=max(1, parts // 10))
    part, report = cached_partition(graph, parts, method, 0, folder)
    batches = ClusterBatches(graph, part, report, asked.per_batch, 2, 0)
    assert sum(len(batch.nodes) for batch in batches.epoch(0)) == len(part)
    counters = batches.counters() | {"num_nodes": len(part), "epochs": 1}
    return list(cluster_faults(asked, counters)), report


def _hubs(n: int = 5_000, hubs: int = 50, degree: int = 20) -> Graph:
    """Each node linked to 20 of 50 hubs: streaming keeps more than chance does, METIS does not."""
    rng = np.random.default_rng(0)
    return _graph_of(rng.integers(0, hubs, n * degree), np.repeat(np.arange(n), degree), n)


def test_metis_is_not_held_to_what_only_streaming_keeps(tmp_path: Path) -> None:
    graph = _hubs()
    faults, metis = _faults(graph, "metis", 500, tmp_path)
    _, ldg = _faults(graph, "ldg", 500, tmp_path)
    assert metis["kept_sigmas"] < 4
    assert metis["kept_by_chance"] > 8
    assert ldg["kept_sigmas"] > 20
    assert metis["reachable_sigmas"] == metis["kept_sigmas"]
    assert faults == []


@pytest.mark.parametrize("parts", [8, 40, 150])
def test_random_parts_under_the_name_of_metis_are_found(
    tmp_path: Path, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the fault lies in the function that calls METIS."""
    monkeypatch.setattr(methods, "metis", lambda graph, parts, seed: random_parts(graph.num_nodes, parts, seed))
    rng = np.random.default_rng(0)
    source = rng.integers(0, 3_000, 30_000)
    near = (source + rng.integers(1, 12, len(source))) % 3_000
    faults, report = _faults(_graph_of(source, near, 3_000), "metis", parts, tmp_path)
    assert report["reachable_sigmas"] > 20
    assert any("partition.method is metis" in fault and "more to keep" in fault for fault in faults)
