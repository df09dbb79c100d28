"""A graph's edges as one hash: what its partitions belong to."""

from __future__ import annotations

import hashlib

import numpy as np

_CHUNK = 1 << 22  # entries looked at together, so that a memory map is never wholly in memory


def structure_hash(indptr: np.ndarray, indices: np.ndarray) -> str:
    """SHA-256 over the two arrays: dtype, shape and bytes of each.

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``.
        indices: CSR columns, ``[num_edges]``.
    """
    digest = hashlib.sha256()
    for array in (indptr, indices):
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        for first in range(0, len(array), _CHUNK):
            digest.update(memoryview(np.ascontiguousarray(array[first : first + _CHUNK])).cast("B"))
    return digest.hexdigest()
