"""Batches made ahead by threads."""

from __future__ import annotations

import threading
from functools import partial
from itertools import islice

import pytest

from harness.batches.loader import prefetch


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


@pytest.mark.parametrize(("threads", "depth"), [(0, 2), (1, 2), (1, 5), (3, 1)])
def test_no_more_than_depth_are_made_ahead(threads: int, depth: int) -> None:
    made: list[int] = []
    makers = [partial(lambda i: made.append(i) or i, i) for i in range(30)]
    for taken, i in enumerate(prefetch(makers, threads, depth), start=1):
        threading.Event().wait(0.002)  # time to run too far ahead
        assert len(made) - taken <= (0 if threads == 0 else max(depth, threads))
        assert i == taken - 1


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
    assert len(made) <= 2 + max(2, threads) + 1
    stopped = len(made)
    threading.Event().wait(0.02)
    assert len(made) == stopped
    for _ in prefetch([partial(made.append, i) for i in range(10)], threads):
        break  # the loop lets go of the iterator


@pytest.mark.parametrize("threads", [1, 2])
def test_work_is_done_in_the_background(threads: int) -> None:
    assert threading.get_ident() not in set(prefetch([threading.get_ident] * 5, threads))
    assert set(prefetch([threading.get_ident] * 5, 0)) == {threading.get_ident()}


def test_senseless_numbers_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="threads must be at least 0"):
        prefetch([int], -1)
    with pytest.raises(ValueError, match="depth at least 1"):
        prefetch([int], 1, 0)
