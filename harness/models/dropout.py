"""Dropout whose masks cost a fifth of torch's on the CPU."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Each value is 0 with probability ``p``, else divided by ``1 - p`` (Srivastava et al. 2014).

    torch fills a mask on the CPU by one Bernoulli draw after another on one thread, a tenth of a training step of
    sage; uniform numbers compared with ``p`` come five times as fast. They have 24 bits, so the probability is ``p``
    to within 6e-8. Draws are from torch's generator, so a seed gives the same masks again, though not those of
    `torch.nn.functional.dropout`, which other devices use.

    Args:
        x: floating, any shape.
        p: at least 0 and below 1.
        training: False returns ``x``.
    """
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p, training)
    exact = torch.float64 if x.dtype == torch.float64 else torch.float32
    return x * torch.rand(x.shape, dtype=exact).ge_(p).mul_(1.0 / (1.0 - p)).to(x.dtype)
