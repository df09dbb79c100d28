"""The graphs that benchmarks run on, and why one is left out."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.plan.ids import dataset_id
from harness.spec.dataset import Builtin, Dataset, Files, Split

SPLIT = Split(kind="random", train=0.6, val=0.2, seed=0)
DEBIAN = Path(os.environ.get("HARNESS_DATA", "data")) / "files" / "debian12_deps.npz"


def wordnet() -> Graph:
    """117,659 synsets, 367,578 edges, 1,024 features; shipped with the package."""
    return prepared(Builtin(source="builtin", name="wordnet", split=SPLIT))


def debian() -> Graph | None:
    """Dependencies of Debian's packages; None where $HARNESS_DATA does not hold them."""
    if not DEBIAN.is_file():
        return None
    return prepared(Files(source="files", path=str(DEBIAN.resolve()), split=SPLIT))


def prepared(dataset: Dataset) -> Graph:
    """From `$HARNESS_CACHE`, built there if need be."""
    return open_graph(prepare(dataset, dataset_id(dataset, Path.cwd()), Path.cwd()))


def power_law(nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    """CSR with heavy-tailed in- and out-degrees, int64 and int32."""
    rng = np.random.default_rng(0)
    weight = rng.pareto(1.5, nodes) + 1.0
    ends = np.cumsum(weight)
    source, target = (np.searchsorted(ends, rng.random(edges) * ends[-1]).astype(np.int32) for _ in range(2))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=nodes))])
    return indptr, source[np.argsort(target, kind="stable")]


def block_model(
    nodes: int = 50_000, communities: int = 100, mean_degree: float = 14, inside: float = 0.8, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """CSR of a stochastic block model of equal communities, symmetric, int64 and int32."""
    rng = np.random.default_rng(seed)
    community = rng.permutation(nodes) % communities
    members = np.argsort(community, kind="stable")
    start = np.searchsorted(community[members], np.arange(communities))
    size = np.bincount(community, minlength=communities)
    edges = round(nodes * mean_degree / 2)
    u = rng.integers(0, nodes, edges)
    within = members[start[community[u]] + (rng.random(edges) * size[community[u]]).astype(np.int64)]
    v = np.where(rng.random(edges) < inside, within, rng.integers(0, nodes, edges))
    source, target = np.concatenate([u, v]), np.concatenate([v, u])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=nodes))])
    return indptr, source[np.argsort(target, kind="stable")].astype(np.int32)
