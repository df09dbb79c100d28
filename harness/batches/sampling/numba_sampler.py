"""Neighbour sampling without replacement, hop by hop, for one CSR that serves every layer.

GraphSAGE's sampling (Hamilton, Ying and Leskovec 2017) with PyG's semantics: hop h draws neighbours only for
the nodes that hop h-1 found first (hop 1: the seeds). Nodes are numbered in the order in which they are found,
so the destinations of hop h are a run of rows right after those of hop h-1, the edges lie in destination
order, and the edges a layer needs are a *prefix* of the batch's CSR.

How many neighbours a node gets is in `draws_count`, which ones in `draws_uniform` and `draws_smallest`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.batches.batch import Batch
from harness.batches.edges import edge_table_of
from harness.batches.row_tables import RowTables
from harness.batches.sampling.draws_count import count_draws
from harness.batches.sampling.draws_smallest import draw_importance, draw_labor
from harness.batches.sampling.draws_uniform import draw_uniform
from harness.batches.sampling.hop_wise import Hops, hop_wise_batch
from harness.batches.sampling.methods import check_method, checked_fanout, checked_seeds, hop_keys, weights_of
from harness.batches.sampling.neighbour_weights import kept_edges, of_positive_weight
from harness.batches.self_loops import self_loops
from harness.graphs.compiled import compiled
from harness.graphs.csr import check_csr
from harness.graphs.read_only import read_only, read_only_ids

_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)


class NeighborSampler:
    """Draws the hop-wise neighbourhood of seeds; the draws depend on (seed, epoch, batch, hop, node) alone.

    The same batch comes out whatever the number of threads and the order of calls; `sample` may be called from
    several threads at once and holds no GIL in its loops. Sampling is without replacement over the
    positions of a node's adjacency list: no position is drawn twice, and a neighbour that the list holds twice
    can come twice.

    Methods, for a node of degree d at fan-out k; all take every neighbour where d <= k or k is -1:

    - ``uniform``: k neighbours, every set of k equally likely.
    - ``fixed``: as ``uniform``, but keyed without epoch and batch, so that a node has the same sample at a hop in
      every batch of every epoch.
    - ``importance``: k neighbours by weight, see `draw_importance`. Neighbours of weight 0 are as if they were not
      there: never drawn, even where d <= k or k is -1.
    - ``degree-stratified``: as ``uniform``, but k * (1 + floor(log2(d // k))) neighbours of a hub.
    - ``labor``: k neighbours, those of a hop chosen alike, see `draw_labor`: fewer distinct nodes.

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``; ``indices[indptr[v]:indptr[v+1]]`` are the nodes that v
            receives messages from. Self-loops, repeated edges and empty rows are allowed.
        indices: int32 or int64, ``[num_edges]``.
        fanout: neighbours per hop, the seeds' hop first; -1 takes all. One hop serves one layer.
        method: see above.
        seed: any integer.
        weights: importance only: a node's weight as a neighbour, 0 or positive, ``[num_nodes]``; None: how often it
            is a source.
        reweight: importance only: the blocks carry an `edge_weight`, with which the mean of a node's weighted
            messages is unbiased for the mean over all its neighbours of positive weight. Their sum times in_degree
            over sampled degree is then unbiased for in_degree times that mean: the whole sum where no weight is 0,
            else as if the neighbours that are never drawn were like the others on average.
        edge_attr: attributes of each edge, float32, ``[num_edges, D]``: the blocks say which edges they hold
            (`edge_ids`) and carry these edges' rows (`edge_attr`).
        validate: check that the arrays are a CSR (one pass over the edges); only for a graph already checked
            may it be left out.
        has_self_loops: False spares the pass over the edges that counts them.

    Raises:
        ValueError: not a CSR, a fan-out that is neither positive nor -1, a method that does not exist, weights for
            another method than importance, a weight that is neither 0 nor in 1e-250 .. 1e250, or attributes that are
            not one row an edge.
    """

    def __init__(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        fanout: Sequence[int] = (15, 10, 5),
        method: str = "uniform",
        seed: int = 0,
        *,
        weights: np.ndarray | None = None,
        reweight: bool = False,
        edge_attr: np.ndarray | None = None,
        validate: bool = True,
        has_self_loops: bool = True,
    ) -> None:
        check_method(method)
        self.fanout = checked_fanout(fanout)
        self.method = method
        self.seed = int(seed)
        self.reweight = reweight
        if validate:
            check_csr(indptr, indices)
        self._weights = weights_of(method, weights, reweight, indptr, indices)
        self._indptr = read_only(indptr, np.int64)
        self._self_loops = self_loops(indptr, indices) if has_self_loops else None
        self.edge_table = edge_table_of(edge_attr, indices)
        self._kept: np.ndarray | None = None  # place of each edge that may be drawn; None where all may
        if self._weights is not None:
            if self.edge_table is not None:
                self._kept = kept_edges(indices, self._weights)
            indptr, indices = of_positive_weight(indptr, indices, self._weights)
        self._from = read_only(indptr, np.int64), read_only_ids(indices)  # the adjacency to draw from
        self._tables = RowTables(self.num_nodes)

    @property
    def num_nodes(self) -> int:
        return len(self._indptr) - 1

    @property
    def weights(self) -> np.ndarray | None:
        """What is drawn by: of each node as a neighbour, float64, ``[num_nodes]``; None but for ``importance``."""
        return self._weights

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch.

        Args:
            seeds: distinct node ids, ``[S]``; they become ``nodes[:S]``, in this order. May be empty.
            epoch, batch: part of the key of every draw (all methods but ``fixed``).

        Returns:
            A `Batch` with one block a hop, the input layer's first: ``blocks[0]`` holds the edges of all hops,
            ``blocks[-1]`` those of hop 1. All seeds are targets. ``stats`` has nodes, edges, and for hop h from
            1 on ``hop<h>_rows`` (nodes whose neighbours were drawn), ``hop<h>_edges``, ``hop<h>_new_nodes``.

        Raises:
            ValueError: a seed comes twice, or is no node of the graph.
        """
        seeds = checked_seeds(seeds, self.num_nodes).copy()
        keys = hop_keys(self.method, self.seed, len(self.fanout), epoch, batch)
        table, stamp = self._tables.take()
        try:
            repeated = _number_seeds(seeds, table, np.uint64(stamp))
            if repeated >= 0:
                raise ValueError(f"seeds must be distinct: node {seeds[repeated]} comes again at position {repeated}")
            hops = self._hops(seeds, keys, table, np.uint64(stamp))
        finally:
            self._tables.give_back(table, stamp)
        return hop_wise_batch(hops, self._self_loops, self.edge_table, self._kept, epoch=epoch, index=batch)

    def _hops(self, seeds: np.ndarray, keys: np.ndarray, table: np.ndarray, stamp: np.uint64) -> Hops[np.ndarray]:
        found, known_after = [seeds], [len(seeds)]
        rows, cols, edge_weight = [np.zeros(1, np.int64)], np.empty(0, np.int64), np.empty(0, np.float32)
        drawn = np.empty(0, np.int64)
        for fanout, key in zip(self.fanout, keys, strict=True):
            ends = count_draws(self._from[0], found[-1], fanout, self.method == "degree-stratified")
            edges = len(cols)
            cols = _longer(cols, ends[-1])
            if self.reweight:
                edge_weight = _longer(edge_weight, ends[-1])
            self._draw(found[-1], ends, key, cols[edges:], edge_weight[edges:])
            if self.edge_table is not None:
                drawn = _longer(drawn, ends[-1])
                drawn[edges:] = cols[edges:]
            _look_up(self._from[1], cols[edges:])
            found.append(_number_sources(cols[edges:], known_after[-1], table, stamp))
            known_after.append(known_after[-1] + len(found[-1]))
            rows.append(ends[1:] + edges)
        nodes = np.concatenate(found)
        return Hops(
            nodes,
            _degrees(self._indptr, nodes),
            np.concatenate(rows),
            cols,
            known_after,
            edge_weight if self.reweight else None,
            None if self.edge_table is None else drawn,
        )

    def _draw(
        self, nodes: np.ndarray, ends: np.ndarray, key: np.uint64, out: np.ndarray, edge_weight: np.ndarray
    ) -> None:
        """Write edges (places in the adjacency) of each node, as many as ``ends`` leaves room for, and weights."""
        if self.method == "importance":
            edge_weight[:] = 1.0
            draw_importance(*self._from, self._weights, nodes, ends, key, out, edge_weight)
        elif self.method == "labor":
            draw_labor(*self._from, nodes, ends, key, out)
        else:
            draw_uniform(self._from[0], nodes, ends, key, out)


def _longer(array: np.ndarray, more: int) -> np.ndarray:
    """The same entries with room for ``more``: the last hop, which has most edges, is then never copied."""
    longer = np.empty(len(array) + more, array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _look_up(indices: np.ndarray, edges: np.ndarray) -> None:
    """Turn edges into their sources (global ids). After all are drawn: the memory answers many look-ups at a time."""
    for e in range(len(edges)):
        edges[e] = indices[edges[e]]


@compiled
def _number_seeds(seeds: np.ndarray, table: np.ndarray, stamp: np.uint64) -> int:
    """Give seed i row i; the position of the first repeated seed, or -1."""
    tag = stamp << _ROW_BITS
    for i in range(len(seeds)):
        if table[seeds[i]] >> _ROW_BITS == stamp:
            return i
        table[seeds[i]] = tag | np.uint64(i)
    return -1


@compiled
def _number_sources(sources: np.ndarray, known: int, table: np.ndarray, stamp: np.uint64) -> np.ndarray:
    """Turn global ids into rows, new nodes numbered from ``known`` on as they come; the new nodes."""
    tag = stamp << _ROW_BITS
    found = np.empty(min(len(sources), len(table) - known), np.int64)
    n = 0
    for e in range(len(sources)):
        node = sources[e]
        entry = table[node]
        if entry >> _ROW_BITS == stamp:
            sources[e] = np.int64(entry & _ROW_MASK)
        else:
            sources[e] = known + n
            table[node] = tag | np.uint64(known + n)
            found[n] = node
            n += 1
    return found[:n]


@compiled
def _degrees(indptr: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Degree of each node in the whole graph."""
    degree = np.empty(len(nodes), np.int64)
    for row in range(len(nodes)):
        degree[row] = indptr[nodes[row] + 1] - indptr[nodes[row]]
    return degree
