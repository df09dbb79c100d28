"""What is watched of a training's batches whatever makes them: the whole of its epochs, and closely the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.observed.degree_spread import DegreeSpread
from harness.batches.observed.epoch_nodes import EpochNodes
from harness.batches.observed.epoch_sources import EpochSources
from harness.batches.observed.label_balance import LabelBalance
from harness.graphs.graph import Graph

_LOOKS = 16  # batches of the first epoch that edges and degrees are looked at in, spread over it


class EpochWatch:
    """Counts batches as they are handed out, in the consumer's thread.

    Every epoch it marks nodes (`EpochNodes`); in the first one it also looks at the targets' classes, and in a few
    batches at edges and degrees.

    Args:
        graph: what the batches are of.
        num_batches: in an epoch; None where that is not known, and then the first ones are looked at.
        method, weights: of the sampler; see `EpochSources`.
    """

    def __init__(
        self, graph: Graph, num_batches: int | None, method: str | None = None, weights: np.ndarray | None = None
    ) -> None:
        self._nodes = EpochNodes(graph)
        self._labels, self._degrees = LabelBalance(graph), DegreeSpread(graph)
        self._sources = EpochSources(graph, method, weights)
        self._every = max(1, (num_batches or 0) // _LOOKS)
        self._looks = 0
        self._first: int | None = None  # number of the first epoch
        self._found: dict[str, Any] | None = None  # what was found in it, once it has ended
        self._forgotten = False

    def count(self, batch: Batch) -> None:
        """Look at a batch."""
        if self._forgotten:
            return
        self._nodes.count(batch)
        if self._first is None:
            self._first = batch.epoch
        if batch.epoch != self._first or self._found is not None:
            return
        self._labels.count(batch)
        if batch.index % self._every == 0 and self._looks < _LOOKS:
            self._looks += 1
            self._degrees.look(batch)
            self._sources.look(batch)

    def end_epoch(self) -> None:
        """The epoch's batches have all been handed out."""
        if self._forgotten:
            return
        self._nodes.end()
        if self._first is not None and self._found is None:
            self._found = self._of_the_first()
            self._sources.forget()

    def forget(self) -> None:
        """Watch no longer, and keep only numbers: before a clock starts."""
        self._forgotten = True
        self._nodes.forget()

    def counters(self) -> dict[str, Any]:
        """Those of `EpochNodes`, and of the first epoch those of `LabelBalance`, `DegreeSpread`, `EpochSources`."""
        return self._nodes.counters() | (self._found or self._of_the_first())

    def _of_the_first(self) -> dict[str, Any]:
        return self._labels.counters() | self._degrees.counters() | self._sources.counters()
