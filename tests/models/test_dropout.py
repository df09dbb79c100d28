"""Dropout is what its formula says: rate, scale, gradient, and the same masks for the same seed."""

from __future__ import annotations

import pytest
import torch

from harness.models.dropout import dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_rate_and_scale(p, dtype):
    torch.manual_seed(0)
    out = dropout(torch.ones(400, 500, dtype=dtype), p, training=True)
    assert out.dtype == dtype
    kept = out[out != 0]
    torch.testing.assert_close(kept.float(), torch.full_like(kept, 1 / (1 - p)).float())
    standard_error = (p * (1 - p) / out.numel()) ** 0.5
    assert abs(1 - kept.numel() / out.numel() - p) < 4.5 * standard_error


def test_values_are_dropped_independently():
    """Of neighbours in a row and in a column both are dropped in a quarter of the cases."""
    torch.manual_seed(1)
    dropped = dropout(torch.ones(500, 500), 0.5, training=True) == 0
    for first, second in ((dropped[:, 1:], dropped[:, :-1]), (dropped[1:], dropped[:-1])):
        both = float((first & second).double().mean())
        assert abs(both - 0.25) < 4.5 * (0.25 * 0.75 / first.numel()) ** 0.5 * 1.5


def test_the_gradient_has_the_same_mask():
    x = torch.randn(50, 60, requires_grad=True)
    out = dropout(x, 0.3, training=True)
    out.sum().backward()
    torch.testing.assert_close(x.grad, torch.where(out == 0, 0.0, 1 / 0.7))


def test_a_seed_gives_the_same_masks_and_steps_differ():
    x = torch.ones(30, 40)
    torch.manual_seed(3)
    first, second = dropout(x, 0.5, training=True), dropout(x, 0.5, training=True)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.5, training=True), first)
    assert not torch.equal(first, second)


def test_nothing_is_dropped_in_evaluation_or_at_probability_0():
    x = torch.randn(5, 6)
    state = torch.get_rng_state()
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    assert torch.equal(torch.get_rng_state(), state)
