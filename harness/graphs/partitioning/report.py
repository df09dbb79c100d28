"""What a partition cuts, how even it is, and how far it is from chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from harness.graphs.csr import check_csr
from harness.graphs.partitioning.chance import Chance, kept_by_chance
from harness.graphs.partitioning.streaming import fennel, ldg
from harness.graphs.partitioning.undirected import UndirectedGraph, plain_csr
from harness.graphs.read_only import read_only
from harness.plan.partitions import balance

CLEAR = 20.0  # standard deviations; below, it is tried whether the graph has something to keep at all


def edge_cut(indptr: np.ndarray, indices: np.ndarray, part: np.ndarray) -> float:
    """Share of edges whose ends lie in different parts.

    Args:
        indptr: CSR row pointer, int64, shape ``[num_nodes + 1]``.
        indices: CSR columns, shape ``[num_edges]``; both directions of an edge counted.
        part: part of each node, int, shape ``[num_nodes]``.

    Returns:
        A fraction in [0, 1]; 0.0 for a graph without edges.

    Raises:
        ValueError: the arrays are not a CSR, or ``part`` is not one whole number for each of its nodes.
    """
    check_csr(indptr, indices)
    if part.ndim != 1 or part.dtype.kind not in "iu":
        raise ValueError(f"part must be one whole number a node; got {part.dtype} of shape {part.shape}")
    if len(part) != len(indptr) - 1:
        raise ValueError(f"part has {len(part)} entries for a graph of {len(indptr) - 1} nodes")
    return _cut_share(indptr, indices, part)


def _cut_share(indptr: np.ndarray, indices: np.ndarray, part: np.ndarray) -> float:
    """As `edge_cut`, of arrays that were checked, or made here."""
    if len(indices) == 0:
        return 0.0
    return _edges_cut(*plain_csr(indptr, indices), read_only(part, np.int64)) / len(indices)


def facts_of(
    indptr: np.ndarray, indices: np.ndarray, simple: UndirectedGraph, part: np.ndarray, method: str, parts: int
) -> dict[str, Any]:
    """What depends on the graph's structure and its parts alone, as `harness.plan.partitions.PartitionReport` has it.

    Args:
        indptr, indices: the graph as stored, a valid CSR: of its edges the shares are.
        simple: the same, undirected: of its edges the comparison with chance is.
        part: int64, ``[num_nodes]``.
        method: that made it.
        parts: asked for.
    """
    sizes = np.bincount(part, minlength=min(parts, max(len(part), 1)))
    arriving = np.bincount(part, weights=np.diff(indptr), minlength=len(sizes))
    cut = _cut_share(indptr, indices, part)
    chance, kept = _by_chance(simple, part), _kept(simple, part)
    sigmas = chance.sigmas(kept)
    return {
        "non_empty_parts": int(np.count_nonzero(sizes)),
        "edge_cut": cut,
        "kept_edge_share": 1.0 - cut,
        "kept_by_chance": chance.mean,
        "kept_over_random": chance.ratio(kept),
        "kept_sigmas": sigmas,
        "reachable_sigmas": None if sigmas >= CLEAR or method == "random" else _reachable(simple, parts, method),
        "balance": {"nodes": balance(sizes), "edges": balance(arriving)},
    }


def _kept(graph: UndirectedGraph, part: np.ndarray) -> float:
    """Edges inside parts, each counted once."""
    return graph.num_edges * (1.0 - _cut_share(graph.indptr, graph.indices, part))


def _by_chance(graph: UndirectedGraph, part: np.ndarray) -> Chance:
    return kept_by_chance(np.diff(graph.indptr), np.bincount(part))


def _reachable(graph: UndirectedGraph, parts: int, method: str) -> float:
    """How far above chance another partitioner comes in a pass or two: what says that there is something to keep."""
    if not 1 < parts < graph.num_nodes:
        return 0.0
    other = fennel(graph, parts, seed=0, passes=2) if method == "ldg" else ldg(graph, parts, seed=0)
    return _by_chance(graph, other).sigmas(_kept(graph, other))


@njit(cache=True, nogil=True)
def _edges_cut(indptr: np.ndarray, indices: np.ndarray, part: np.ndarray) -> int:
    cut = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            cut += part[indices[e]] != part[v]
    return cut
