"""The attributes that a batch carries, against the graph's: do they belong to the edges between these nodes?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.batches.batch import Batch
from harness.graphs.compiled import compiled
from harness.graphs.graph import Graph
from harness.graphs.read_only import read_only, read_only_ids

_ENOUGH = 1 << 16  # edges of one batch


@dataclass(frozen=True)
class EdgeRecount:
    """Edges looked at, and those whose attributes are those of an edge of the graph between the same nodes."""

    edges: int
    matched: int


def recount_edges(graph: Graph, batch: Batch) -> EdgeRecount:
    """Of the input layer's block, destination by destination until 65,536 edges are seen.

    Looks at the nodes that an edge joins, not at where a sampler says that it lies: every edge must find one of the
    graph's between the same source and target with the same attributes, bit for bit, and no two the same one.
    """
    assert graph.edge_attr is not None
    block = batch.blocks[0]
    assert block.edge_attr is not None
    rows = int(np.searchsorted(block.indptr, _ENOUGH, side="left"))
    rows = min(rows, block.num_dst)
    indptr, indices = read_only(graph.indptr, np.int64), read_only_ids(graph.indices)
    attr = read_only(graph.edge_attr, np.float32)
    matched = _matched(indptr, indices, attr, batch.nodes, block.indptr[: rows + 1], block.indices, block.edge_attr)
    return EdgeRecount(edges=int(block.indptr[rows]), matched=int(matched))


@compiled
def _matched(
    indptr: np.ndarray,
    indices: np.ndarray,
    attr: np.ndarray,
    nodes: np.ndarray,
    block_indptr: np.ndarray,
    block_indices: np.ndarray,
    block_attr: np.ndarray,
) -> int:
    """Each row of `indices` is sorted: the edges from one source stand together."""
    matched = 0
    for row in range(len(block_indptr) - 1):
        start = indptr[nodes[row]]
        sources = indices[start : indptr[nodes[row] + 1]]
        taken = np.zeros(len(sources), np.bool_)
        for e in range(block_indptr[row], block_indptr[row + 1]):
            source = nodes[block_indices[e]]
            at = np.searchsorted(sources, source)
            while at < len(sources) and sources[at] == source:
                if not taken[at] and np.array_equal(attr[start + at], block_attr[e]):
                    taken[at] = True
                    matched += 1
                    break
                at += 1
    return matched
