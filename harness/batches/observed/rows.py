"""Which rows of a batch are looked at: nodes that had a choice, with all the neighbours that they could draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.graphs.graph import Graph


@dataclass(frozen=True)
class Rows:
    """Some nodes' whole adjacency lists.

    Attributes:
        chosen: positions of the nodes among those asked about, int64, ``[rows]``.
        row: of each edge, int64, ``[edges]``, ascending.
        near: the neighbour at its other end, global id, int64, ``[edges]``.
    """

    chosen: np.ndarray
    row: np.ndarray
    near: np.ndarray


def rows_of(graph: Graph, nodes: np.ndarray, choosing: np.ndarray, edges: int) -> Rows:
    """The lists of nodes that had a choice, in order, until so many edges are read; no hub takes over a fourth.

    Args:
        nodes: global ids, int64. choosing: which of them had a choice, bool. edges: most to read.
    """
    start = graph.indptr[nodes]
    degree = np.asarray(graph.indptr[nodes + 1] - start, dtype=np.int64)
    few = choosing & (degree <= edges // 4)
    chosen = np.flatnonzero(few & (np.cumsum(degree * few) <= edges))
    row = np.repeat(np.arange(len(chosen)), degree[chosen])
    return Rows(chosen, row, np.asarray(graph.indices[ranges(start[chosen], degree[chosen])], dtype=np.int64))


def ranges(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """``first[i], first[i] + 1, …``, ``count[i]`` of them, one range after the other, int64."""
    before = np.cumsum(count) - count
    return np.repeat(np.asarray(first, dtype=np.int64) - before, count) + np.arange(int(np.sum(count)))
