"""Graphs of a few lines, for the tests of partitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.graphs.csr import build_csr
from harness.graphs.graph import Graph, GraphMeta

Csr = tuple[np.ndarray, np.ndarray]


def csr(n: int, edges: list[tuple[int, int]]) -> Csr:
    target = np.array([t for _, t in edges], dtype=np.int64)
    source = np.array([s for s, _ in edges], dtype=np.int32)
    order = np.argsort(target, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(target, minlength=n))]).astype(np.int64), source[order]


def communities(k: int, size: int, seed: int = 0) -> Csr:
    """k dense groups with a few edges between them; group of node v is v % k."""
    rng = np.random.default_rng(seed)
    n = k * size
    a = rng.integers(0, n, 12 * n)
    b = np.where(rng.random(12 * n) < 0.95, rng.integers(0, size, 12 * n) * k + a % k, rng.integers(0, n, 12 * n))
    return csr(n, list(zip(a.tolist(), b.tolist(), strict=True)))


def graph_of(indptr: np.ndarray, indices: np.ndarray, train: np.ndarray | None = None) -> Graph:
    n = len(indptr) - 1
    train = np.arange(0, n, 3) if train is None else train
    sizes = {"num_nodes": n, "num_edges": len(indices), "num_features": 1, "num_classes": 2, "max_in_degree": 0}
    splits = {"train_nodes": len(train), "val_nodes": 0, "test_nodes": 0, "split": "random"}
    facts = {"directed": True, "isolated_nodes": 0, "self_loops": 0, "duplicate_edges": 0}
    meta = GraphMeta(name="g", dataset={}, fingerprint="same", class_names=["a", "b"], **sizes, **splits, **facts)
    none = np.zeros(0, np.int64)
    return Graph(
        Path("."), meta, indptr, indices, np.zeros((n, 1), np.float32), np.zeros(n, np.int64), train, none, none
    )


def block_model(n: int, k: int, mean_degree: int, inside: float, seed: int) -> Csr:
    """A stochastic block model: k equal groups, exactly that share of distinct edges inside them, numbers shuffled."""
    rng = np.random.default_rng(seed)
    edges = n * mean_degree // 2

    def drawn(count: int, same: bool) -> np.ndarray:
        keys = np.zeros(0, np.int64)
        while len(keys) < count:
            a = rng.integers(0, n, count)
            b = rng.integers(0, n // k, count) * k + a % k if same else rng.integers(0, n, count)
            fits = (a != b) & ((a % k == b % k) == same)
            keys = np.unique(np.concatenate([keys, np.minimum(a, b)[fits] * n + np.maximum(a, b)[fits]]))
        return rng.permutation(keys)[:count]

    keys = np.concatenate([drawn(round(inside * edges), True), drawn(edges - round(inside * edges), False)])
    number = rng.permutation(n)
    built = build_csr(number[keys // n], number[keys % n], n, undirected=True)
    return built.indptr, built.indices
