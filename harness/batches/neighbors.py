"""Mini-batches of training nodes with sampled neighbourhoods (`batching: neighbor`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.batches.budget import BudgetedEpoch
from harness.batches.epochs import BatchPlan
from harness.batches.loader import End
from harness.batches.observed.batch_sizes import BatchSizes
from harness.batches.observed.epoch_watch import EpochWatch
from harness.batches.observed.first_draws import FirstDraws
from harness.batches.observed.resampled import resampled
from harness.batches.observed.weights_held import weights_held
from harness.batches.randomness import SEED_ORDER, permutation
from harness.batches.sampler import Sampler
from harness.graphs.graph import Graph


class NeighborBatches(BatchPlan):
    """The training nodes, shuffled anew each epoch, ``batch_size`` at a time, or as many as a budget lets in.

    Every training node is a seed once an epoch; the last batch may be short.

    Args:
        graph: its CSR must be valid, as that of a prepared graph is.
        sampler: of this graph.
        batch_size: seeds of a batch, at least 1; without effect where there is a budget.
        seed: of the order.
        node_edge_budget: most nodes times edges of a batch (`BudgetedEpoch`); None for batches of equal seeds.
        weights: that the sampler draws by, float64, ``[num_nodes]``; of importance sampling only.
        weights_file: .npy that they were read from, or None.
        weights_s: seconds that making them took.
    """

    def __init__(
        self,
        graph: Graph,
        sampler: Sampler,
        batch_size: int,
        seed: int,
        *,
        node_edge_budget: int | None = None,
        weights: np.ndarray | None = None,
        weights_file: Path | None = None,
        weights_s: float = 0.0,
    ) -> None:
        super().__init__(graph, sampler.edge_table)
        self._sampler, self._batch_size = sampler, batch_size
        self._train = np.asarray(graph.train, dtype=np.int64)
        self._seeds = lru_cache(maxsize=2)(
            lambda epoch: self._train[permutation(len(self._train), SEED_ORDER, seed, epoch)]
        )
        self._budgeted = lru_cache(maxsize=2)(self._divided)
        self._budget, self._weights, self._weights_file = node_edge_budget, weights, weights_file
        self.num_batches = -(-len(self._train) // batch_size) if node_edge_budget is None else None
        self.preprocess_s = {} if weights is None else {"neighbour_weights_s": weights_s}
        hops = len(sampler.fanout)
        self._batches = self._nodes = 0
        self._rows, self._edges = np.zeros(hops, np.int64), np.zeros(hops, np.int64)
        self._first = FirstDraws(graph, sampler.method, sampler.fanout, weights)
        self._sizes = BatchSizes(node_edge_budget)
        self._watch = EpochWatch(graph, self.num_batches, sampler.method, weights)
        self._samplings, self._counting = 0, threading.Lock()

    def batch(self, epoch: int, index: int) -> Batch:
        if self._budget is not None:
            return self._budgeted(epoch).batch(index)
        start = index * self._batch_size
        return self._sampler.sample(self._seeds(epoch)[start : start + self._batch_size], epoch, index)

    def of_first_seeds(self, epoch: int, count: int) -> Batch:
        """What the sampler draws for the first seeds of an epoch as its first batch; counted nowhere."""
        return self._sampler.sample(self._seeds(epoch)[:count], epoch, 0)

    def _makers(self, epoch: int) -> Iterator[Callable[[], Batch | End]]:
        # made here, so that the threads share one order and one division, and do not make one each
        self._seeds(epoch)
        if self._budget is not None:
            self._budgeted(epoch)
        return super()._makers(epoch)

    def _divided(self, epoch: int) -> BudgetedEpoch:
        assert self._budget is not None

        def sample(seeds: np.ndarray, index: int) -> Batch:
            with self._counting:
                self._samplings += 1
            return self._sampler.sample(seeds, epoch, index)

        return BudgetedEpoch(self._seeds(epoch), sample, self._budget)

    def _count(self, batch: Batch) -> None:
        self._batches += 1
        self._nodes += len(batch.nodes)
        for hop in range(len(self._rows)):
            self._rows[hop] += int(batch.stats[f"hop{hop + 1}_rows"])
            self._edges[hop] += int(batch.stats[f"hop{hop + 1}_edges"])
        self._first.count(batch)
        self._sizes.count(batch)

    def counters(self) -> dict[str, Any]:
        """``batching, method, fanout`` (asked), ``fanout_mean`` (neighbours drawn per node, each hop),
        ``batches_per_epoch`` (None with a budget), and totals so far: ``batches, nodes, edges``.
        With a budget also ``samplings``: what finding the batches' ends took, and making them, replays among them.

        Besides what was observed: see `FirstDraws`, `resampled`, `weights_held`, `sampled_by`, and `BatchSizes`."""
        return {
            "batching": "neighbor",
            "method": self._sampler.method,
            "fanout": list(self._sampler.fanout),
            "fanout_mean": [float(e / r) if r else 0.0 for e, r in zip(self._edges, self._rows, strict=True)],
            "resampled": resampled(self._graph, self._sampler, self._train, self._first, self._weights),
            "sampling_weights": weights_held(self._sampler.weights, self._graph, self._weights_file),
            "sampling_backend": sampled_by(self._sampler),
            "batches_per_epoch": self.num_batches,
            "batches": self._batches,
            "nodes": self._nodes,
            "edges": int(self._edges.sum()),
            **({} if self._budget is None else {"samplings": self._samplings}),
            **self._first.counters(),
            **self._sizes.counters(self._train, self._sampler.sample),
        }


def sampled_by(sampler: Sampler) -> str:
    """``numba``, or ``torch on <device>`` by the tensors that the sampler makes."""
    tensors = getattr(sampler, "sample_tensors", None)
    if tensors is None:
        return "numba"
    import torch

    nodes = tensors(torch.zeros(0, dtype=torch.int64, device=sampler.device)).nodes  # type: ignore[attr-defined]
    return f"torch on {nodes.device}"
