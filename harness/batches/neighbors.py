"""Mini-batches of training nodes with sampled neighbourhoods (`batching: neighbor`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.epochs import BatchPlan
from harness.batches.randomness import SEED_ORDER, permutation
from harness.batches.sampling import NeighborSampler
from harness.graphs.graph import Graph
from harness.spec.options import Sampling


class NeighborBatches(BatchPlan):
    """The training nodes, shuffled anew each epoch, ``batch_size`` at a time; the last batch may be short.

    Args:
        graph: its CSR must be valid, as that of a prepared graph is.
        sampling: method and fan-out, one hop a layer.
        batch_size: seeds of a batch, at least 1.
        seed: of the order and of the draws.

    Raises:
        ValueError: a sampling method that does not exist.
    """

    def __init__(self, graph: Graph, sampling: Sampling, batch_size: int, seed: int) -> None:
        self._sampler = NeighborSampler(
            graph.indptr,
            graph.indices,
            sampling.fanout,
            sampling.method,
            seed,
            validate=False,
            has_self_loops=graph.meta.self_loops > 0,
        )
        self._train = np.asarray(graph.train, dtype=np.int64)
        self._batch_size = batch_size
        self._order = lru_cache(maxsize=2)(lambda epoch: permutation(len(self._train), SEED_ORDER, seed, epoch))
        self.num_batches = -(-len(self._train) // batch_size)
        self.preprocess_s = {}
        hops = len(sampling.fanout)
        self._batches = self._nodes = 0
        self._rows, self._edges = np.zeros(hops, np.int64), np.zeros(hops, np.int64)

    def batch(self, epoch: int, index: int) -> Batch:
        chosen = self._order(epoch)[index * self._batch_size : (index + 1) * self._batch_size]
        return self._sampler.sample(self._train[chosen], epoch, index)

    def _count(self, batch: Batch) -> None:
        self._batches += 1
        self._nodes += len(batch.nodes)
        for hop in range(len(self._rows)):
            self._rows[hop] += int(batch.stats[f"hop{hop + 1}_rows"])
            self._edges[hop] += int(batch.stats[f"hop{hop + 1}_edges"])

    def counters(self) -> dict[str, Any]:
        """``batching, method, fanout`` (asked), ``fanout_mean`` (neighbours drawn per node, each hop),
        ``batches_per_epoch``, and totals so far: ``batches, nodes, edges``."""
        return {
            "batching": "neighbor",
            "method": self._sampler.method,
            "fanout": list(self._sampler.fanout),
            "fanout_mean": [float(e / r) if r else 0.0 for e, r in zip(self._edges, self._rows, strict=True)],
            "batches_per_epoch": self.num_batches,
            "batches": self._batches,
            "nodes": self._nodes,
            "edges": int(self._edges.sum()),
        }
