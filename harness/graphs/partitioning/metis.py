"""METIS, through pymetis."""

from __future__ import annotations

import numpy as np

from harness.graphs.partitioning.undirected import UndirectedGraph


def metis(graph: UndirectedGraph, parts: int, seed: int) -> np.ndarray:
    """Multilevel k-way partition (Karypis and Kumar 1998), by recursive bisection up to 8 parts.

    METIS has integers of one width for everything: the graph is copied to it, 8 bytes a direction of an edge.

    Args:
        graph: with at least one edge.
        parts: 2 .. num_nodes - 1.
        seed: METIS takes 31 bits of it. It seeds C's `srand`, to which 0 and 1 are the same in glibc: 0 is left out.

    Returns:
        int64, ``[num_nodes]``; parts may be empty where they are tiny.
    """
    import pymetis

    width = np.dtype(pymetis.zero_copy_dtype())
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(width), graph.indices.astype(width))
    _, part = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=1 + seed % (2**31 - 1)))
    return np.asarray(part, dtype=np.int64)
