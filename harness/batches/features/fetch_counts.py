"""How often each node was fetched: what a cache's hits are held to, and the best hits that there could have been."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.batches.features.cache_policy import CachedNodes, most_hits, must_be_cached
from harness.batches.features.gather import count_nodes
from harness.graphs.read_only import read_only


class FetchCounts:
    """Fetches of each node, from the first until `stop`.

    Counting costs time at each fetch and memory for each node, and only a store with a cache does it: where epochs are
    timed it has to end before. Of the scores only what must be cached is kept, a bit a node. Not for several threads at
    once.

    Args:
        cache: the nodes cached, and what they were chosen by.
    """

    def __init__(self, cache: CachedNodes) -> None:
        self._cached, self._num_nodes = len(cache.nodes), len(cache.scores.score)
        self._due = np.packbits(must_be_cached(cache.scores.score, self._cached))
        self._fetches: np.ndarray | None = np.zeros(self._num_nodes, np.int32)
        self._requests = self._hits = 0
        self._found: dict[str, Any] = {}
        count_nodes(read_only(np.empty(0, np.int64), np.int64), self._fetches)  # compiled before any clock starts

    def add(self, nodes: np.ndarray, hits: int) -> None:
        """These nodes, int64, read-only, were fetched, and so many of their rows came from the cache."""
        if self._fetches is not None:
            self._requests += len(nodes)
            self._hits += hits
            count_nodes(nodes, self._fetches)

    def stop(self) -> None:
        """Keep what was found, count no more, and give the memory back."""
        self._found = self.found()
        self._fetches = None
        self._due = np.empty(0, np.uint8)

    def found(self) -> dict[str, Any]:
        """``cache_hits_optimal``, the hits of the best static cache of this size by how often each node was fetched;
        and ``cache_recount``: the ``requests`` that were counted node by node, the ``hits`` among them, and those
        ``due`` by the fetches of the nodes that the scores, looked at in another way, say must be cached."""
        if self._fetches is None:
            return self._found
        due = self._fetches[np.unpackbits(self._due, count=self._num_nodes).view(np.bool_)]
        return {
            "cache_hits_optimal": most_hits(self._fetches, self._cached),
            "cache_recount": {
                "requests": self._requests,
                "hits": self._hits,
                "due": int(due.sum(dtype=np.int64)),
            },
        }
