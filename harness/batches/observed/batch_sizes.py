"""How large the batches were, and whether a budget on their size is what closed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.budget import next_tried, node_edges

_CLOSINGS = 4  # batches of the first epoch that are sampled again, with more seeds


class BatchSizes:
    """Counts seeds, and nodes times edges, of the batches it is shown.

    Args:
        budget: most nodes times edges of a batch with more than one seed; None for no bound.
    """

    def __init__(self, budget: int | None) -> None:
        self._budget = budget
        self._batches = self._seeds = self._node_edges = self._largest = self._alone = self._above = 0
        self._fewest: int | None = None
        self._most = 0
        self._epoch: int | None = None
        self._first: list[np.ndarray] = []  # seeds of the first epoch, batch by batch
        self._closed: list[bool] = []  # by the budget: not those of one seed above it, which close whatever comes next

    def count(self, batch: Batch) -> None:
        """Add a batch; its seeds are its first nodes."""
        seeds, size = batch.blocks[-1].num_dst, node_edges(batch)
        self._batches += 1
        self._seeds += seeds
        self._fewest, self._most = min(self._fewest or seeds, seeds), max(self._most, seeds)
        self._node_edges += size
        self._largest = max(self._largest, size)
        above = self._budget is not None and size > self._budget
        self._alone += above and seeds == 1
        self._above += above and seeds > 1
        if self._epoch is None:
            self._epoch = batch.epoch
        if batch.epoch == self._epoch:
            self._first.append(batch.nodes[:seeds].copy())
            self._closed.append(not above or seeds > 1)

    def counters(self, train: np.ndarray, sample: Callable[[np.ndarray, int, int], Batch]) -> dict[str, Any]:
        """``node_edges`` (mean, max), ``seeds_per_batch`` (min, mean, max), ``seeds_once``: whether the first epoch's
        seeds are the training nodes, each once.

        With a budget also ``node_edge_budget``, ``over_budget`` (batches of a single seed that is above it),
        ``above_budget`` (batches of several that are, which must be none), and ``closings``: of the first batches, how
        many were ``checked`` by sampling them with the next larger number of seeds, and how many of these closed
        ``early``, i.e. would have been within the budget with it. A batch of one seed above the budget is not among
        them: it closes without a look at the next one, though another draw with two seeds may be smaller.

        Args:
            train: training nodes.
            sample: seeds, epoch and batch to a `Batch`; the sampler that served the training.
        """
        mean = max(self._batches, 1)
        found = {
            "node_edges": {"mean": self._node_edges / mean, "max": self._largest},
            "seeds_per_batch": {"min": self._fewest or 0, "mean": self._seeds / mean, "max": self._most},
            "seeds_once": np.array_equal(
                np.sort(np.concatenate([np.zeros(0, np.int64), *self._first])), np.sort(train)
            ),
        }
        if self._budget is None:
            return found
        return found | {
            "node_edge_budget": self._budget,
            "over_budget": self._alone,
            "above_budget": self._above,
            "closings": self._closings(sample, self._budget),
        }

    def _closings(self, sample: Callable[[np.ndarray, int, int], Batch], budget: int) -> dict[str, int]:
        checked = early = 0
        order = np.concatenate([np.zeros(0, np.int64), *self._first])
        starts = np.cumsum([0, *(len(seeds) for seeds in self._first)])
        by_budget = [index for index in range(len(self._first) - 1) if self._closed[index]]
        for index in by_budget[:_CLOSINGS]:
            start = starts[index]
            more = next_tried(len(self._first[index]), len(order) - start)
            checked += 1
            early += node_edges(sample(order[start : start + more], self._epoch or 0, index)) <= budget
        return {"checked": checked, "early": early}
