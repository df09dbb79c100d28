"""Do the weights of edges undo what importance sampling prefers?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.observed.by_weight import draws_by_weight
from harness.batches.observed.rows import ranges, rows_of
from harness.batches.observed.unlike_uniform import margin
from harness.graphs.graph import Graph

_EDGES_AT_ONCE = 50_000  # of adjacency lists read a batch and hop
_LOOKS = 6  # batches and hops looked at, at most
_SIMULATED = 8  # samples of each row
_SAME = 1e-5  # relative: weights of edges are float32


class Reweighting:
    """Looks at nodes whose neighbours of positive weight are more than were drawn, and not all of one weight.

    A node's weights of edges, r = k / (d p) for k of d drawn, have a mean of sum(1 / p) / d, whose expectation is 1.
    But its tails are so heavy that no number of nodes tells how far their average may lie from it. So each node's mean
    is ranked among those of simulated draws: all are drawn alike, so each rank is as likely as any other.

    Args:
        weights: of nodes, float64, ``[num_nodes]``.
    """

    def __init__(self, graph: Graph, weights: np.ndarray) -> None:
        self._graph, self._weights = graph, weights
        self._rows = self._weighted = self._looks = 0
        self._means = self._ranks = self._variance = 0.0

    def look(self, nodes: np.ndarray, counts: np.ndarray, edge_weight: np.ndarray) -> None:
        """Add nodes.

        Args:
            nodes: global ids, distinct, ``[rows]``. counts: draws of each. edge_weight: of each draw, row by row.
        """
        if self._looks >= _LOOKS:
            return
        self._looks += 1
        degree = np.asarray(self._graph.indptr[nodes + 1] - self._graph.indptr[nodes], dtype=np.int64)
        rows = rows_of(self._graph, nodes, (counts > 0) & (degree > counts), _EDGES_AT_ONCE)
        positive = self._weights[rows.near] > 0
        row, weight = rows.row[positive], self._weights[rows.near[positive]]
        count = counts[rows.chosen]
        size = np.bincount(row, minlength=len(count))
        lightest, heaviest = np.full(len(count), np.inf), np.zeros(len(count))
        np.minimum.at(lightest, row, weight)
        np.maximum.at(heaviest, row, weight)
        proving = (size > count) & (heaviest > lightest)
        if not proving.any():
            return
        drawn = edge_weight[ranges((np.cumsum(counts) - counts)[rows.chosen], count)].astype(np.float64)
        of_row = np.repeat(np.arange(len(count)), count)
        mean = np.bincount(of_row, drawn, len(count)) / count
        self._rows += int(np.count_nonzero(proving))
        self._weighted += int(np.count_nonzero(proving & (np.bincount(of_row, drawn != 1.0, len(count)) > 0)))
        self._means += float(mean[proving].sum())
        score = _rank_scores(mean, np.stack(_simulated_means(weight, row, count * proving, size)))[proving]
        self._ranks += float(score.sum())
        self._variance += len(score) * (_SIMULATED + 2) / (12 * _SIMULATED)  # of a rank without ties: at most

    def counters(self) -> dict[str, Any]:
        """``rows`` looked at, those ``weighted`` (an edge has a weight that is not 1), and the ``mean`` of their means.
        ``ranks``: of these means among those of simulated draws, each from -1/2 to 1/2, added up, which chance takes
        past ``margin`` with a probability of 1e-9."""
        return {
            "rows": self._rows,
            "weighted": self._weighted,
            "mean": self._means / self._rows if self._rows else None,
            "ranks": self._ranks,
            "margin": margin(self._variance, 0.5),
        }


def _simulated_means(weight: np.ndarray, row: np.ndarray, count: np.ndarray, size: np.ndarray) -> list[np.ndarray]:
    """The mean weight of a row's edges in samples drawn apart, float64, ``[rows]`` each."""
    means = []
    for drawn, threshold in draws_by_weight(weight, row, count, _SIMULATED):
        with np.errstate(over="ignore"):  # weights may lie 500 decades apart
            inverse = 1.0 / np.minimum(1.0, weight[drawn] * threshold[row[drawn]])
        means.append(np.bincount(row[drawn], inverse, len(count)) / np.maximum(size, 1))
    return means


def _rank_scores(mean: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """``rank / samples - 1/2`` of each row's mean, its rank being how many simulated ones are below it, and half of
    those that are equal."""
    same = np.isclose(simulated, mean, rtol=_SAME, atol=0.0)
    below = (simulated < mean) & ~same
    return (below.sum(0) + same.sum(0) / 2.0) / len(simulated) - 0.5
