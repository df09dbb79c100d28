"""The distribution of the gradients' global norm, looked at as often as it costs nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from harness.models.sparse_looks import is_looked_at

CLIPPED = 2  # finite steps whose gradients are looked at after clipping too
LEAST = 1e-20  # norms below it say nothing about clipping: float32 may round the gradients' squares to 0


class GradientNorms:
    """Norms of the steps' gradients, after unscaling and before clipping.

    Where gradients are clipped each step has its norm anyway. Elsewhere the norm would be a pass over all gradients for
    the record's sake: there it is looked at by the rule of `harness.models.sparse_looks`, and where a curve is wanted
    in the first step of each epoch too.

    Args:
        clip: as in the options.
        curve: whether each epoch is to have a norm.
    """

    def __init__(self, clip: float | None, curve: bool = False) -> None:
        self._clip, self._steps = clip, 0
        self._curve, self._new_epoch = curve, False
        self._by_epoch: list[float | None] = []
        self._waiting: list[torch.Tensor] = []
        self._norms: list[float] = []
        self._pairs: list[torch.Tensor] = []  # before and after clipping
        self._clipped_to: list[float] = []

    def begin_epoch(self) -> None:
        """The next step is an epoch's first."""
        self._new_epoch = self._curve

    def due(self) -> bool:
        """Whether the next step's norm is wanted; asked once a step."""
        step, first = self._steps, self._new_epoch
        self._steps += 1
        self._new_epoch = False
        return self._clip is not None or first or is_looked_at(step)

    def add(self, norm: torch.Tensor, parameters: Iterable[torch.Tensor]) -> None:
        """A norm, still on the device, and whose gradients the step was made with, clipped if they are to be."""
        self._waiting.append(norm)
        if self._clip is not None and len(self._clipped_to) + len(self._pairs) < CLIPPED:
            gradients = [p.grad for p in parameters if p.grad is not None]
            self._pairs.append(torch.stack([norm, nn.utils.get_total_norm(gradients)]))

    def read(self) -> None:
        """Wait for the norms that were added: once an epoch, at its end, never within a step."""
        norms = torch.stack(self._waiting).tolist() if self._waiting else []
        self._waiting.clear()
        self._norms += norms
        finite = [norm for norm in norms if math.isfinite(norm)]
        self._by_epoch.append(float(np.median(finite)) if finite else None)
        if self._pairs:
            self._clipped_to += [
                after / due for before, after in torch.stack(self._pairs).tolist() if (due := self._due(before))
            ]
            self._pairs.clear()

    def _due(self, norm: float) -> float:
        """What `clip_grad_norm_` makes of a norm; 0 where that cannot be seen."""
        assert self._clip is not None
        due = norm * min(1.0, self._clip / (norm + 1e-6)) if math.isfinite(norm) else 0.0
        return due if due > LEAST else 0.0

    @property
    def by_epoch(self) -> list[float | None]:
        """Median of each epoch's finite norms; None where there was none, or none was looked at."""
        return list(self._by_epoch)

    def counters(self) -> dict[str, Any]:
        """``gradient_norm``: quantiles of the finite norms, their ``ratio`` (q95 over q05; None where that is 0), and
        how many were ``looked_at``; None where none was finite. With clipping ``clipped_steps``, and ``clipped_to``:
        the norm after clipping over what it should be, of the first `CLIPPED` finite ones."""
        found: dict[str, Any] = {"gradient_norm": _distribution(self._norms)}
        if self._clip is not None:
            found["clipped_to"] = list(self._clipped_to)
            found["clipped_steps"] = sum(self._clip < norm < math.inf for norm in self._norms)
        return found


def _distribution(norms: list[float]) -> dict[str, float | None] | None:
    finite = [norm for norm in norms if math.isfinite(norm)]
    if not finite:
        return None
    low, median, high = (float(q) for q in np.quantile(finite, [0.05, 0.5, 0.95]))
    ratio = high / low if low > 0 else None
    return {
        "q05": low,
        "median": median,
        "q95": high,
        "max": max(finite),
        "ratio": ratio,
        "looked_at": len(norms),
    }
