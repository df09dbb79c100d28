"""Neighbours without replacement, every set of positions equally likely; how many is the caller's affair."""

from __future__ import annotations

import numpy as np

from harness.batches.randomness import below
from harness.graphs.compiled import compiled
from harness.graphs.mixing import GOLDEN, mix

_SCANNED = 48  # up to this many, scanning what is taken is faster than marking it


@compiled
def draw_uniform(indptr: np.ndarray, nodes: np.ndarray, ends: np.ndarray, key: np.uint64, out: np.ndarray) -> None:
    """Write to ``out[ends[i]:ends[i+1]]`` as many edges (places in the CSR's indices) of ``nodes[i]``."""
    for row in range(len(nodes)):
        node = nodes[row]
        start = indptr[node]
        d = indptr[node + 1] - start
        at = ends[row]
        k = ends[row + 1] - ends[row]
        if k == d:
            for i in range(d):
                out[at + i] = start + i
            continue
        node_key = mix(key + np.uint64(node) * GOLDEN)
        chosen = out[at : at + k]
        if k > _SCANNED:
            _floyd_marked(node_key, d, chosen)
        else:
            _floyd(node_key, d, chosen)
        for i in range(k):
            chosen[i] += start


@compiled
def _position(node_key: np.uint64, i: int, j: int) -> np.int64:
    """Draw i of a node: a position in the *inclusive* range [0, j]."""
    return np.int64(below(mix(node_key + np.uint64(i + 1) * GOLDEN), np.uint64(j + 1)))


@compiled
def _floyd(node_key: np.uint64, d: int, chosen: np.ndarray) -> None:
    """Fill ``chosen`` with k distinct positions of ``0 .. d-1``, every set of k equally likely; k < d.

    Floyd's algorithm (Bentley and Floyd 1987): for j = d-k .. d-1 take a position of [0, j], or j itself where
    that is taken. With j left out of the range a node's last neighbour would never come at fan-out 1.
    """
    k = len(chosen)
    for i in range(k):
        j = d - k + i
        t = _position(node_key, i, j)
        for earlier in range(i):
            if chosen[earlier] == t:
                t = j
                break
        chosen[i] = t


@compiled
def _floyd_marked(node_key: np.uint64, d: int, chosen: np.ndarray) -> None:
    """The same positions for a large k: what is taken is marked instead of scanned."""
    k = len(chosen)
    taken = np.zeros(d, np.bool_)
    for i in range(k):
        j = d - k + i
        t = _position(node_key, i, j)
        chosen[i] = j if taken[t] else t
        taken[chosen[i]] = True
