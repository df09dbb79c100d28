"""Which nodes an epoch's batches held, and which of them were targets: does a training see all that it is to learn?"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.graphs.graph import Graph


class EpochNodes:
    """Marks nodes batch by batch, and counts them at the end of each epoch: one mark a node, no sorting.

    An epoch that is not gone through to its end (the first batch alone is asked for, say) is not counted.
    """

    def __init__(self, graph: Graph) -> None:
        self._train, self._num_nodes = np.asarray(graph.train), graph.num_nodes
        self._held: np.ndarray | None = None  # bool, [num_nodes] each; made when the first batch comes
        self._targeted = np.zeros(0, np.bool_)
        self._epoch: int | None = None
        self._targets = 0
        self._reached: list[int] = []
        self._covered: list[int] = []
        self._repeated: list[int] = []
        self._strangers: list[int] = []

    def count(self, batch: Batch) -> None:
        """Mark a batch's nodes and targets."""
        if self._held is None:
            self._held, self._targeted = (np.zeros(self._num_nodes, np.bool_) for _ in range(2))
        if batch.epoch != self._epoch:
            self._held[:] = self._targeted[:] = False
            self._epoch, self._targets = batch.epoch, 0
        self._held[batch.nodes] = True
        self._targeted[batch.nodes[batch.targets]] = True
        self._targets += len(batch.targets)

    def end(self) -> None:
        """All batches of the epoch have come; without any, nothing is counted."""
        if self._held is None or self._epoch is None:
            return
        different = int(np.count_nonzero(self._targeted))
        covered = int(np.count_nonzero(self._targeted[self._train]))
        self._reached.append(int(np.count_nonzero(self._held)))
        self._covered.append(covered)
        self._repeated.append(self._targets - different)
        self._strangers.append(different - covered)
        self._epoch = None

    def forget(self) -> None:
        """Let the marks go, and count no further epoch."""
        self._held, self._epoch, self._targeted = None, None, np.zeros(0, np.bool_)

    def counters(self) -> dict[str, Any]:
        """Epoch by epoch: ``nodes_reached``, different nodes in its batches; ``train_nodes_seen``, those of the
        ``train_nodes`` that were a target. And the most targets of an epoch that came again (``targets_repeated``) or
        are no training nodes (``targets_not_train``)."""
        return {
            "train_nodes": len(self._train),
            "nodes_reached": list(self._reached),
            "train_nodes_seen": list(self._covered),
            "targets_repeated": max(self._repeated, default=0),
            "targets_not_train": max(self._strangers, default=0),
        }
