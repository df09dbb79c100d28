"""Statistics of draws that tell a sampling method from independent uniform draws.

The first two add up, over rows (nodes whose neighbours were drawn), what was found, what independent uniform draws
without replacement give in the mean and by standard deviation, and likewise what the method itself should give. A row's
number of draws is taken as it was found. Rows are added until a method that differs would stand out. The third,
`SharedOrder`, is no matter of chance.
"""

from __future__ import annotations

import numpy as np

from harness.graphs.graph import Graph

BY_CHANCE = 6.0  # standard deviations that are not passed by chance: a probability of 1e-9
_EDGES_AT_ONCE = 50_000  # of adjacency lists read a batch and hop
_COMPARISONS = 200_000  # of neighbours, written down a batch and hop
_ENOUGH = 1000
_LOOKS = 12  # batches and hops looked at, at most
_NEWTON_STEPS = 12


def inclusion(weight: np.ndarray, row: np.ndarray, count: np.ndarray) -> np.ndarray:
    """About how likely each neighbour is among ``count`` drawn of its row, by weight without replacement.

    Exponential clocks of rate w, stopped at the time t when ``count`` are expected to have rung: ``1 - exp(-w t)``
    with a sum of ``count`` over the row (Hajek 1964). The sum is concave in t: Newton's steps from 0 come from below.

    Args:
        weight: positive, float64, ``[edges]``. row: of each edge, int64. count: of each row, below its edges, or 0.
    """
    rows = len(count)
    rate = weight / np.maximum(np.bincount(row, weight, rows), np.finfo(np.float64).tiny)[row]
    time: np.ndarray = np.zeros(rows)
    for _ in range(_NEWTON_STEPS):
        silent = np.exp(-rate * time[row])
        short = count - np.bincount(row, 1.0 - silent, rows)
        time += short / np.maximum(np.bincount(row, rate * silent, rows), np.finfo(np.float64).tiny)
    return 1.0 - np.exp(-rate * time[row])


class _Statistic:
    """Sums of what was found and what was to be expected."""

    def __init__(self, graph: Graph, weights: np.ndarray | None = None) -> None:
        self._indptr, self._indices, self._weights = graph.indptr, graph.indices, weights
        self._found = self._uniform = self._variance = self._expected = self._expected_variance = 0.0
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
        degree = np.asarray(self._indptr[nodes + 1] - self._indptr[nodes], dtype=np.int64)
        choosing = (counts > 0) & (degree > counts) & (degree <= _EDGES_AT_ONCE // 4)  # no hub is all that is read
        chosen = np.flatnonzero(choosing & (np.cumsum(degree * choosing) <= _EDGES_AT_ONCE))
        if len(chosen):
            row = np.repeat(np.arange(len(chosen)), degree[chosen])
            near = np.asarray(self._indices[ranges(self._indptr[nodes[chosen]], degree[chosen])], dtype=np.int64)
            first = (np.cumsum(counts) - counts)[chosen]
            found_row = np.repeat(np.arange(len(chosen)), counts[chosen])
            self._add(row, near, counts[chosen], found_row, drawn[ranges(first, counts[chosen])])

    def _enough(self) -> bool:
        return would_stand_out(self.counters(), 2 * BY_CHANCE)

    def _add(
        self, row: np.ndarray, near: np.ndarray, count: np.ndarray, found_row: np.ndarray, drawn: np.ndarray
    ) -> None:
        """Rows with a choice: their neighbours, how many were drawn, and which."""
        raise NotImplementedError

    def counters(self) -> dict[str, float]:
        """``found``; ``uniform`` and ``sd``, of independent uniform draws; ``expected`` and ``expected_sd``, of the
        method that is held against them."""
        return {
            "found": self._found,
            "uniform": self._uniform,
            "sd": self._variance**0.5,
            "expected": self._expected,
            "expected_sd": self._expected_variance**0.5,
        }


def would_stand_out(statistic: dict[str, float], by: float = BY_CHANCE) -> bool:
    """Whether these rows can tell the method from independent uniform draws, both ``by`` standard deviations apart."""
    apart = abs(statistic["expected"] - statistic["uniform"])
    return apart > by * (statistic["sd"] + statistic["expected_sd"])


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
            weight = np.asarray(self._indptr[near + 1] - self._indptr[near], dtype=np.float64)
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
        self._variance += float((k * (1 - k / m) * squares / (m - 1)).sum())
        self._found += float(_score_of(row, near, score, found_row, drawn)[choosing[found_row]].sum())
        if self._weights is not None:
            share = inclusion(weight, row, count * choosing)
            self._expected += float((share * score).sum())
            self._expected_variance += float((share * (1 - share) * score**2).sum())


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
        self._variance += float((apart * (1 - apart)).sum())  # draws of one row exclude each other: an upper bound
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
        ends, found_ends, width = np.cumsum(degree), np.cumsum(count), len(self._indptr)
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


def ranges(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """``first[i], first[i] + 1, …``, ``count[i]`` of them, one range after the other, int64."""
    before = np.cumsum(count) - count
    return np.repeat(np.asarray(first, dtype=np.int64) - before, count) + np.arange(int(np.sum(count)))


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
