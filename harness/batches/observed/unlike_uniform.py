"""Statistics of draws that tell a sampling method from independent uniform draws.

The first two add up, over rows (nodes whose neighbours were drawn), what was found, what independent uniform draws
without replacement give in the mean, and how far chance can take them from it. A row's number of draws is taken as it
was found. Where there are weights, the same is known of draws by weight, and rows are added until these would stand
out, or `_LOOKS` hops of batches were looked at; in all other cases so many are. `SharedOrder` is no matter of chance.
"""

from __future__ import annotations

import math

import numpy as np

from harness.batches.observed.by_weight import draws_by_weight
from harness.batches.observed.rows import ranges, rows_of
from harness.graphs.graph import Graph

BY_CHANCE = 1e-9  # probability that chance passes a margin
_EDGES_AT_ONCE = 50_000  # of adjacency lists read a batch and hop
_COMPARISONS = 200_000  # of neighbours, written down a batch and hop
_ENOUGH = 1000
_LOOKS = 12  # batches and hops looked at, at most
_SIMULATED = 8  # samples by weight


def margin(variance: float, largest: float) -> float:
    """How far a sum is taken from its mean with a probability of at most `BY_CHANCE`, to either side.

    Bernstein's inequality: a sum of independent terms, none further than ``largest`` from its mean, passes t with a
    probability of at most ``2 exp(-t**2 / (2 (variance + largest t / 3)))``. Set equal to 1e-9 = 2 exp(-c), c = 21.4,
    and solved for t. That is 6.5 standard deviations where there are many terms; where there are few or skewed ones,
    such as a hub among a thousand leaves, ``2 c / 3 = 14.3`` times the largest term counts more. A hop's rows
    are found by the hop before, so that the terms are those of a martingale; Freedman (1975) gives it the same bound.
    """
    c = math.log(2.0 / BY_CHANCE)
    linear = c * largest / 3.0
    return linear + math.sqrt(linear**2 + 2.0 * c * variance)


class _Statistic:
    """Sums of what was found and what was to be expected."""

    def __init__(self, graph: Graph, weights: np.ndarray | None = None) -> None:
        self._graph, self._weights = graph, weights
        self._found = self._uniform = self._variance = self._expected = self._expected_variance = self._largest = 0.0
        self._looks = 0

    def look(self, nodes: np.ndarray, counts: np.ndarray, drawn: np.ndarray) -> None:
        """Add rows.

        Args:
            nodes: global ids, distinct, ``[rows]``. counts: draws of each. drawn: neighbours drawn, global ids, row
                by row.
        """
        if self._looks >= _LOOKS or self._enough():
            return
        self._looks += 1
        degree = np.asarray(self._graph.indptr[nodes + 1] - self._graph.indptr[nodes], dtype=np.int64)
        rows = rows_of(self._graph, nodes, (counts > 0) & (degree > counts), _EDGES_AT_ONCE)
        if len(rows.chosen):
            count = counts[rows.chosen]
            first = (np.cumsum(counts) - counts)[rows.chosen]
            self._add(rows.row, rows.near, count, np.repeat(np.arange(len(count)), count), drawn[ranges(first, count)])

    def _enough(self) -> bool:
        return would_stand_out(self.counters(), 2.0)

    def _add(
        self, row: np.ndarray, near: np.ndarray, count: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
    ) -> None:
        """Rows with a choice: their neighbours, how many were drawn, and which."""
        raise NotImplementedError

    def counters(self) -> dict[str, float]:
        """``found``; ``uniform``, the mean of independent uniform draws, and the ``margin`` around it; ``expected`` and
        ``expected_margin``, likewise of the method that is held against them."""
        return {
            "found": self._found,
            "uniform": self._uniform,
            "margin": margin(self._variance, self._largest),
            "expected": self._expected,
            "expected_margin": margin(self._expected_variance, self._largest),
        }


def would_stand_out(statistic: dict[str, float], by: float = 1.0) -> bool:
    """Whether these rows can tell the method from independent uniform draws, both ``by`` margins apart."""
    apart = abs(statistic["expected"] - statistic["uniform"])
    return apart > by * (statistic["margin"] + statistic["expected_margin"])


class WeightRanks(_Statistic):
    """Do draws prefer neighbours of large weight? The ranks of the drawn, by weight within their row.

    A rank r of m counts as ``(r - (m+1)/2) / m``, ties by their mean, so that no row outweighs the others however its
    weights are spread; uniform draws have mean 0.

    Args:
        weights: of nodes, float64; None takes the in-degree, by which no uniform sampler chooses.
    """

    def _add(
        self, row: np.ndarray, near: np.ndarray, count: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
    ) -> None:
        if self._weights is None:
            weight = np.asarray(self._graph.indptr[near + 1] - self._graph.indptr[near], dtype=np.float64)
        else:
            weight = self._weights[near]
            row, near, weight = (a[weight > 0] for a in (row, near, weight))
        size = np.bincount(row, minlength=len(count))
        choosing = size > count
        keep = choosing[row]
        row, near, weight = row[keep], near[keep], weight[keep]
        score = _rank_scores(row, weight, size)
        squares = np.bincount(row, score**2, len(count))[choosing]
        k, m = count[choosing], size[choosing]
        # A row's sum is that of k scores drawn without replacement, and, as all add up to 0, less that of the others.
        # Hoeffding (1963, theorem 4): it is no more spread than with replacement; so take the fewer, with replacement.
        self._variance += float((np.minimum(k, m - k) * squares / m).sum())
        self._largest = max(self._largest, float(np.abs(score).max(initial=0.0)))
        self._found += float(_score_of(row, near, score, found_row, drawn)[choosing[found_row]].sum())
        if self._weights is not None:
            by_weight = draws_by_weight(weight, row, count * choosing, _SIMULATED)
            share = np.mean([taken for taken, _ in by_weight], axis=0)
            self._expected += float((share * score).sum())
            spread = share * (1 - share) * _SIMULATED / (_SIMULATED - 1)  # unbiased for the variance of a draw
            self._expected_variance += float((spread * score**2).sum())


class DistinctSources(_Statistic):
    """Do rows share their draws? How many different neighbours all rows together drew.

    Independent rows find source t with probability ``1 - prod (1 - k/d)`` over the rows that could draw it; rows that
    draw alike find fewer.
    """

    def _add(
        self, row: np.ndarray, near: np.ndarray, count: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
    ) -> None:
        share = (count / np.bincount(row, minlength=len(count)))[row]
        sources, at = np.unique(near, return_inverse=True)
        apart = -np.expm1(np.bincount(at, np.log1p(-share), len(sources)))
        self._found += len(np.unique(drawn))
        self._uniform += float(apart.sum())
        # whether sources are found is negatively associated, for draws of one row exclude each other: Bernstein's
        # inequality holds as for independent sources (Dubhashi and Ranjan 1998, "Balls and bins")
        self._variance += float((apart * (1 - apart)).sum())
        self._largest = 1.0
        self._expected = self._uniform


class SharedOrder(_Statistic):
    """Do all rows of a hop choose by one order of the sources, as with one variate a source (`labor`)?

    A row that draws t and not u puts t before u. Two rows that could draw both then never contradict each other,
    while independent rows do in about every second comparison.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._agreed = self._contradicted = 0

    def _enough(self) -> bool:
        return self._agreed + self._contradicted >= _ENOUGH

    def _add(
        self, row: np.ndarray, near: np.ndarray, count: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
    ) -> None:
        degree = np.bincount(row, minlength=len(count))
        pairs = count * (degree - count)
        few = pairs <= _COMPARISONS // 100  # so that no hub is all that is looked at
        chosen = few & (np.cumsum(pairs * few) <= _COMPARISONS)
        ends, found_ends, width = np.cumsum(degree), np.cumsum(count), len(self._graph.indptr)
        order = [np.zeros(0, np.int64)]
        for i in np.flatnonzero(chosen):
            first = drawn[found_ends[i] - count[i] : found_ends[i]]
            second = np.setdiff1d(near[ends[i] - degree[i] : ends[i]], first)
            order.append((np.unique(first)[:, None] * width + second).ravel())
        said, times = np.unique(np.concatenate(order), return_counts=True)
        against = np.isin(said % width * width + said // width, said, assume_unique=True)
        self._agreed += int(np.count_nonzero((times > 1) & ~against))
        self._contradicted += int(np.count_nonzero(against)) // 2

    def counters(self) -> dict[str, float]:
        """Pairs of sources on which two rows or more ``agreed``, and those on which they ``contradicted``."""
        return {"agreed": self._agreed, "contradicted": self._contradicted}


def _rank_scores(row: np.ndarray, weight: np.ndarray, size: np.ndarray) -> np.ndarray:
    """``(rank - (m+1)/2) / m`` of each edge in its row of m edges, by weight; equal weights share their mean rank."""
    order = np.lexsort((weight, row))
    in_order, of_row = weight[order], row[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (in_order[1:] != in_order[:-1]) | (of_row[1:] != of_row[:-1])
    group = np.cumsum(new) - 1
    held = np.bincount(row, minlength=len(size))
    rank = np.arange(len(order)) - (np.cumsum(held) - held)[of_row] + 1.0
    mean_rank = (np.bincount(group, rank) / np.bincount(group))[group] if len(order) else rank
    score = np.empty(len(order))
    score[order] = (mean_rank - (size[of_row] + 1) / 2) / size[of_row]
    return score


def _score_of(
    row: np.ndarray, near: np.ndarray, score: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
) -> np.ndarray:
    """Score of each drawn neighbour in its row; 0 for one that has none there."""
    order = np.lexsort((near, row))
    width = int(max(near.max(initial=0), drawn.max(initial=0))) + 1
    keys, wanted = row[order] * width + near[order], found_row * width + drawn
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted))
    return np.where(keys[at] == wanted, score[order][at], 0.0)
