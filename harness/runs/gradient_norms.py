"""The distribution of the gradients' global norm, looked at as often as it costs nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

FIRST = 16  # steps that are all looked at
EVERY = 16  # and of those after them one in so many


class GradientNorms:
    """Norms of the steps' gradients, after unscaling and before clipping.

    Where gradients are clipped each step has its norm anyway. Elsewhere the norm would be a pass over all gradients for
    the record's sake: there the first `FIRST` steps are looked at, and then every `EVERY` th.

    Args:
        clip: as in the options.
    """

    def __init__(self, clip: float | None) -> None:
        self._clip, self._steps = clip, 0
        self._waiting: list[torch.Tensor] = []
        self._norms: list[float] = []

    def due(self) -> bool:
        """Whether the next step's norm is wanted; asked once a step."""
        step = self._steps
        self._steps += 1
        return self._clip is not None or step < FIRST or step % EVERY == 0

    def add(self, norm: torch.Tensor) -> None:
        """A norm, still on the device."""
        self._waiting.append(norm)

    def read(self) -> None:
        """Wait for the norms that were added: once an epoch, never within a step."""
        if self._waiting:
            self._norms += torch.stack(self._waiting).tolist()
            self._waiting.clear()

    def counters(self) -> dict[str, Any]:
        """``gradient_norm``: quantiles of the finite norms, their ``ratio`` (q95 over q05; None where that is 0), and
        how many were ``looked_at``; None where none was finite. With clipping ``clipped_steps``."""
        found: dict[str, Any] = {"gradient_norm": _distribution(self._norms)}
        if self._clip is not None:
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
