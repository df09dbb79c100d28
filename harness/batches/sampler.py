"""What draws: the contract of every neighbour sampler."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harness.batches.batch import Batch


class Sampler(Protocol):
    """`NeighborSampler`, or one that draws the same elsewhere."""

    fanout: tuple[int, ...]
    method: str

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch; from any thread."""
