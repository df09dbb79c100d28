"""Mini-batches of several parts of the graph, joined (`batching: cluster`).

Cluster-GCN (Chiang et al. 2019), its stochastic multiple partition: each epoch shuffles the parts and joins
``per_batch`` of them at a time, and the edges *between* the joined parts are kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from harness.batches.batch import Batch, Block
from harness.batches.edges import BatchEdges, edge_table_of
from harness.batches.epochs import BatchPlan
from harness.batches.observed.epoch_watch import EpochWatch
from harness.batches.randomness import PART_ORDER, permutation
from harness.batches.row_tables import RowTables
from harness.batches.self_loops import self_loops
from harness.graphs.compiled import compiled
from harness.graphs.graph import Graph
from harness.graphs.read_only import read_only, read_only_ids

_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)


@compiled
def _induced(
    indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, table: np.ndarray, stamp: np.uint64
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row pointer and columns of the subgraph on ``nodes``, and each node's degree in the whole graph."""
    tag = stamp << _ROW_BITS
    degree = np.empty(len(nodes), np.int64)
    for row in range(len(nodes)):
        table[nodes[row]] = tag | np.uint64(row)
        degree[row] = indptr[nodes[row] + 1] - indptr[nodes[row]]
    rows = np.zeros(len(nodes) + 1, np.int64)
    cols = np.empty(degree.sum(), np.int64)
    kept = 0
    for row in range(len(nodes)):
        for e in range(indptr[nodes[row]], indptr[nodes[row] + 1]):
            entry = table[indices[e]]
            if entry >> _ROW_BITS == stamp:
                cols[kept] = np.int64(entry & _ROW_MASK)
                kept += 1
        rows[row + 1] = kept
    return rows, cols[:kept].copy(), degree


@compiled
def _induced_edges(
    indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, table: np.ndarray, stamp: np.uint64, kept: int
) -> np.ndarray:
    """Place in ``indices`` of each of the edges that `_induced` kept, in its order; a loop apart, for whoever asks."""
    edges = np.empty(kept, np.int64)
    n = 0
    for node in nodes:
        for e in range(indptr[node], indptr[node + 1]):
            if table[indices[e]] >> _ROW_BITS == stamp:
                edges[n] = e
                n += 1
    return edges


class ClusterBatches(BatchPlan):
    """Every node once an epoch, in the batch of its part.

    A batch's block is the induced subgraph of its nodes, square and shared by all layers; its targets are the
    training nodes in it, which may be none. Parts without a node are left out, so that every batch has nodes.

    Args:
        graph: its CSR must be valid, as that of a prepared graph is.
        part: part of each node, int64, ``[num_nodes]``.
        report: what is known of the partition (see `harness.graphs.cached_partition`); goes into the counters.
        per_batch: parts joined in one batch, at least 1; more than there are makes one batch.
        layers: blocks of a batch.
        seed: of the order of the parts.
        with_edges: the blocks carry the attributes of their edges, which the graph must have.
    """

    def __init__(
        self,
        graph: Graph,
        part: np.ndarray,
        report: dict[str, Any],
        per_batch: int,
        layers: int,
        seed: int,
        with_edges: bool = False,
    ) -> None:
        super().__init__(graph, edge_table_of(graph.edge_attr, graph.indices) if with_edges else None)
        self._indptr = read_only(graph.indptr, np.int64)
        self._indices = read_only_ids(graph.indices)
        self._self_loops = self_loops(graph.indptr, graph.indices) if graph.meta.self_loops else None
        self._layers, self._per_batch, self._report = layers, per_batch, report
        self._tables = RowTables(graph.num_nodes)
        self._is_train = np.zeros(graph.num_nodes, dtype=np.bool_)
        self._is_train[graph.train] = True
        by_part = np.argsort(part, kind="stable")
        sizes = np.bincount(part) if len(part) else np.zeros(0, np.int64)
        self._members = [m for m in np.split(by_part, np.cumsum(sizes)[:-1]) if len(m)]
        self._order = lru_cache(maxsize=2)(lambda epoch: permutation(len(self._members), PART_ORDER, seed, epoch))
        self.num_batches = -(-len(self._members) // per_batch)
        self._watch = EpochWatch(graph, self.num_batches)
        self.preprocess_s = {"partition_s": float(report.get("seconds", 0.0))}
        self._batches = self._nodes = self._edges = self._edges_before = self._joined = 0

    def batch(self, epoch: int, index: int) -> Batch:
        parts = self._order(epoch)[index * self._per_batch : (index + 1) * self._per_batch]
        nodes = np.sort(np.concatenate([self._members[p] for p in parts]))
        table, stamp = self._tables.take()
        try:
            held = (self._indptr, self._indices, nodes, table, np.uint64(stamp))
            rows, cols, degree = _induced(*held)
            edges = None
            if self._edge_table is not None:
                edges = BatchEdges(self._edge_table, _induced_edges(*held, len(cols)))
        finally:
            self._tables.give_back(table, stamp)
        loops = None if self._self_loops is None else self._self_loops[nodes]
        block = Block(rows, cols, len(nodes), in_degree=degree, src_degree=degree, src_self_loops=loops, edges=edges)
        stats: dict[str, float] = {
            "nodes": len(nodes),
            "edges": len(cols),
            "edges_before": int(degree.sum()),
            "parts": len(parts),
        }
        targets = np.flatnonzero(self._is_train[nodes])
        return Batch(nodes, (block,) * self._layers, targets, epoch=epoch, index=index, stats=stats)

    def _count(self, batch: Batch) -> None:
        self._batches += 1
        self._nodes += len(batch.nodes)
        self._edges += batch.num_edges
        self._edges_before += int(batch.stats["edges_before"])
        self._joined = max(self._joined, int(batch.stats["parts"]))

    def counters(self) -> dict[str, Any]:
        """``batching, per_batch, batches_per_epoch, partition`` (the report), totals so far ``batches, nodes,
        edges``, and ``kept_edge_share``: of all edges that end in the nodes handed out, those in their batch.

        Besides what was observed: ``parts_found`` and ``part_sizes`` (nodes of the smallest and the largest) in the
        array of parts, and ``parts_joined``, most in one batch."""
        sizes = [len(members) for members in self._members]
        return {
            "batching": "cluster",
            "per_batch": self._per_batch,
            "batches_per_epoch": self.num_batches,
            "partition": self._report,
            "parts_found": len(sizes),
            "part_sizes": [min(sizes, default=0), max(sizes, default=0)],
            "parts_joined": self._joined,
            "kept_edge_share": self._edges / self._edges_before if self._edges_before else 1.0,
            "batches": self._batches,
            "nodes": self._nodes,
            "edges": self._edges,
        }
