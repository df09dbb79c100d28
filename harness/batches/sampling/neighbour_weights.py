"""What a node weighs as a neighbour: by its degree, by its PageRank, or as a person gives it."""

from __future__ import annotations

import numpy as np

from harness.graphs.csr import source_degree
from harness.graphs.structural.pagerank import pagerank

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
