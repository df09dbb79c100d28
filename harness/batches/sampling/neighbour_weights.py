"""What a node weighs as a neighbour: by its degree, by its PageRank, or as a person gives it."""

from __future__ import annotations

import math

import numpy as np

from harness.batches.adjacency import read_only, read_only_ids
from harness.batches.compiled import compiled

KINDS = ("degree", "pagerank")
_LEAST, _MOST = 1e-250, 1e250  # within them no key u / weight leaves the normal range of float64


def neighbour_weights(indptr: np.ndarray, indices: np.ndarray, kind: str = "degree") -> np.ndarray:
    """A weight for each node, float64, ``[num_nodes]``; positive for every node that some node receives from.

    Args:
        indptr, indices: CSR; ``indices[indptr[v]:indptr[v+1]]`` are the nodes that v receives messages from.
        kind: ``degree``: how often the node is a source; ``pagerank``: see `pagerank`.

    Raises:
        ValueError: another kind.
    """
    if kind == "degree":
        return source_degree(indices, len(indptr) - 1).astype(np.float64)
    if kind == "pagerank":
        return pagerank(indptr, indices)
    raise ValueError(f"weights must be {' or '.join(KINDS)}, or one number a node; got {kind!r}")


def source_degree(indices: np.ndarray, num_nodes: int) -> np.ndarray:
    """How often each node is the source of an edge, int64, ``[num_nodes]``."""
    return np.bincount(indices, minlength=num_nodes) if len(indices) else np.zeros(num_nodes, np.int64)


def pagerank(indptr: np.ndarray, indices: np.ndarray, damping: float = 0.85, tolerance: float = 1e-8) -> np.ndarray:
    """PageRank (Page, Brin, Motwani and Winograd 1999) along the messages: a source passes its rank to its targets.

    The rank r solves ``r = (1 - damping) / n + damping * (P r + dangling / n)``, where each edge passes its
    source's rank over the source's out-degree, a repeated edge as often as it is there, and ``dangling`` is the
    rank of all nodes that are no source. By power iteration.

    Args:
        indptr, indices: CSR, rows receive.
        damping: in [0, 1).
        tolerance: most that the result may differ from the solution, summed over all nodes; above 0.

    Returns:
        float64, ``[num_nodes]``, positive, of sum 1.

    Raises:
        ValueError: a damping or a tolerance out of its range.
    """
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping must lie in [0, 1); got {damping}")
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be above 0; got {tolerance}")
    n = len(indptr) - 1
    rank = np.full(n, 1.0 / max(n, 1))
    if n == 0 or damping == 0.0:
        return rank
    out_degree = source_degree(indices, n)
    pointer, sources = read_only(indptr, np.int64), read_only_ids(indices)
    # each step shrinks the error by the damping at least: so many are enough, whatever the graph
    for _ in range(max(1, math.ceil(math.log(tolerance / 2.0) / math.log(damping)))):
        before = rank
        rank = _passed_on(pointer, sources, before, out_degree, damping)
        if np.abs(rank - before).sum() * damping <= tolerance * (1.0 - damping):
            break
    return rank / rank.sum()


@compiled
def _passed_on(
    indptr: np.ndarray, indices: np.ndarray, rank: np.ndarray, out_degree: np.ndarray, damping: float
) -> np.ndarray:
    """One step of the power iteration."""
    n = len(rank)
    share = np.zeros(n)
    dangling = 0.0
    for v in range(n):
        if out_degree[v] > 0:
            share[v] = rank[v] / out_degree[v]
        else:
            dangling += rank[v]
    everywhere = (1.0 - damping + damping * dangling) / n
    after = np.empty(n)
    for v in range(n):
        received = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            received += share[indices[e]]
        after[v] = everywhere + damping * received
    return after


def checked_weights(weights: np.ndarray, num_nodes: int) -> np.ndarray:
    """Weights as contiguous float64, ``[num_nodes]``.

    Raises:
        ValueError: not one number a node, or a node's weight is neither 0 nor in 1e-250 .. 1e250.
    """
    given = np.asarray(weights)
    if given.shape != (num_nodes,) or given.dtype.kind not in "iufb":
        raise ValueError(f"weights must be one number a node, [{num_nodes}]; got {given.dtype} of shape {given.shape}")
    given = np.ascontiguousarray(given, dtype=np.float64)
    wrong = ~((given == 0.0) | ((given >= _LEAST) & (given <= _MOST)))  # NaN is neither
    if wrong.any():
        node = int(wrong.argmax())
        raise ValueError(
            f"weights must be 0 or lie in {_LEAST:g}..{_MOST:g}: node {node} has {given[node]} "
            f"({int(wrong.sum())} of {num_nodes} nodes are wrong)"
        )
    return given


def kept_edges(indices: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Place in ``indices`` of each edge that `of_positive_weight` leaves, int64; None where it leaves all."""
    kept = (weights > 0.0)[indices]
    return None if kept.all() else np.flatnonzero(kept)


def of_positive_weight(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The CSR without the edges whose source has weight 0, in the same order; the same arrays where there are none."""
    if weights.all():
        return indptr, indices
    kept = (weights > 0.0)[indices]
    if kept.all():
        return indptr, indices
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return before[indptr], indices[kept]
