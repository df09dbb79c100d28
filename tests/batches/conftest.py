"""Small graphs, built in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.graphs.graph import Graph, GraphMeta


def csr(num_nodes: int, source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows are targets, their sources sorted."""
    order = np.lexsort((source, target))
    indptr = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(np.bincount(target, minlength=num_nodes), out=indptr[1:])
    return indptr, source[order].astype(np.int32)


def graph_of(indptr: np.ndarray, indices: np.ndarray, train: np.ndarray | None = None, features: int = 4) -> Graph:
    n = len(indptr) - 1
    train = np.arange(0, n, 2) if train is None else np.asarray(train, dtype=np.int64)
    rest = np.setdiff1d(np.arange(n), train)
    meta = GraphMeta(
        name="small",
        dataset={},
        fingerprint="0",
        num_nodes=n,
        num_edges=len(indices),
        num_features=features,
        num_classes=2,
        class_names=["a", "b"],
        train_nodes=len(train),
        val_nodes=0,
        test_nodes=len(rest),
        directed=True,
        isolated_nodes=0,
        self_loops=int((np.repeat(np.arange(n), np.diff(indptr)) == indices).sum()),
        duplicate_edges=0,
        max_in_degree=int(np.diff(indptr).max(initial=0)),
        split="random",
    )
    x = np.random.default_rng(n).standard_normal((n, features)).astype(np.float32)
    y = np.arange(n, dtype=np.int64) % 2
    return Graph(Path("."), meta, indptr, indices, x, y, train, np.zeros(0, np.int64), rest)


@pytest.fixture(scope="session")
def skewed() -> tuple[np.ndarray, np.ndarray]:
    """2,000 nodes, 30,000 directed edges: hubs, self-loops, repeated edges, and 100 isolated nodes."""
    rng = np.random.default_rng(7)
    weight = rng.pareto(1.2, 1900) + 0.2
    source, target = (rng.choice(1900, 30_000, p=weight / weight.sum()) for _ in range(2))
    graph = csr(2000, source, target)
    for array in graph:  # shared by all tests
        array.flags.writeable = False
    return graph


@pytest.fixture(scope="session")
def make_graph() -> Callable[..., Graph]:
    return graph_of


@pytest.fixture(scope="session")
def make_csr() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    return csr
