"""Overflow of linear layers in float16 is counted where it begins, by the layer's name."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from harness.models.linear_range import LinearRange
from harness.models.sparse_looks import LOOK_EVERY, LOOK_FIRST


def _run(values: float, dtype: torch.dtype, calls: int = 1, training: bool = True) -> dict:
    net = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)).train(training)
    for layer in net:
        nn.init.ones_(layer.weight)
    watch = LinearRange(net, dtype)
    with torch.autocast("cpu", dtype=dtype):
        for _ in range(calls):
            net(torch.full((3, 4), values))
    return watch.counters()


@pytest.mark.parametrize(
    ("values", "overflows"),
    [
        (1.0, {}),
        (1e4, {"1": 1}),  # sums of 40,000 fit, those of four of them do not
        (3e4, {"0": 1}),  # the second layer reads what is not finite already
        (1e5, {"0": 1}),  # finite as it came, and not once it is cast
        (float("inf"), {}),
    ],
)
def test_only_the_layer_that_left_the_range_is_counted(values, overflows):
    assert _run(values, torch.float16) == {"linear_checked": 2, "linear_overflows": overflows}


def test_bfloat16_and_evaluation_are_left_alone():
    nothing = {"linear_checked": 0, "linear_overflows": {}}
    assert _run(1e5, torch.bfloat16) == nothing
    assert _run(1e5, torch.float16, training=False) == nothing


def test_later_outputs_are_sampled():
    calls = LOOK_FIRST + 2 * LOOK_EVERY
    assert _run(1e5, torch.float16, calls)["linear_overflows"] == {"0": LOOK_FIRST + 2}
