"""The data. In: a dataset section of a spec. Out: one `Graph` on disk (CSR, features, labels, splits,
fingerprint), and partitions of it.

May import harness.spec, harness.records and harness.plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.graphs.partitioning import cached_partition as cached_partition
    from harness.graphs.partitioning import edge_cut as edge_cut
    from harness.graphs.partitioning import partition as partition

__all__ = ["cached_partition", "edge_cut", "partition"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # what cuts is imported only where a partition is made
        from harness.graphs import partitioning

        return getattr(partitioning, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
