"""The self-loops of a graph."""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.read_only import read_only, read_only_ids


@compiled
def _self_loops(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    loops = np.zeros(len(indptr) - 1, np.int64)
    for node in range(len(loops)):
        for e in range(indptr[node], indptr[node + 1]):
            loops[node] += indices[e] == node
    return loops


def self_loops(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray | None:
    """Edges from each node to itself, int64, ``[num_nodes]``; None where there are none at all."""
    loops: np.ndarray = _self_loops(read_only(indptr, np.int64), read_only_ids(indices))
    return loops if loops.any() else None
