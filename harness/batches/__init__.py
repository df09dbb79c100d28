"""Graph to mini-batch. In: a `Graph` and options. Out: `Batch`es (hop-wise blocks, clusters, full graph)
with their features fetched.

May import harness.graphs and what it may import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.batches.sampling.numba_sampler import NeighborSampler as NeighborSampler

__all__ = ["NeighborSampler"]


def __getattr__(name: str) -> Any:
    if name == "NeighborSampler":  # numba is imported only where a sampler is made
        from harness.batches.sampling.numba_sampler import NeighborSampler

        return NeighborSampler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
