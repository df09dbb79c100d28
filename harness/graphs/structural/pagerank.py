"""PageRank along the messages."""

from __future__ import annotations

import math

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.csr import source_degree
from harness.graphs.read_only import read_only, read_only_ids


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
