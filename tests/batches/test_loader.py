"""Batches made ahead by threads."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
import weakref
from functools import partial
from itertools import count, islice

import pytest

from harness.batches.loader import End, LoaderWatch, ahead_at_most, prefetch


@pytest.fixture(autouse=True)
def _no_thread_left():
    before = threading.active_count()
    yield
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [0, 1, 2, 4])
@pytest.mark.parametrize("depth", [1, 3])
def test_order_is_kept_when_the_first_are_slow(threads: int, depth: int) -> None:
    def make(i: int) -> int:
        threading.Event().wait(0.02 if i % 4 == 0 else 0)
        return i

    assert list(prefetch([partial(make, i) for i in range(20)], threads, depth)) == list(range(20))


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_nothing_to_make_is_nothing(threads: int) -> None:
    assert list(prefetch([], threads)) == []


class Item:
    """Something that can be watched by a weak reference."""


def _settled(watch: LoaderWatch) -> int:
    """Items made, when the threads have run as far ahead as they may."""
    made = -1
    while made != watch.made:
        made = watch.made
        threading.Event().wait(0.01)
    return made


@pytest.mark.parametrize(("threads", "depth"), [(0, 2), (1, 1), (1, 2), (1, 5), (2, 2), (3, 1)])
def test_at_most_depth_are_made_that_the_consumer_has_not_taken(threads: int, depth: int) -> None:
    watch = LoaderWatch()

    def make() -> Item:
        watch.make()
        return Item()

    bound = ahead_at_most(threads, depth)
    for taken, _ in enumerate(prefetch([make] * 12, threads, depth, watch), start=1):
        made = _settled(watch)
        assert made == (taken if threads == 0 else min(12, taken + bound))  # neither more ahead, nor fewer
    assert watch.most_ahead == bound == (max(depth, threads) if threads else 1)
    assert (watch.made, watch.made_in_background) == (12, 12 if threads else 0)
    assert (watch.threads, watch.submitted) == ((threads, bound) if threads else (0, 0))
    assert min(threads, 1) <= watch.threads_used <= threads


@pytest.mark.parametrize(("items", "submitted"), [(0, 0), (1, 1), (2, 2), (9, 4)])
def test_what_the_pool_has_at_first_depends_on_no_speed(items: int, submitted: int) -> None:
    for _ in range(20):
        watch = LoaderWatch()
        assert list(prefetch([int] * items, 3, 4, watch)) == [0] * items
        assert (watch.threads, watch.submitted) == (3, submitted)


def test_threads_are_counted_by_epoch() -> None:
    """Each epoch has a pool of its own: the threads of two epochs are no more than those of one."""
    watch, gate = LoaderWatch(), threading.Barrier(2)

    def make() -> None:
        watch.make()
        gate.wait(10)  # neither goes on before the other thread has an item too

    for _ in range(3):
        watch.begin()
        assert len(list(prefetch([make] * 6, 2, 2, watch))) == 6
    assert watch.threads_used == 2


@pytest.mark.parametrize(("threads", "depth"), [(0, 2), (1, 1), (1, 3), (2, 2), (4, 2)])
def test_no_more_than_depth_and_the_one_taken_are_alive(threads: int, depth: int) -> None:
    """What was taken and let go of is freed before the next one is due, also while that is waited for."""
    alive: weakref.WeakSet[Item] = weakref.WeakSet()
    most = 0
    lock = threading.Lock()

    def make() -> Item:
        nonlocal most
        time.sleep(0.002)
        with lock:
            item = Item()
            alive.add(item)
            most = max(most, len(alive))
        return item

    gc.disable()  # by reference counts alone
    try:
        for item in prefetch([make] * 40, threads, depth):
            del item
            time.sleep(0.001)
        assert not alive
    finally:
        gc.enable()
    assert most <= ahead_at_most(threads, depth) + 1


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_endless_makers_end_where_one_says_so(threads: int) -> None:
    made: list[int] = []

    def make(i: int) -> int | End:
        made.append(i)
        return i if i < 7 else End.END

    assert list(prefetch((partial(make, i) for i in count()), threads, 4)) == list(range(7))
    assert len(made) <= 8 + max(4, threads)
    assert list(prefetch((partial(make, i) for i in count(7)), threads)) == []


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_an_exception_comes_where_its_item_is_due(threads: int) -> None:
    def make(i: int) -> int:
        if i == 3:
            raise ValueError("batch 3")
        return i

    items = prefetch([partial(make, i) for i in range(10)], threads)
    assert list(islice(items, 3)) == [0, 1, 2]
    with pytest.raises(ValueError, match="batch 3"):
        next(items)
    assert list(items) == []


@pytest.mark.parametrize("threads", [1, 3])
def test_an_early_stop_leaves_no_thread_and_starts_nothing_more(threads: int) -> None:
    made: list[int] = []
    items = prefetch([partial(made.append, i) for i in range(1000)], threads)
    for _ in islice(items, 2):
        pass
    items.close()
    assert len(made) <= 2 + max(2, threads)
    stopped = len(made)
    threading.Event().wait(0.02)
    assert len(made) == stopped
    for _ in prefetch([partial(made.append, i) for i in range(10)], threads):
        break  # the loop lets go of the iterator


@pytest.mark.parametrize("threads", [1, 3])
def test_a_consumer_that_fails_leaves_no_thread(threads: int) -> None:
    before = threading.active_count()

    def consume() -> None:
        with contextlib.closing(prefetch([Item] * 50, threads)) as items:
            for _ in items:
                assert threading.active_count() > before
                raise RuntimeError("diverged")

    with pytest.raises(RuntimeError, match="diverged") as raised:
        consume()
    assert threading.active_count() == before
    assert raised.traceback  # though what holds the iterator is still there


@pytest.mark.parametrize("threads", [1, 2])
def test_work_is_done_in_the_background(threads: int) -> None:
    assert threading.get_ident() not in set(prefetch([threading.get_ident] * 5, threads))
    assert set(prefetch([threading.get_ident] * 5, 0)) == {threading.get_ident()}


def test_senseless_numbers_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="threads must be at least 0"):
        prefetch([int], -1)
    with pytest.raises(ValueError, match="depth at least 1"):
        prefetch([int], 1, 0)
