"""Parts of a graph. In: a CSR. Out: the part of each node, what it cuts, and a cache keyed by content.

``undirected`` simplifies the graph, ``metis`` and ``streaming`` cut it, ``report`` and ``chance`` say how well.
"""

from __future__ import annotations

from harness.graphs.partitioning.cache import cached_partition
from harness.graphs.partitioning.methods import METHODS, partition
from harness.graphs.partitioning.report import edge_cut

__all__ = ["METHODS", "cached_partition", "edge_cut", "partition"]
