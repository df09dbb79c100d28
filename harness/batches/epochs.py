"""What all ways of batching have in common: numbered batches of numbered epochs, in order, and counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from harness.batches.batch import Batch
from harness.batches.loader import prefetch

T = TypeVar("T")


class BatchPlan(ABC):
    """The batches of a training; a batch depends on (graph, options, seed, epoch, index) and on nothing else.

    Attributes:
        num_batches: batches in an epoch; may be 0.
        preprocess_s: seconds spent once, before the first epoch, by name (``partition_s``).
    """

    num_batches: int
    preprocess_s: dict[str, float]

    @abstractmethod
    def batch(self, epoch: int, index: int) -> Batch:
        """Batch ``index`` of an epoch; may be called from several threads, in any order."""

    @abstractmethod
    def counters(self) -> dict[str, Any]:
        """What was asked for, and what the batches handed out so far hold; keys are documented in each class."""

    @abstractmethod
    def _count(self, batch: Batch) -> None:
        """Add a batch that is handed out to the counters."""

    def epoch(self, epoch: int, threads: int = 0, depth: int = 2) -> Iterator[Batch]:
        """The batches of an epoch in order, made ahead by ``threads`` background threads."""
        for batch in prefetch([partial(self.batch, epoch, i) for i in range(self.num_batches)], threads, depth):
            self._count(batch)
            yield batch

    def prepared_epoch(
        self, epoch: int, prepare: Callable[[Batch], T], threads: int = 0, depth: int = 2
    ) -> Iterator[tuple[Batch, T]]:
        """As `epoch`, each batch with ``prepare(batch)`` (its features, say), made in the background too."""

        def make(index: int) -> tuple[Batch, T]:
            batch = self.batch(epoch, index)
            return batch, prepare(batch)

        for batch, prepared in prefetch([partial(make, i) for i in range(self.num_batches)], threads, depth):
            self._count(batch)
            yield batch, prepared
