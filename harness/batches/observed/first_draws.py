"""What a training's first batches drew, against what the graph's own degrees and weights make due.

Nothing here knows how a sampler draws: counts come from the batches' blocks and the graph's arrays alone, so that a
sampler which does something else than it says is seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.observed.due import neighbours_due
from harness.batches.observed.reweighting import Reweighting
from harness.batches.observed.unlike_uniform import DistinctSources, SharedOrder, WeightRanks
from harness.graphs.csr import row_ranges
from harness.graphs.graph import Graph

_EDGES_AT_ONCE = 1 << 22


class FirstDraws:
    """Counts the batches of one epoch, the first that is shown.

    Args:
        graph: what was sampled from.
        method, fanout: of the sampler.
        weights: of nodes as neighbours, float64, ``[num_nodes]``; of importance sampling only.
    """

    def __init__(self, graph: Graph, method: str, fanout: tuple[int, ...], weights: np.ndarray | None) -> None:
        self._indptr = graph.indptr
        self._method, self._fanout = method, fanout
        self._positive = positive_neighbours(graph.indptr, graph.indices, weights)
        self._epoch: int | None = None
        self._drawn, self._due = np.zeros(len(fanout), np.int64), np.zeros(len(fanout), np.int64)
        self._reweighted: set[bool] = set()
        importance = method == "importance"
        self._ranks = None if method == "labor" else WeightRanks(graph, weights if importance else None)
        self._reweighting = Reweighting(graph, weights) if importance and weights is not None else None
        self._distinct = None if importance else DistinctSources(graph)
        self._order = SharedOrder(graph) if method == "labor" else None

    def due(self, nodes: np.ndarray, fanout: int) -> np.ndarray:
        """Neighbours that these nodes must be given at a fan-out, int64."""
        return neighbours_due(self._method, self.choosable(nodes), fanout)

    def choosable(self, nodes: np.ndarray) -> np.ndarray:
        """Neighbours of each node that may be drawn: all, or those of positive weight."""
        if self._positive is not None:
            return self._positive[nodes]
        return np.asarray(self._indptr[nodes + 1] - self._indptr[nodes], dtype=np.int64)

    def count(self, batch: Batch) -> None:
        """Look at a batch, if it is of the epoch that is counted."""
        if self._epoch is None:
            self._epoch = batch.epoch
        if batch.epoch != self._epoch:  # one epoch says as much as all
            return
        first = 0
        for hop, block in enumerate(reversed(batch.blocks)):
            nodes = batch.nodes[first : block.num_dst]
            due = self.due(nodes, self._fanout[hop])
            self._drawn[hop] += block.indptr[block.num_dst] - block.indptr[first]
            self._due[hop] += due.sum()
            self._reweighted.add(block.edge_weight is not None)
            # `fixed` draws for a node as it did in the batch before: a second look would count the same chance twice
            if batch.index == 0 or self._method != "fixed":
                drawn = batch.nodes[block.indices[block.indptr[first] :]]
                counts = np.diff(block.indptr[first:])
                for statistic in (self._ranks, self._distinct, self._order):
                    if statistic is not None:
                        statistic.look(nodes, counts, drawn)
                if self._reweighting is not None and block.edge_weight is not None:
                    self._reweighting.look(nodes, counts, block.edge_weight[block.indptr[first] :])
            first = block.num_dst

    def counters(self) -> dict[str, Any]:
        """``draws`` (``drawn`` and ``due`` each hop), ``reweighted`` (whether blocks carried weights of edges) and
        ``reweighting``, ``weight_ranks``, ``distinct_sources`` and ``shared_order`` (None where the method makes a
        comparison senseless)."""
        return {
            "draws": {"drawn": self._drawn.tolist(), "due": self._due.tolist()},
            "reweighted": self._reweighted == {True},
            "reweighting": None if self._reweighting is None else self._reweighting.counters(),
            "weight_ranks": None if self._ranks is None else self._ranks.counters(),
            "distinct_sources": None if self._distinct is None else self._distinct.counters(),
            "shared_order": None if self._order is None else self._order.counters(),
        }


def positive_neighbours(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
    """How many neighbours of each node have a positive weight, int64, ``[num_nodes]``; None where all have."""
    if weights is None or (weights > 0).all():
        return None
    ends = np.asarray(indptr)
    found = np.zeros(len(ends) - 1, np.int64)
    for first, last in row_ranges(ends, _EDGES_AT_ONCE):
        drawable = weights[indices[ends[first] : ends[last]]] > 0
        before = np.concatenate([[0], np.cumsum(drawable)])
        found[first:last] = np.diff(before[ends[first : last + 1] - ends[first]])
    return found
