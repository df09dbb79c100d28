"""Memory that is used again is never memory that somebody still sees."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

from harness.batches.features.row_buffers import RowBuffers


def address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def test_a_matrix_has_the_shape_asked_for() -> None:
    buffers = RowBuffers(3, spare=1)
    for rows in (5, 0, 1, 1000):
        taken = buffers.take(rows)
        assert (tuple(taken.shape), taken.dtype, taken.is_contiguous()) == ((rows, 3), torch.float32, True)


def test_memory_that_nobody_holds_is_used_again() -> None:
    buffers = RowBuffers(1000, spare=2)
    first = address(buffers.take(2000))
    assert address(buffers.take(2000)) == first
    assert address(buffers.take(1500)) == first  # a smaller one fits
    assert address(buffers.take(2200)) == first  # and one that is a tenth larger
    one, two = buffers.take(2000), buffers.take(2000)
    assert address(one) != address(two)


def _alias(make: Callable[[torch.Tensor], Any]) -> Any:
    """What ``make`` keeps of a matrix of ones, which itself is gone."""
    taken = BUFFERS.take(50)
    taken.fill_(1.0)
    return make(taken)


BUFFERS = RowBuffers(8, spare=3)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        lambda x: x[3:5],
        lambda x: x.T,
        lambda x: x.detach(),
        lambda x: x.view(-1),
        lambda x: x.numpy(),
        lambda x: x.numpy()[1:],
        lambda x: np.asarray(x)[2:, 1:].T,
        lambda x: memoryview(x.numpy()),
        lambda x: np.from_dlpack(x),
        lambda x: torch.from_dlpack(x)[1:],
        lambda x: torch.tensor([]).set_(x.untyped_storage(), 0, (400,)),
        lambda x: [x],
    ],
)
def test_whatever_shares_the_memory_holds_it(make: Callable[[torch.Tensor], Any]) -> None:
    kept = _alias(make)
    gc.collect()
    for _ in range(6):
        BUFFERS.take(50).fill_(-1.0)
    assert (np.asarray(kept[0] if isinstance(kept, list) else kept) == 1.0).all()


def test_what_a_backward_pass_saved_is_held() -> None:
    weight = torch.ones(8, 2, requires_grad=True)

    def product() -> torch.Tensor:
        x = BUFFERS.take(50)
        x.fill_(3.0)
        return (x @ weight).sum()

    loss = product()
    for _ in range(6):
        BUFFERS.take(50).fill_(-1.0)
    loss.backward()
    assert torch.equal(weight.grad, torch.full((8, 2), 150.0))


def test_a_cycle_gives_its_memory_back_when_it_is_collected() -> None:
    buffers = RowBuffers(1000, spare=1)
    cycle: list[Any] = [buffers.take(2000)]
    cycle.append(cycle)
    first = address(cycle[0])
    assert address(buffers.take(2000)) != first
    del cycle
    gc.collect()
    assert address(buffers.take(2000)) == first


def test_no_more_is_kept_than_asked_for() -> None:
    buffers = RowBuffers(10, spare=2)
    held = [buffers.take(10) for _ in range(7)]
    assert len({address(matrix) for matrix in held}) == 7
    del held
    assert len(buffers._spare) == 2


def test_threads_never_share_a_matrix() -> None:
    buffers, gate = RowBuffers(64, spare=3), threading.Barrier(4)

    def write_and_look(thread: int) -> bool:
        gate.wait()
        right = True
        for turn in range(400):
            x = buffers.take(20 + turn % 50)
            x.fill_(thread * 1000 + turn)
            view = x[1:]
            del x
            right &= bool((view == thread * 1000 + turn).all())
        return right

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(write_and_look, range(4)))


def test_one_at_least_is_kept() -> None:
    with pytest.raises(ValueError, match="spare must be at least 1; got 0"):
        RowBuffers(3, spare=0)
