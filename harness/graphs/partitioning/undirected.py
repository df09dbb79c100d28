"""The graph that a partitioner sees: undirected and simple, without a copy where it is so already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.read_only import read_only


@dataclass(frozen=True)
class UndirectedGraph:
    """Each edge in both directions exactly once, no self-loops, rows sorted.

    Attributes:
        indptr: int64, ``[num_nodes + 1]``, read-only.
        indices: int32, or int64 from 2**31 nodes on, ``[2 * num_edges]``, read-only.
    """

    indptr: np.ndarray
    indices: np.ndarray

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        return len(self.indices) // 2


def undirected(indptr: np.ndarray, indices: np.ndarray) -> UndirectedGraph:
    """Add the missing directions, drop self-loops and repetitions; O(edges), and each row sorted.

    The arrays themselves are used where nothing has to be added or dropped, which costs 8 bytes a node to find out;
    else the answer takes up to 8 bytes an edge (at int32).

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``.
        indices: CSR columns in ``0 .. num_nodes - 1``, ``[num_edges]``; not checked here.
    """
    indptr, indices = plain_csr(indptr, indices)
    if not _is_undirected(indptr, indices):
        indptr, indices = plain_csr(*_symmetrised(indptr, indices))
    return UndirectedGraph(indptr, indices)


def plain_csr(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Read-only views of one type, so that each loop is compiled once; copies only where types differ."""
    ids = np.int32 if len(indptr) - 1 < 2**31 else np.int64
    return read_only(indptr, np.int64), read_only(indices, ids)


@compiled
def _is_undirected(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Rows rise strictly, hold no self-loop, and equal those of the transpose.

    Rows are visited in order, so the sources of a node come in order too: each must be the next entry of its row.
    """
    n = len(indptr) - 1
    due = indptr[:-1].copy()
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u == v or (e > indptr[v] and indices[e - 1] >= u):
                return False
            if due[u] == indptr[u + 1] or indices[due[u]] != v:
                return False
            due[u] += 1
    return True


@compiled
def _symmetrised(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both directions of every edge, each row sorted and then thinned where it lies."""
    n = len(indptr) - 1
    starts = np.zeros(n + 1, np.int64)
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            if indices[e] != v:
                starts[v + 1] += 1
                starts[indices[e] + 1] += 1
    for v in range(n):
        starts[v + 1] += starts[v]
    place = starts[:-1].copy()
    both = np.empty(starts[n], indices.dtype)
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u != v:
                both[place[v]] = u
                place[v] += 1
                both[place[u]] = v
                place[u] += 1
    kept = 0
    first = 0
    for v in range(n):
        both[first : starts[v + 1]].sort()
        row = kept
        for e in range(first, starts[v + 1]):
            if kept == row or both[kept - 1] != both[e]:
                both[kept] = both[e]
                kept += 1
        first = starts[v + 1]
        starts[v + 1] = kept
    return starts, both[:kept]
