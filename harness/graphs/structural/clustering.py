"""How many of a node's neighbours know each other."""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.csr import Csr


def clustering_coefficient(simple: Csr) -> np.ndarray:
    """Share of the pairs of a node's neighbours that have an edge (Watts and Strogatz 1998), float64, ``[num_nodes]``.

    Self-loops do not count; a node with fewer than two neighbours has 0. Every edge is turned to its end of higher
    degree first, so that a hub's list is never walked for each of its neighbours: O(edges ** 1.5) (Latapy 2008).

    Args:
        simple: from `undirected`.
    """
    triangles, degree = _triangles(simple.indptr, simple.indices)
    pairs = degree * (degree - 1) / 2.0
    return triangles / np.maximum(pairs, 1.0)


@compiled
def _triangles(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Triangles and neighbours of each node."""
    n = len(indptr) - 1
    degree = np.zeros(n, np.int64)
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            degree[v] += indices[e] != v
    upward, ends = _turned_upward(indptr, indices, degree)
    triangles = np.zeros(n, np.int64)
    seen_from = np.full(n, -1, np.int64)
    for u in range(n):
        for e in range(upward[u], upward[u + 1]):
            seen_from[ends[e]] = u
        for e in range(upward[u], upward[u + 1]):
            v = ends[e]
            for third in range(upward[v], upward[v + 1]):
                w = ends[third]
                if seen_from[w] == u:
                    triangles[u] += 1
                    triangles[v] += 1
                    triangles[w] += 1
    return triangles, degree


@compiled
def _turned_upward(indptr: np.ndarray, indices: np.ndarray, degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """CSR of the edges from each node to those of higher degree, or of equal degree and higher number."""
    n = len(degree)
    upward = np.zeros(n + 1, np.int64)
    ends = np.empty(len(indices), indices.dtype)
    kept = 0
    for v in range(n):
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if degree[w] > degree[v] or (degree[w] == degree[v] and w > v):
                ends[kept] = w
                kept += 1
        upward[v + 1] = kept
    return upward, ends[:kept]
