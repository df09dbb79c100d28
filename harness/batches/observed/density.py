"""How dense the blocks of batches are: what decides between sparse and dense aggregation."""

from __future__ import annotations

from typing import Any

from harness.batches.batch import Batch


class BlockDensity:
    """Mean over the batches that it is shown of edges over destinations times sources, layer by layer."""

    def __init__(self) -> None:
        self._batches = 0
        self._sums: list[float] = []

    def count(self, batch: Batch) -> None:
        """Add a batch; a block without destinations or sources has density 0."""
        self._batches += 1
        self._sums = self._sums or [0.0] * len(batch.blocks)
        for layer, block in enumerate(batch.blocks):
            self._sums[layer] += block.num_edges / max(1, block.num_dst * block.num_src)

    def counters(self) -> dict[str, Any]:
        """``block_density``, input layer first; empty before the first batch. Repeated edges count as often as they
        come, so that it can be above 1."""
        return {"block_density": [total / self._batches for total in self._sums]}
