"""A graph's adjacency as the compiled loops take it: checked, read-only, its self-loops counted."""

from __future__ import annotations

import numpy as np

from harness.batches.compiled import compiled


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


def check_csr(indptr: np.ndarray, indices: np.ndarray) -> None:
    """Raise ValueError unless the two arrays are the CSR of a square matrix; the loops check no bounds."""
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise ValueError(f"indptr and indices must be one-dimensional; got shapes {indptr.shape}, {indices.shape}")
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(f"indptr and indices must be integers; got {indptr.dtype} and {indices.dtype}")
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"indptr must rise from 0 to the number of edges, {len(indices)}")
    num_nodes = len(indptr) - 1
    if len(indices) and (indices.min() < 0 or indices.max() >= num_nodes):
        raise ValueError(f"indices must lie in 0..{num_nodes - 1}; got {indices.min()}..{indices.max()}")


def read_only(array: np.ndarray, dtype: type) -> np.ndarray:
    """A read-only, contiguous view (a copy only for another dtype): one compiled form serves arrays and maps."""
    view: np.ndarray = np.ascontiguousarray(np.asarray(array), dtype=dtype).view()
    view.flags.writeable = False
    return view


def read_only_ids(indices: np.ndarray) -> np.ndarray:
    """Node ids as the loops take them: int32 where they are so, else int64."""
    return read_only(indices, np.int32 if indices.dtype == np.int32 else np.int64)
