"""Copying rows by node id, at the speed of memory, and counting what was asked for; all without the GIL."""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled


@compiled
def gather(slow: np.ndarray, nodes: np.ndarray, out: np.ndarray) -> None:
    """``out[i] = slow[nodes[i]]``. A row is taken as a slice first: indexed element by element, the inner loop is not
    vectorised and takes three times as long."""
    for i in range(len(nodes)):
        row, to = slow[nodes[i]], out[i]
        for f in range(len(to)):
            to[f] = row[f]


@compiled
def gather_at(slow: np.ndarray, nodes: np.ndarray, at: np.ndarray, out: np.ndarray) -> None:
    """As `gather`, only for the positions ``at``."""
    for i in at:
        row, to = slow[nodes[i]], out[i]
        for f in range(len(to)):
            to[f] = row[f]


@compiled
def gather_hits(fast: np.ndarray, slot: np.ndarray, nodes: np.ndarray, out: np.ndarray, missing: np.ndarray) -> int:
    """Copy the rows that have a slot in ``fast``; the others' positions go to ``missing``; how many those are."""
    missed = 0
    for i in range(len(nodes)):
        at = slot[nodes[i]]
        if at < 0:
            missing[missed] = i
            missed += 1
            continue
        row, to = fast[at], out[i]
        for f in range(len(to)):
            to[f] = row[f]
    return missed


@compiled
def count_nodes(nodes: np.ndarray, counts: np.ndarray) -> None:
    """Add 1 to the count of each node; nodes may repeat."""
    for node in nodes:
        counts[node] += 1
