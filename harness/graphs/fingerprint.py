"""A graph's content as one hash: the same arrays give the same, whichever source they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

ARRAYS = ("indptr", "indices", "x", "y", "train", "val", "test")
EDGE_ATTR = "edge_attr"  # hashed where there is one
PARTS = {
    "graph": ("indptr", "indices", EDGE_ATTR),
    "features": ("x",),
    "labels": ("y",),
    "splits": ("train", "val", "test"),
}
VERSION = 3  # of what is hashed and how: the builder's version may rise for graphs that stay the same
CHUNK_BYTES = 16 << 20


def fingerprint(arrays: Mapping[str, np.ndarray], num_classes: int) -> str:
    """SHA-256 over all arrays (name, dtype, shape, bytes), the number of classes and `VERSION`.

    Args:
        arrays: the seven arrays of a `Graph`, and `edge_attr` where it has one; C-contiguous, little-endian.
        num_classes: size of the model's output, which the arrays alone do not tell.
    """
    digest = hashlib.sha256(f"harness graph {VERSION} classes {num_classes}".encode())
    for name in (*ARRAYS, *(name for name in [EDGE_ATTR] if name in arrays)):
        _add(digest, name, arrays[name])
    return digest.hexdigest()


def part_fingerprints(arrays: Mapping[str, np.ndarray], num_classes: int) -> dict[str, str]:
    """SHA-256 of each of `PARTS`, by name: likewise over its arrays, `VERSION`, and for labels the number of classes.

    Args:
        arrays: as for `fingerprint`.
        num_classes: likewise.
    """
    found = {}
    for part, names in PARTS.items():
        classes = f" classes {num_classes}" if part == "labels" else ""
        digest = hashlib.sha256(f"harness {part} {VERSION}{classes}".encode())
        for name in names:
            if name in arrays:
                _add(digest, name, arrays[name])
        found[part] = digest.hexdigest()
    return found


def _add(digest: hashlib._Hash, name: str, array: np.ndarray) -> None:
    digest.update(f"|{name} {array.dtype.str} {array.shape}|".encode())
    flat = array.reshape(-1)
    step = max(1, CHUNK_BYTES // array.dtype.itemsize)
    for first in range(0, len(flat), step):
        digest.update(memoryview(np.ascontiguousarray(flat[first : first + step])).cast("B"))
