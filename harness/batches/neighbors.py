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

_ASKED_AGAIN = 64  # seeds sampled once more at the end, to see whether another epoch draws another sample


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
        self._indptr = graph.indptr
        self._simple = graph.meta.duplicate_edges == 0  # else another draw may give the same neighbour
        self._batch_size = batch_size
        self._order = lru_cache(maxsize=2)(lambda epoch: permutation(len(self._train), SEED_ORDER, seed, epoch))
        self.num_batches = -(-len(self._train) // batch_size)
        self.preprocess_s = {}
        hops = len(sampling.fanout)
        self._batches = self._nodes = 0
        self._rows, self._edges = np.zeros(hops, np.int64), np.zeros(hops, np.int64)
        self._counted_epoch: int | None = None
        self._drawn, self._due = np.zeros(hops, np.int64), np.zeros(hops, np.int64)

    def batch(self, epoch: int, index: int) -> Batch:
        chosen = self._order(epoch)[index * self._batch_size : (index + 1) * self._batch_size]
        return self._sampler.sample(self._train[chosen], epoch, index)

    def _count(self, batch: Batch) -> None:
        self._batches += 1
        self._nodes += len(batch.nodes)
        for hop in range(len(self._rows)):
            self._rows[hop] += int(batch.stats[f"hop{hop + 1}_rows"])
            self._edges[hop] += int(batch.stats[f"hop{hop + 1}_edges"])
        if self._counted_epoch in (
            None,
            batch.epoch,
        ):  # one epoch says as much as all
            self._counted_epoch = batch.epoch
            self._count_draws(batch)

    def _count_draws(self, batch: Batch) -> None:
        """Neighbours in the batch's blocks, against what the graph's own degrees let the fan-out draw."""
        first = 0
        for hop, block in enumerate(reversed(batch.blocks)):
            degree = self._degree(batch.nodes[first : block.num_dst])
            fanout = self._sampler.fanout[hop]
            self._drawn[hop] += block.indptr[block.num_dst] - block.indptr[first]
            self._due[hop] += degree.sum() if fanout < 0 else np.minimum(degree, fanout).sum()
            first = block.num_dst

    def _degree(self, nodes: np.ndarray) -> np.ndarray:
        return np.asarray(self._indptr[nodes + 1] - self._indptr[nodes])

    def _asked_again(self) -> dict[str, Any]:
        """The same seeds in two epochs, from the sampler that served the training."""
        first = self._sampler.fanout[0]
        richer = self._train[self._degree(self._train) > first] if first > 0 else self._train
        seeds = (richer if len(richer) else self._train)[: min(_ASKED_AGAIN, self._batch_size)]
        one, two = (self._sampler.sample(seeds, epoch, index) for epoch, index in ((1, 0), (2, 1)))
        choices, start = 0, 0
        for fanout, block in zip(self._sampler.fanout, reversed(one.blocks), strict=True):
            if fanout > 0 and self._simple:
                choices += int(np.count_nonzero(block.in_degree[start:] > fanout))
            start = block.num_dst
        return {"choices": choices, "equal": np.array_equal(one.edges(), two.edges())}

    def counters(self) -> dict[str, Any]:
        """``batching, method, fanout`` (asked), ``fanout_mean`` (neighbours drawn per node, each hop),
        ``batches_per_epoch``, and totals so far: ``batches, nodes, edges``.

        Besides what was observed: ``draws``, of the first epoch, each hop, ``drawn`` and ``due`` (the sum of
        min(degree, fan-out) by the graph's degrees); and ``resampled``, for seeds asked for again in two epochs, the
        ``choices`` (nodes with more neighbours than the fan-out) and whether both samples are ``equal``."""
        return {
            "batching": "neighbor",
            "method": self._sampler.method,
            "fanout": list(self._sampler.fanout),
            "fanout_mean": [float(e / r) if r else 0.0 for e, r in zip(self._edges, self._rows, strict=True)],
            "draws": {"drawn": self._drawn.tolist(), "due": self._due.tolist()},
            "resampled": self._asked_again(),
            "batches_per_epoch": self.num_batches,
            "batches": self._batches,
            "nodes": self._nodes,
            "edges": int(self._edges.sum()),
        }
