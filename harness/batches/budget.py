"""Batches closed by the size of their sampled subgraph, not by a number of seeds (`sampling.node_edge_budget`).

Subgraphs of equally many seeds differ in size, most where there are hubs, and memory must hold the largest. A budget of
nodes times edges makes batches of one size instead, with as many seeds as fit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from harness.batches.batch import Batch
from harness.batches.epochs import NoSuchBatch

_FINE = 32  # numbers of seeds are tried to one part in this many: what fits between is not worth a sampling

Sample = Callable[[np.ndarray, int], Batch]  # of these seeds, as batch of this index


def node_edges(batch: Batch) -> int:
    """Nodes times edges of a batch's subgraph."""
    return len(batch.nodes) * batch.num_edges


def _step(count: int) -> int:
    """Between the numbers of seeds that are tried: 1 below 64, above it a 32nd to a 64th of the number."""
    return max(1, 2 ** (count.bit_length() - 1) // _FINE)


def next_tried(count: int, left: int) -> int:
    """The next larger number of seeds that a batch may have, of those ``left`` in the epoch."""
    return min(left, count - count % _step(count) + _step(count))


class BudgetedEpoch:
    """One epoch's seeds, divided into batches within a budget.

    Batch i begins where batch i-1 ends, and takes a number of seeds such that its subgraph is within the budget
    and that of the next larger number is not (`next_tried`), or no seed is left. A single seed always is a batch, and
    one that is above the budget closes its batch at once: the next number of seeds is not tried.
    A batch nearly always grows with its seeds, but not strictly, since a node drawn for one seed may be another; where
    several numbers close a batch, the search decides, which starts from the batch before. So the division depends on
    the seeds and the samples alone, whoever asks for which batch first. The search samples a batch some two or three
    times; it runs when batches are asked for, so that it is part of an epoch's time.

    Args:
        seeds: in the epoch's order, int64, ``[n]``.
        sample: must depend on its arguments alone.
        budget: nodes times edges, at least 1.
    """

    def __init__(self, seeds: np.ndarray, sample: Sample, budget: int) -> None:
        self._seeds, self._sample, self._budget = seeds, sample, budget
        self._starts = [0]
        self._lock = threading.Lock()

    def batch(self, index: int) -> Batch:
        """Batch ``index``; batches before it whose ends are not known yet are found first. From any thread.

        Raises:
            NoSuchBatch: the seeds end before it.
        """
        made = None
        with self._lock:
            while len(self._starts) <= index + 1 and self._starts[-1] < len(self._seeds):
                made = self._close_next()
            if len(self._starts) <= index + 1:
                raise NoSuchBatch(f"the epoch has {len(self._starts) - 1} batches; there is no batch {index}")
            start, end = self._starts[index : index + 2]
        if made is not None and made.index == index:
            return made
        return self._sample(self._seeds[start:end], index)

    def _close_next(self) -> Batch:
        """Find where the next batch ends; the batch."""
        index, start = len(self._starts) - 1, self._starts[-1]
        before = start - self._starts[-2] if index else 1
        made = self._largest(start, index, before)
        self._starts.append(start + len(made.targets))
        return made

    def _largest(self, start: int, index: int, count: int) -> Batch:
        """The batch from ``start`` that the budget closes, searched for from a number of seeds."""
        left = len(self._seeds) - start
        made = self._made(start, min(count, left), index)
        if not self._fits(made):
            return self._fewer(start, index, made, left)
        step = 0
        while (taken := len(made.targets)) < left:
            more = self._made(start, max(next_tried(taken, left), min(taken + step, left)), index)
            if not self._fits(more):
                return self._between(start, index, made, len(more.targets), left)
            step, made = min(2 * len(more.targets) - 2 * taken, len(more.targets)), more
        return made

    def _fewer(self, start: int, index: int, above: Batch, left: int) -> Batch:
        """As `_largest`, from a batch above the budget: that batch itself where it has one seed."""
        step = 0
        while (too_many := len(above.targets)) > 1:
            step = max(_step(too_many), 2 * step)
            made = self._made(start, max(1, too_many - step), index)
            if self._fits(made):
                return self._between(start, index, made, too_many, left)
            above = made
        return above

    def _between(self, start: int, index: int, fits: Batch, too_many: int, left: int) -> Batch:
        """Halve the gap between a batch that fits and a number of seeds that does not, until none lies between."""
        while (least := next_tried(len(fits.targets), left)) < too_many:
            made = self._made(start, max(least, (len(fits.targets) + too_many) // 2), index)
            if self._fits(made):
                fits = made
            else:
                too_many = len(made.targets)
        return fits

    def _made(self, start: int, count: int, index: int) -> Batch:
        """The batch of so many seeds from ``start``, rounded down to a number that is tried."""
        left = len(self._seeds) - start
        rounded = count if count == left else count - count % _step(count)
        return self._sample(self._seeds[start : start + rounded], index)

    def _fits(self, batch: Batch) -> bool:
        return node_edges(batch) <= self._budget
