"""What draws: the contract of every neighbour sampler."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harness.batches.batch import Batch
from harness.batches.edges import EdgeTable


class Sampler(Protocol):
    """`NeighborSampler`, or one that draws the same elsewhere."""

    fanout: tuple[int, ...]
    method: str
    edge_table: EdgeTable | None  # where the attributes of its batches' edges come from; None where they carry none

    @property
    def weights(self) -> np.ndarray | None:
        """What it really draws by: of each node as a neighbour, float64, ``[num_nodes]``; None without weights."""

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch; from any thread."""
