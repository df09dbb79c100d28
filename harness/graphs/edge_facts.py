"""What the edges are like, counted: for `graph.json` and for whoever expects a run's memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.csr import Csr, source_degree, transpose


@dataclass(frozen=True)
class EdgeFacts:
    """What `graph.json` says about the edges.

    Attributes:
        directed: some edge has no reverse (counting how often each occurs).
        isolated_nodes: nodes without an edge to or from another node.
        self_loops: edges from a node to itself.
        duplicate_edges: edges beyond the first between the same source and target.
        max_in_degree: most edges that end in one node.
        degrees: nodes whose in- and out-degrees are alike up to a power of two: their number, and the sums of both.
    """

    directed: bool
    isolated_nodes: int
    self_loops: int
    duplicate_edges: int
    max_in_degree: int
    degrees: list[tuple[int, int, int]]


def edge_facts(csr: Csr) -> EdgeFacts:
    """Counts over all edges; O(edges + nodes)."""
    self_loops, duplicates, touched = _count(csr.indptr, csr.indices)
    degrees = np.diff(csr.indptr)
    return EdgeFacts(
        directed=not _is_symmetric(csr),
        isolated_nodes=int(csr.num_nodes - touched),
        self_loops=int(self_loops),
        duplicate_edges=int(duplicates),
        max_in_degree=int(degrees.max(initial=0)),
        degrees=_binned(degrees, source_degree(csr.indices, csr.num_nodes)),
    )


def _binned(in_degree: np.ndarray, out_degree: np.ndarray) -> list[tuple[int, int, int]]:
    """Nodes, edges that end in them and edges that start in them, of each bin that has nodes; bins are 0, 1, 2 to 3,
    4 to 7, … of both degrees."""
    bins = np.frexp(in_degree)[1].astype(np.int64) * 64 + np.frexp(out_degree)[1]
    sums = (np.bincount(bins, weights=degree) for degree in (None, in_degree, out_degree))
    return [(int(nodes), int(i), int(o)) for nodes, i, o in zip(*sums, strict=True) if nodes]


def _is_symmetric(csr: Csr) -> bool:
    """The transpose has the same rows."""
    indptr, indices = transpose(csr.indptr, csr.indices)
    return np.array_equal(indptr, csr.indptr) and np.array_equal(indices, csr.indices)


@compiled
def _count(indptr: np.ndarray, indices: np.ndarray) -> tuple[int, int, int]:
    """Self-loops, duplicates, and nodes with an edge to or from another node."""
    self_loops = 0
    duplicates = 0
    touched = np.zeros(len(indptr) - 1, np.bool_)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            if indices[e] == v:
                self_loops += 1
            else:
                touched[v] = True
                touched[indices[e]] = True
            if e > indptr[v] and indices[e] == indices[e - 1]:
                duplicates += 1
    return self_loops, duplicates, touched.sum()
