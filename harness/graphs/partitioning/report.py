"""What a partition cuts, how even it is, and how far it is from chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.csr import check_csr
from harness.graphs.partitioning.chance import Chance, kept_by_chance
from harness.graphs.partitioning.streaming import fennel, ldg
from harness.graphs.partitioning.undirected import UndirectedGraph, plain_csr
from harness.graphs.read_only import read_only
from harness.plan.partitions import balance

CLEAR = 20.0  # standard deviations; below, a second cut tells whether the graph has something to keep at all


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
    indptr: np.ndarray,
    indices: np.ndarray,
    simple: UndirectedGraph,
    part: np.ndarray,
    method: str,
    parts: int,
    seed: int = 0,
) -> dict[str, Any]:
    """What depends on the graph's structure and its parts alone, as `harness.plan.partitions.PartitionReport` has it.

    Args:
        indptr, indices: the graph as stored, a valid CSR: of its edges the shares are.
        simple: the same, undirected: of its edges the comparison with chance is.
        part: int64, ``[num_nodes]``.
        method: that made it.
        parts: asked for.
        seed: that they were made with.
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
        "reachable_sigmas": None if sigmas >= CLEAR or method == "random" else _reachable(simple, parts, method, seed),
        "balance": {"nodes": balance(sizes), "edges": balance(arriving)},
    }


def _kept(graph: UndirectedGraph, part: np.ndarray) -> float:
    """Edges inside parts, each counted once."""
    return graph.num_edges * (1.0 - _cut_share(graph.indptr, graph.indices, part))


def _by_chance(graph: UndirectedGraph, part: np.ndarray) -> Chance:
    return kept_by_chance(np.diff(graph.indptr), np.bincount(part))


def _reachable(graph: UndirectedGraph, parts: int, method: str, seed: int) -> float:
    """How far above chance a second cut comes: what says that there is something to keep.

    The streaming methods are held to each other's result of a pass or two. METIS is held to METIS: where all edges
    go to a few hubs, streaming keeps more than chance does and METIS does not.
    """
    if not 1 < parts < graph.num_nodes or graph.num_edges == 0:
        return 0.0
    if method == "metis":
        other = _metis_again(graph, parts, seed)
    elif method == "ldg":
        other = fennel(graph, parts, seed=0, passes=2)
    else:
        other = ldg(graph, parts, seed=0)
    return _by_chance(graph, other).sigmas(_kept(graph, other))


def _metis_again(graph: UndirectedGraph, parts: int, seed: int) -> np.ndarray:
    """Asked of the library itself, so that a fault in `metis` or on the way to it is not repeated here.

    The seed is the one that `metis` gives it: an honest partition is held to exactly itself.
    """
    import pymetis

    width = np.dtype(pymetis.zero_copy_dtype())
    csr = pymetis.CSRAdjacency(graph.indptr.astype(width), graph.indices.astype(width))
    return np.asarray(pymetis.part_graph(parts, csr, options=pymetis.Options(seed=1 + seed % (2**31 - 1)))[1])


@compiled
def _edges_cut(indptr: np.ndarray, indices: np.ndarray, part: np.ndarray) -> int:
    cut = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            cut += part[indices[e]] != part[v]
    return cut
