"""Parts of a graph: METIS or random, what they cut, and a cache keyed by content."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from filelock import FileLock

from harness.graphs.csr import check_csr
from harness.graphs.graph import Graph
from harness.spec.errors import InputError, Problem

PARTITION_VERSION = 1  # raise it when the same graph, k, method and seed would give other parts
METHODS = ("metis", "random")
_SLICE = 1 << 24  # edges looked at together, so that a graph larger than memory can be cut


def partition(
    indptr: np.ndarray, indices: np.ndarray, parts: int = 32, method: str = "metis", seed: int = 0
) -> np.ndarray:
    """The part of each node.

    ``metis`` minimises the edges between parts of nearly equal size (Karypis and Kumar 1998, k-way; recursive
    bisection up to 8 parts). METIS wants an undirected graph: edges are symmetrised, self-loops and repeated
    edges dropped. It is deterministic: the same seed gives the same parts. ``random`` deals the nodes out in
    random order, so that sizes differ by at most one.

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``.
        indices: CSR columns, ``[num_edges]``; directed or not.
        parts: how many; more than there are nodes gives every node a part of its own.
        method: ``metis`` or ``random``.
        seed: of either method.

    Returns:
        int64, ``[num_nodes]``, values in ``0 .. min(parts, num_nodes) - 1``. METIS can leave parts empty where
        parts are tiny.

    Raises:
        ValueError: parts below 1, an unknown method, or arrays that are not a CSR.
    """
    if method not in METHODS:
        raise ValueError(f"partition method {method!r} is not available in this version; use {' or '.join(METHODS)}")
    if parts < 1:
        raise ValueError(f"parts must be at least 1; got {parts}")
    check_csr(indptr, indices)
    num_nodes = len(indptr) - 1
    parts = min(parts, num_nodes)
    if parts <= 1:
        return np.zeros(num_nodes, dtype=np.int64)
    if parts == num_nodes:  # the only balanced answer; METIS would leave parts empty
        return np.arange(num_nodes, dtype=np.int64)
    if method == "random":
        return _random(num_nodes, parts, seed)
    return _metis(indptr, indices, parts, seed)


def edge_cut(indptr: np.ndarray, indices: np.ndarray, part: np.ndarray) -> float:
    """Share of edges whose ends lie in different parts.

    Args:
        indptr: CSR row pointer, int64, shape ``[num_nodes + 1]``.
        indices: CSR columns, shape ``[num_edges]``; both directions of an edge counted.
        part: part of each node, int, shape ``[num_nodes]``.

    Returns:
        A fraction in [0, 1]; 0.0 for a graph without edges.

    Raises:
        ValueError: ``part`` has another length than the graph has nodes.
    """
    if len(part) != len(indptr) - 1:
        raise ValueError(f"part has {len(part)} entries for a graph of {len(indptr) - 1} nodes")
    if len(indices) == 0:
        return 0.0
    part = np.asarray(part)
    cut = sum(int(np.count_nonzero(part[rows] != part[cols])) for rows, cols in _edge_slices(indptr, indices))
    return cut / len(indices)


def cached_partition(
    graph: Graph, parts: int, method: str, seed: int, cache_dir: Path
) -> tuple[np.ndarray, dict[str, Any]]:
    """The parts of a prepared graph, made once; whoever comes second waits for the first.

    The key is a hash of the graph's structure itself, parts, method, seed and the versions of the partitioner:
    another graph can never be given these parts, and other features on the same structure share them.

    Returns:
        The part of each node (int64, ``[num_nodes]``), and a report: ``method``, ``parts`` (asked for),
        ``non_empty_parts``, ``edge_cut`` and ``kept_edge_share`` (edges inside parts; fractions of all edges),
        ``balance`` of ``nodes``, ``edges`` (by their destination) and ``train`` labels (largest part over the
        mean, 1.0 where there is nothing to balance), ``seconds`` the making took, and ``cached``: whether it
        was made earlier.

    Raises:
        ValueError: as `partition`. InputError: a file in the cache cannot be read.
    """
    path = Path(cache_dir) / f"{_cache_key(graph, parts, method, seed)}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):
        cached = path.exists()
        if cached:
            part, seconds = _read(path, graph.num_nodes)
        else:
            started = time.perf_counter()
            part = partition(graph.indptr, graph.indices, parts, method, seed)
            seconds = time.perf_counter() - started
            _write(path, part, seconds)
    return part, {"method": method, "parts": parts, **_report(graph, part, parts), "seconds": seconds, "cached": cached}


def _random(num_nodes: int, parts: int, seed: int) -> np.ndarray:
    part = np.empty(num_nodes, dtype=np.int64)
    part[np.random.default_rng(seed % 2**64).permutation(num_nodes)] = np.arange(num_nodes) % parts
    return part


def _metis(indptr: np.ndarray, indices: np.ndarray, parts: int, seed: int) -> np.ndarray:
    import pymetis

    graph = _undirected(indptr, indices)
    if graph.nnz == 0:  # nothing to cut: any balanced answer is a best one
        return _random(len(indptr) - 1, parts, seed)
    width = np.dtype(pymetis.zero_copy_dtype())
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(width), graph.indices.astype(width))
    _, part = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed % 2**31))
    return np.asarray(part, dtype=np.int64)


def _undirected(indptr: np.ndarray, indices: np.ndarray) -> sp.csr_array:
    """The graph with each edge in both directions exactly once, and no self-loops."""
    n = len(indptr) - 1
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(indptr))
    cols = np.asarray(indices, dtype=np.int64)
    real = rows != cols
    rows, cols = rows[real], cols[real]
    ends = (np.concatenate([rows, cols]), np.concatenate([cols, rows]))
    graph = sp.csr_array((np.ones(len(ends[0]), dtype=np.bool_), ends), shape=(n, n))
    graph.sum_duplicates()
    return graph


def _report(graph: Graph, part: np.ndarray, parts: int) -> dict[str, Any]:
    nodes = np.bincount(part, minlength=min(parts, max(graph.num_nodes, 1)))
    edges = np.bincount(part, weights=np.diff(graph.indptr), minlength=len(nodes))
    train = np.bincount(part[graph.train], minlength=len(nodes))
    cut = edge_cut(graph.indptr, graph.indices, part)
    return {
        "non_empty_parts": int(np.count_nonzero(nodes)),
        "edge_cut": cut,
        "kept_edge_share": 1.0 - cut,
        "balance": {"nodes": _balance(nodes), "edges": _balance(edges), "train": _balance(train)},
    }


def _balance(amounts: np.ndarray) -> float:
    """The largest over the mean; 1.0 is even."""
    return float(amounts.max() / amounts.mean()) if amounts.any() else 1.0


def _edge_slices(indptr: np.ndarray, indices: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All edges as (row, column) arrays, some at a time."""
    for start in range(0, len(indices), _SLICE):
        stop = min(start + _SLICE, len(indices))
        first = int(np.searchsorted(indptr, start, side="right")) - 1
        last = int(np.searchsorted(indptr, stop, side="left"))
        ends = np.clip(indptr[first : last + 1], start, stop)
        yield np.repeat(np.arange(first, last), np.diff(ends)), np.asarray(indices[start:stop])


def _cache_key(graph: Graph, parts: int, method: str, seed: int) -> str:
    structure = hashlib.sha256()
    for array in (graph.indptr, graph.indices):
        structure.update(f"{array.dtype.str} {array.shape} ".encode())
        structure.update(np.ascontiguousarray(array).data)
    made_by = {"harness": PARTITION_VERSION, "pymetis": version("pymetis") if method == "metis" else None}
    identity = {"structure": structure.hexdigest(), "parts": parts, "method": method, "seed": seed, "by": made_by}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]


def _write(path: Path, part: np.ndarray, seconds: float) -> None:
    """Under another name first: a partition is either whole or not there. The caller holds the lock."""
    unfinished = path.with_suffix(".tmp")
    with unfinished.open("wb") as file:
        np.savez(file, part=part, seconds=seconds)
    os.replace(unfinished, path)


def _read(path: Path, num_nodes: int) -> tuple[np.ndarray, float]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            part, seconds = stored["part"], float(stored["seconds"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            Problem(file=str(path), message=f"this cached partition cannot be read ({error}); delete it")
        ) from error
    if part.shape != (num_nodes,):
        raise InputError(
            Problem(
                file=str(path), message=f"this cached partition has shape {part.shape}, not ({num_nodes},); delete it"
            )
        )
    return part, seconds
