"""The whole graph as the one batch of every epoch (`batching: full`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.batches.batch import Batch, Block
from harness.batches.edges import BatchEdges, edge_table_of
from harness.batches.epochs import BatchPlan
from harness.batches.observed.epoch_watch import EpochWatch
from harness.batches.self_loops import self_loops
from harness.graphs.graph import Graph


class FullBatch(BatchPlan):
    """One batch an epoch: all nodes in order, all edges, all training nodes as targets; its arrays are shared.

    Args:
        graph: a prepared graph.
        layers: blocks of a batch.
        with_edges: the blocks carry the attributes of their edges, which the graph must have.
    """

    def __init__(self, graph: Graph, layers: int, with_edges: bool = False) -> None:
        super().__init__(graph, edge_table_of(graph.edge_attr, graph.indices) if with_edges else None)
        indptr = np.array(graph.indptr, dtype=np.int64)
        degree = np.diff(indptr)
        loops = self_loops(graph.indptr, graph.indices) if graph.meta.self_loops else None
        indices = np.array(graph.indices, dtype=np.int64)
        edges = None if self._edge_table is None else BatchEdges(self._edge_table, np.arange(len(indices)))
        block = Block(indptr, indices, graph.num_nodes, degree, degree, loops, edges=edges)
        self._batch = Batch(
            nodes=np.arange(graph.num_nodes, dtype=np.int64),
            blocks=(block,) * layers,
            targets=np.array(graph.train, dtype=np.int64),
            stats={"nodes": graph.num_nodes, "edges": len(block.indices)},
        )
        self.num_batches = 1 if graph.num_nodes else 0
        self._watch = EpochWatch(graph, self.num_batches)
        self.preprocess_s = {}
        self._batches = 0

    def batch(self, epoch: int, index: int) -> Batch:
        return replace(self._batch, epoch=epoch, index=index)

    def _count(self, batch: Batch) -> None:
        self._batches += 1

    def counters(self) -> dict[str, Any]:
        """``batching, batches_per_epoch``, and totals so far: ``batches, nodes, edges``."""
        return {
            "batching": "full",
            "batches_per_epoch": self.num_batches,
            "batches": self._batches,
            "nodes": self._batches * len(self._batch.nodes),
            "edges": self._batches * self._batch.num_edges,
        }
