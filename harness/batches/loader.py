"""Batches made ahead of the training step, by threads of this process."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


class End(Enum):
    """What a maker returns where there is no item, and none after it."""

    END = "end"


Maker = Callable[[], T | End]


class LoaderWatch:
    """What the loader is and did, seen where it makes its pool, hands it makers, and runs them.

    Attributes:
        threads: of the pool; 0 where there was none.
        submitted: most items at one time that the pool had been given and the consumer had not taken. Unlike
            `most_ahead` it depends on no thread's speed.
        threads_used: most threads that made items of one epoch; fewer than `threads` where those are fast.
        made: items made (or begun, where making one raised).
        made_in_background: of these, on another thread than the one that made this object.
        most_ahead: most items made or being made at one time that the consumer had not taken yet.
    """

    def __init__(self) -> None:
        self.threads = self.submitted = self.threads_used = 0
        self.made = self.made_in_background = self.most_ahead = 0
        self._makers: set[int] = set()
        self._consumer, self._ahead = threading.get_ident(), 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """No item is ahead: a new epoch, whatever the one before it left."""
        with self._lock:
            self._ahead = 0
            self._makers.clear()

    def pool(self, threads: int, submitted: int) -> None:
        """A pool of so many threads has so many items to make, or made, that the consumer has not taken."""
        self.threads, self.submitted = threads, max(self.submitted, submitted)

    def make(self) -> None:
        """An item is begun, on this thread."""
        thread = threading.get_ident()
        with self._lock:
            self.made += 1
            if thread != self._consumer:
                self.made_in_background += 1
                self._makers.add(thread)
                self.threads_used = max(self.threads_used, len(self._makers))
            self._ahead += 1
            self.most_ahead = max(self.most_ahead, self._ahead)

    def unmake(self) -> None:
        """What was begun on this thread is no item: the makers have come to their end."""
        with self._lock:
            self.made -= 1
            self.made_in_background -= threading.get_ident() != self._consumer
            self._ahead -= 1

    def take(self) -> None:
        """The consumer takes an item."""
        with self._lock:
            self._ahead -= 1


def prefetch(
    makers: Iterable[Maker[T]], threads: int = 0, depth: int = 2, watch: LoaderWatch | None = None
) -> Generator[T, None, None]:
    """What the makers make, in their order, at most ``depth`` made or being made that the consumer has not taken.

    Each maker must depend on nothing but itself; then the results are the same for any number of threads. Threads
    help where a maker does its work without the GIL (the sampler and the gather of features do). They are gone
    when the last item is taken, when a maker raises, and when the iterator is closed early. An item that was taken is
    not held here.

    Args:
        makers: functions without arguments, called once each at most, and begun in this order. One that returns
            ``End.END`` is the last; so there may be endlessly many.
        threads: 0 makes each item when it is asked for, in the caller's thread.
        depth: items ahead, at least 1; raised to the number of threads.
        watch: told of each item that the consumer takes, before another one is begun in its place, and of the pool.

    Yields:
        One item a maker; none for no makers.

    Raises:
        ValueError: threads below 0 or depth below 1. Whatever a maker raises, where its item is due.
    """
    if threads < 0 or depth < 1:
        raise ValueError(f"threads must be at least 0 and depth at least 1; got {threads} and {depth}")
    if threads == 0:
        return _made_when_due(iter(makers), watch or LoaderWatch())
    return _prefetched(iter(makers), threads, ahead_at_most(threads, depth), watch or LoaderWatch())


def ahead_at_most(threads: int, depth: int) -> int:
    """The bound of `prefetch` on items that are ahead of the consumer."""
    return max(depth, threads) if threads else 1  # without threads an item is taken as soon as it is made


def _made_when_due(makers: Iterator[Maker[T]], watch: LoaderWatch) -> Generator[T, None, None]:
    for make in makers:
        item = make()
        if isinstance(item, End):
            return
        watch.take()
        yield item
        del item  # or it would be held while the next one is made


def _prefetched(makers: Iterator[Maker[T]], threads: int, depth: int, watch: LoaderWatch) -> Generator[T, None, None]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="batches")
    ahead: deque[Future[T | End]] = deque()
    try:
        ahead.extend(pool.submit(make) for make in islice(makers, depth))
        watch.pool(pool._max_workers, len(ahead))  # the pool's own word, not what was asked for
        while ahead:
            item = ahead[0].result()  # waited for where it is, so that no more than depth are ahead meanwhile
            if isinstance(item, End):
                return
            ahead.popleft()
            watch.take()
            ahead.extend(pool.submit(make) for make in islice(makers, 1))
            watch.pool(pool._max_workers, len(ahead))
            yield item
            del item
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
