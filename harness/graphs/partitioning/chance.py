"""What parts would keep if nodes were dealt into them at random: the yardstick of every partitioner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Chance:
    """Edges inside parts, were the nodes permuted at random over parts of these sizes.

    Attributes:
        mean: expected edges inside parts.
        sd: their standard deviation.
    """

    mean: float
    sd: float

    def ratio(self, kept: float) -> float:
        """Edges kept over those expected; 1.0 where none are expected."""
        return kept / self.mean if self.mean > 0 else 1.0

    def sigmas(self, kept: float) -> float:
        """Standard deviations above what is expected; 0.0 where every permutation keeps as many."""
        return (kept - self.mean) / self.sd if self.sd > 1e-6 * max(self.mean, 1.0) ** 0.5 else 0.0


def kept_by_chance(degree: np.ndarray, sizes: np.ndarray) -> Chance:
    """Exact first two moments of the join count under permutation (Moran 1948; Cliff and Ord 1981).

    Two edges that share a node are inside together when three nodes are, two that do not when two pairs are.

    Args:
        degree: of each node of an undirected simple graph, int, ``[num_nodes]``.
        sizes: nodes of each part, int; their sum is ``num_nodes``.
    """
    n, edges = len(degree), float(degree.sum()) / 2
    degree, sizes = degree.astype(np.float64), sizes.astype(np.float64)
    pairs = sizes * (sizes - 1)
    triples = pairs * (sizes - 2)
    one = pairs.sum() / max(n * (n - 1), 1)
    touching = triples.sum() / max(n * (n - 1) * (n - 2), 1)
    apart = ((triples * (sizes - 3)).sum() + pairs.sum() ** 2 - (pairs**2).sum()) / max(
        n * (n - 1) * (n - 2) * (n - 3), 1
    )
    sharing = float((degree * (degree - 1)).sum())  # ordered pairs of edges with a node in common
    mean = edges * one
    variance = mean + sharing * touching + (edges * (edges - 1) - sharing) * apart - mean**2
    return Chance(float(mean), float(max(variance, 0.0) ** 0.5))
