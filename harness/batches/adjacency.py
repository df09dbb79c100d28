"""A graph's adjacency as the compiled loops take it: checked, read-only, its self-loops counted."""

from __future__ import annotations

import numpy as np

from harness.batches.compiled import compiled
from harness.graphs.read_only import read_only

__all__ = ["read_only", "read_only_ids", "self_loops"]


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


def read_only_ids(indices: np.ndarray) -> np.ndarray:
    """Node ids as the loops take them: int32 where they are so, else int64."""
    return read_only(indices, np.int32 if indices.dtype == np.int32 else np.int64)
