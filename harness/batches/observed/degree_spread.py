"""Degrees of the nodes in batches against those of the graph: which part of the graph a training looks at."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.graphs.graph import Graph

_TOP = 0.01  # of the nodes: those of highest degree
_NODES_AT_ONCE = 1 << 22


class DegreeSpread:
    """In-degrees of the nodes of the batches that it is shown; a node counts in each batch that holds it."""

    def __init__(self, graph: Graph) -> None:
        self._indptr = graph.indptr
        self._held = np.zeros(0, np.int64)  # nodes by degree
        self._batches = 0

    def look(self, batch: Batch) -> None:
        """Add a batch."""
        self._batches += 1
        self._held = _added(self._held, batch.blocks[0].src_degree)

    def counters(self) -> dict[str, Any]:
        """``mean`` in-degree of the nodes in ``batches`` and in the ``graph``, and along its edges (``edges``: a node
        counts as often as edges end in it, which is how often uniform draws meet it in a graph of both directions);
        ``top_share``: likewise, the share of nodes that are among the 1 % of highest degree; ``histogram``: shares of
        degree 0, 1, 2 to 3, 4 to 7, …; ``distance``: total variation between the histograms of batches and graph, and
        of batches and edges. ``looked_at``: batches. None before the first."""
        if not self._batches:
            return {"sampled_degrees": None}
        graph = np.zeros(0, np.int64)
        for first in range(0, len(self._indptr) - 1, _NODES_AT_ONCE):
            graph = _added(graph, np.diff(np.asarray(self._indptr[first : first + _NODES_AT_ONCE + 1])))
        kinds = {"batches": self._held, "graph": graph, "edges": graph * np.arange(len(graph))}
        top = first_of_the_top(graph)
        shares = {name: by_powers_of_two(counts) for name, counts in kinds.items()}
        return {
            "sampled_degrees": {
                "looked_at": self._batches,
                "mean": {name: _mean(counts) for name, counts in kinds.items()},
                "top_share": {name: _share(counts[top:], counts) for name, counts in kinds.items()},
                "histogram": {name: share.tolist() for name, share in shares.items()},
                "distance": {name: _distance(shares["batches"], shares[name]) for name in ("graph", "edges")},
            }
        }


def by_powers_of_two(counts: np.ndarray) -> np.ndarray:
    """Shares of degree 0, 1, 2 to 3, 4 to 7, …, float64; the last one is not empty.

    Args:
        counts: nodes of each degree, from 0.
    """
    _, power = np.frexp(np.arange(len(counts)))  # d = m * 2**power with m in [1/2, 1): 1 + floor(log2 d), 0 for 0
    found = np.trim_zeros(np.bincount(power, counts), "b")
    return found / max(1.0, float(found.sum()))


def first_of_the_top(counts: np.ndarray) -> int:
    """The lowest degree that at most 1 % of the nodes reach; above all where more have the highest one.

    Args:
        counts: nodes of each degree, from 0.
    """
    reach = np.cumsum(counts[::-1])[::-1]  # nodes of this degree or a higher one
    return int(np.count_nonzero(reach > _TOP * counts.sum()))


def _added(counts: np.ndarray, degree: np.ndarray) -> np.ndarray:
    found = np.bincount(degree, minlength=len(counts))
    found[: len(counts)] += counts
    return found


def _mean(counts: np.ndarray) -> float:
    return float(counts @ np.arange(len(counts)) / max(1, counts.sum()))


def _share(of: np.ndarray, counts: np.ndarray) -> float:
    return float(of.sum() / max(1, counts.sum()))


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    length = max(len(one), len(other))
    padded = [np.pad(share, (0, length - len(share))) for share in (one, other)]
    return 0.5 * float(np.abs(padded[0] - padded[1]).sum())
