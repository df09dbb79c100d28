"""Batches made ahead of the training step, by threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(makers: Sequence[Callable[[], T]], threads: int = 0, depth: int = 2) -> Iterator[T]:
    """What the makers make, in their order, at most ``depth`` made or being made ahead of the consumer.

    Each maker must depend on nothing but itself; then the results are the same for any number of threads. Threads
    help where a maker does its work without the GIL (the sampler and the gather of features do). They are gone
    when the last item is taken, when a maker raises, and when the iterator is closed early.

    Args:
        makers: functions without arguments, called once each at most, and in this order.
        threads: 0 makes each item when it is asked for, in the caller's thread.
        depth: items ahead, at least 1; raised to the number of threads.

    Yields:
        One item a maker; none for no makers.

    Raises:
        ValueError: threads below 0 or depth below 1. Whatever a maker raises, where its item is due.
    """
    if threads < 0 or depth < 1:
        raise ValueError(f"threads must be at least 0 and depth at least 1; got {threads} and {depth}")
    if threads == 0 or not makers:
        return (make() for make in makers)
    return _prefetched(makers, threads, max(depth, threads))


def _prefetched(makers: Sequence[Callable[[], T]], threads: int, depth: int) -> Iterator[T]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="batches")
    ahead: deque[Future[T]] = deque()
    try:
        for make in makers:
            ahead.append(pool.submit(make))
            if len(ahead) > depth:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
