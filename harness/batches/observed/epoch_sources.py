"""Neighbours that the batches of one epoch hold together: is a sampler stuck on a small set of nodes?

`harness.batches.observed.unlike_uniform` looks at the nodes of one hop of one batch; a sampler that gives each batch
the same neighbours is seen only by looking at several batches together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.observed.by_weight import draws_by_weight
from harness.batches.observed.rows import Rows, ranges, rows_of
from harness.batches.observed.unlike_uniform import margin
from harness.graphs.graph import Graph

_EDGES = 1 << 12  # of adjacency lists read a batch and hop
_SIMULATED = 4  # samples by weight
EXACT = ("uniform", "fixed", "degree-stratified")  # each node draws by itself, all sets of neighbours equally likely


class EpochSources:
    """Different neighbours drawn in the batches that it is shown, hop by hop, against what independent draws find.

    In each hop a node counts once, the first time that it is looked at: `fixed` draws for it as before. A source t is
    then found with the probability ``1 - prod(1 - q)`` over the rows that could draw it. For uniform draws q = k/d; for
    `labor` the rows of a batch share one variate a source, so that the largest k/d of a batch takes the place of its
    product, which is at most the truth; for `importance` q is estimated by simulation.

    Args:
        graph: what was sampled from.
        method: of the sampler; None where batches are parts of the graph, whose edges alone are looked at.
        weights: of nodes, float64, ``[num_nodes]``; of importance sampling only.
    """

    def __init__(self, graph: Graph, method: str | None, weights: np.ndarray | None = None) -> None:
        self._graph, self._method, self._weights = graph, method, weights
        self._edges = self._foreign = 0
        self._looked_at: list[np.ndarray] = []  # by hop: bool, [num_nodes]
        self._missed: list[list[tuple[np.ndarray, np.ndarray]]] = []  # sources, and log of the chance to miss them
        self._drawn: list[list[np.ndarray]] = []

    def look(self, batch: Batch) -> None:
        """Add a batch, some rows of each hop."""
        first = 0
        for hop, block in enumerate(reversed(batch.blocks)):
            if hop == len(self._looked_at):
                self._looked_at.append(np.zeros(self._graph.num_nodes, np.bool_))
                self._missed.append([])
                self._drawn.append([])
            nodes = batch.nodes[first : block.num_dst]
            if len(nodes):
                self._look(hop, nodes, np.diff(block.indptr[first:]), block.indices[block.indptr[first] :], batch.nodes)
            first = block.num_dst

    def _look(self, hop: int, nodes: np.ndarray, counts: np.ndarray, sources: np.ndarray, ids: np.ndarray) -> None:
        rows = rows_of(self._graph, nodes, (counts > 0) & ~self._looked_at[hop][nodes], _EDGES)
        if not len(rows.chosen):
            return
        count = counts[rows.chosen]
        begin = (np.cumsum(counts) - counts)[rows.chosen]
        drawn = ids[sources[ranges(begin, count)]]
        self._edges += len(drawn)
        self._foreign += foreign_edges(rows, np.repeat(np.arange(len(count)), count), drawn)
        self._looked_at[hop][nodes[rows.chosen]] = True
        if self._method is not None:
            self._drawn[hop].append(np.unique(drawn))
            self._missed[hop].append(self._chances(rows, count))

    def _chances(self, rows: Rows, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sources that these rows could find, and the log of the chance that they do not: -inf where they must."""
        row, near = rows.row, rows.near
        with np.errstate(divide="ignore"):
            if self._method == "importance":
                return self._by_weight(row, near, count)
            sources, at = np.unique(near, return_inverse=True)
            share = np.minimum(1.0, count / np.bincount(row, minlength=len(count)))[row]
            if self._method == "labor":
                largest = np.zeros(len(sources))
                np.maximum.at(largest, at, share)
                return sources, np.log1p(-largest)
            return sources, np.bincount(at, np.log1p(-share), len(sources))

    def _by_weight(self, row: np.ndarray, near: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self._weights is not None
        weight = self._weights[near]
        row, near, weight = (a[weight > 0] for a in (row, near, weight))
        sources, at = np.unique(near, return_inverse=True)
        held = np.minimum(count, np.bincount(row, minlength=len(count)))
        found = np.zeros(len(sources))
        for taken, _ in draws_by_weight(weight, row, held, _SIMULATED):
            found += np.bincount(at, taken, len(sources)) > 0
        return sources, np.log1p(-found / _SIMULATED)

    def forget(self) -> None:
        """Let go what the numbers were counted from."""
        self._looked_at, self._missed, self._drawn = [], [], []

    def counters(self) -> dict[str, Any]:
        """``epoch_sources``: ``edges`` looked at, those ``not_in_graph`` (no edge of the graph between these nodes, or
        drawn more often than it is there), and by hop the different neighbours ``found``, those ``expected``, and the
        ``margin`` that chance takes them apart with a probability of 1e-9; no hops but for sampled batches."""
        found, expected, margins = [], [], []
        for missed, drawn in zip(self._missed, self._drawn, strict=True):
            if drawn:
                sources, at = np.unique(np.concatenate([s for s, _ in missed]), return_inverse=True)
                chance = -np.expm1(np.bincount(at, np.concatenate([log for _, log in missed]), len(sources)))
                found.append(len(np.unique(np.concatenate(drawn))))
                expected.append(float(chance.sum()))
                # negatively associated, as in `DistinctSources`
                margins.append(margin(float((chance * (1 - chance)).sum()), 1.0))
        sums = {"found": found, "expected": expected, "margin": margins}
        return {"epoch_sources": {"edges": self._edges, "not_in_graph": self._foreign, **sums}}


def foreign_edges(rows: Rows, row: np.ndarray, drawn: np.ndarray) -> int:
    """Drawn edges that are none of the graph's, or come more often than there.

    Args:
        rows: nodes and all their neighbours. row: of each drawn edge, int64. drawn: the neighbour at its other end.
    """
    width = int(max(rows.near.max(initial=0), drawn.max(initial=0))) + 1
    there, times = np.unique(rows.row * width + rows.near, return_counts=True)
    found, often = np.unique(row * width + drawn, return_counts=True)
    at = np.minimum(np.searchsorted(there, found), len(there) - 1)
    allowed = np.where(there[at] == found, times[at], 0)
    return int(np.maximum(often - allowed, 0).sum())
