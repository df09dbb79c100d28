"""What all ways of batching have in common: numbered batches of numbered epochs, in order, and counters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from itertools import count
from typing import Any, TypeVar

from harness.batches.batch import Batch
from harness.batches.edges import EdgeTable
from harness.batches.loader import End, LoaderWatch, prefetch
from harness.batches.observed.density import BlockDensity
from harness.batches.observed.edges import EdgeRecount, recount_edges
from harness.batches.observed.epoch_watch import EpochWatch
from harness.graphs.graph import Graph

T = TypeVar("T")


class NoSuchBatch(IndexError):
    """An epoch's last batch comes before this one."""


class BatchPlan(ABC):
    """The batches of a training; a batch depends on (graph, options, seed, epoch, index) and on nothing else.

    Args:
        graph: what the batches are of.
        edge_table: where the attributes of their edges come from; None where they carry none.

    Attributes:
        num_batches: batches in an epoch; may be 0. None where epochs differ in it, and only the end of one tells.
        preprocess_s: seconds spent once, before the first epoch, by name (``partition_s``).
    """

    num_batches: int | None
    preprocess_s: dict[str, float]
    _watch: EpochWatch

    def __init__(self, graph: Graph, edge_table: EdgeTable | None) -> None:
        self._graph, self._edge_table = graph, edge_table
        self._recount: EdgeRecount | None = None
        self._density = BlockDensity()

    @abstractmethod
    def batch(self, epoch: int, index: int) -> Batch:
        """Batch ``index`` of an epoch; may be called from several threads, in any order.

        Raises:
            NoSuchBatch: the epoch has fewer; only where `num_batches` is None.
        """

    @abstractmethod
    def counters(self) -> dict[str, Any]:
        """What was asked for, and what the batches handed out so far hold; keys are documented in each class."""

    @abstractmethod
    def _count(self, batch: Batch) -> None:
        """Add a batch that is handed out to the counters."""

    def epoch(self, epoch: int, threads: int = 0, depth: int = 2) -> Generator[Batch, None, None]:
        """The batches of an epoch in order, made ahead by ``threads`` background threads."""
        with closing(prefetch(self._makers(epoch), threads, depth)) as batches:
            for batch in batches:
                self._hand_out(batch)
                yield batch
                del batch  # or it would be held while the next one is waited for
        self._watch.end_epoch()

    def prepared_epoch(
        self,
        epoch: int,
        prepare: Callable[[Batch], T],
        threads: int = 0,
        depth: int = 2,
        watch: LoaderWatch | None = None,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Generator[tuple[Batch, T], None, None]:
        """As `epoch`, each batch with ``prepare(batch)`` (its features, say), made in the background too.

        Args:
            prepare: called in the thread that made the batch, by several threads at once.
            watch: sees the pool, which thread made which batch, and how far ahead.
            around: entered by the thread while it makes and prepares a batch (a stream of the device's, say).
        """
        seen = watch or LoaderWatch()
        seen.begin()

        def prepared(make: Callable[[], Batch | End]) -> tuple[Batch, T] | End:
            seen.make()
            with around():
                batch = make()
                if isinstance(batch, End):
                    seen.unmake()
                    return batch
                return batch, prepare(batch)

        makers = (partial(prepared, make) for make in self._makers(epoch))
        with closing(prefetch(makers, threads, depth, seen)) as items:
            for item in items:
                self._hand_out(item[0])
                yield item
                del item
        self._watch.end_epoch()

    def edge_counters(self) -> dict[str, Any]:
        """Only where batches carry attributes of edges: ``edge_features`` (their number), ``edge_attr_bytes`` (gathered
        so far), and ``edge_recount``, of the first batch with a target: see `recount_edges`."""
        if self._edge_table is None:
            return {}
        return {
            "edge_features": self._edge_table.width,
            "edge_attr_bytes": self._edge_table.fetched_bytes,
            "edge_recount": None if self._recount is None else vars(self._recount),
        }

    def density_counters(self) -> dict[str, Any]:
        """Of the batches handed out so far: see `BlockDensity`."""
        return self._density.counters()

    def watch_counters(self) -> dict[str, Any]:
        """Of the epochs gone through so far: see `EpochWatch`."""
        return self._watch.counters()

    def stop_watching(self) -> None:
        """Before a clock starts: what is watched for the proof costs a pass over each batch's nodes."""
        self._watch.forget()

    def _hand_out(self, batch: Batch) -> None:
        self._count(batch)
        self._density.count(batch)
        self._watch.count(batch)
        if self._edge_table is not None and self._recount is None and len(batch.targets):
            self._recount = recount_edges(self._graph, batch)

    def replay(self, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch in order, made in the caller's thread when asked for, and counted nowhere."""
        return prefetch(self._makers(epoch))

    def _makers(self, epoch: int) -> Iterator[Callable[[], Batch | End]]:
        """One for each batch of the epoch, in order."""
        if self.num_batches is None:
            return (partial(self._batch_or_end, epoch, index) for index in count())
        return (partial(self.batch, epoch, index) for index in range(self.num_batches))

    def _batch_or_end(self, epoch: int, index: int) -> Batch | End:
        try:
            return self.batch(epoch, index)
        except NoSuchBatch:
            return End.END
