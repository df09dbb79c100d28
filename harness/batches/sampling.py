"""Neighbour sampling without replacement, hop by hop, for one CSR that serves every layer.

GraphSAGE's sampling (Hamilton, Ying and Leskovec 2017) with PyG's semantics: hop h draws neighbours only for
the nodes that hop h-1 found first (hop 1: the seeds). Nodes are numbered in the order in which they are found,
so the destinations of hop h are a run of rows right after those of hop h-1, the edges lie in destination
order, and the edges a layer needs are a *prefix* of the batch's CSR.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.batches.adjacency import read_only, read_only_ids, self_loops
from harness.batches.batch import Batch, Block
from harness.batches.compiled import compiled
from harness.batches.randomness import GOLDEN, NEIGHBOURS, below, mix, stream_key
from harness.batches.row_tables import RowTables
from harness.graphs.csr import check_csr

METHODS = ("uniform", "fixed")
_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)
_SCANNED = 48  # up to this fan-out, scanning what is taken is faster than marking it


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
def _count_edges(
    indptr: np.ndarray, nodes: np.ndarray, first: int, last: int, fanout: int, degree: np.ndarray, rows: np.ndarray
) -> None:
    """Degrees of rows ``first .. last-1``, and where their edges will end."""
    for row in range(first, last):
        d = indptr[nodes[row] + 1] - indptr[nodes[row]]
        degree[row] = d
        rows[row + 1] = rows[row] + (d if fanout < 0 or d < fanout else fanout)


@compiled
def _position(node_key: np.uint64, i: int, j: int) -> np.int64:
    """Draw i of a node: a position in the *inclusive* range [0, j]."""
    return np.int64(below(mix(node_key + np.uint64(i + 1) * GOLDEN), np.uint64(j + 1)))


@compiled
def _floyd(node_key: np.uint64, d: int, k: int, chosen: np.ndarray) -> None:
    """Write k distinct positions of ``0 .. d-1`` to ``chosen``, every set of k equally likely; k < d.

    Floyd's algorithm (Bentley and Floyd 1987): for j = d-k .. d-1 take a position of [0, j], or j itself where
    that is taken. With j left out of the range a node's last neighbour would never come at fan-out 1.
    """
    for i in range(k):
        j = d - k + i
        t = _position(node_key, i, j)
        for earlier in range(i):
            if chosen[earlier] == t:
                t = j
                break
        chosen[i] = t


@compiled
def _floyd_marked(node_key: np.uint64, d: int, k: int, chosen: np.ndarray) -> None:
    """The same positions for a large k: what is taken is marked instead of scanned."""
    taken = np.zeros(d, np.bool_)
    for i in range(k):
        j = d - k + i
        t = _position(node_key, i, j)
        chosen[i] = j if taken[t] else t
        taken[chosen[i]] = True


@compiled
def _draw(
    indptr: np.ndarray,
    indices: np.ndarray,
    nodes: np.ndarray,
    first: int,
    last: int,
    fanout: int,
    key: np.uint64,
    rows: np.ndarray,
    cols: np.ndarray,
) -> None:
    """Write the drawn neighbours (global ids) of rows ``first .. last-1`` to ``cols``."""
    for row in range(first, last):
        node = nodes[row]
        start = indptr[node]
        d = indptr[node + 1] - start
        out = cols[rows[row] : rows[row + 1]]
        if len(out) == d:
            for i in range(d):
                out[i] = indices[start + i]
            continue
        node_key = mix(key + np.uint64(node) * GOLDEN)
        if fanout > _SCANNED:
            _floyd_marked(node_key, d, fanout, out)
        else:
            _floyd(node_key, d, fanout, out)
        for i in range(fanout):
            out[i] = indices[start + out[i]]


@compiled
def _number_sources(
    cols: np.ndarray, first: int, last: int, nodes: np.ndarray, known: int, table: np.ndarray, stamp: np.uint64
) -> int:
    """Turn global ids into rows, new nodes numbered as they come; the number of nodes known afterwards."""
    tag = stamp << _ROW_BITS
    for e in range(first, last):
        node = cols[e]
        entry = table[node]
        if entry >> _ROW_BITS == stamp:
            cols[e] = np.int64(entry & _ROW_MASK)
        else:
            table[node] = tag | np.uint64(known)
            nodes[known] = node
            cols[e] = known
            known += 1
    return known


@compiled
def _grown(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """The same array, or a longer one with the same first ``used`` entries."""
    if len(array) >= size:
        return array
    longer = np.empty(size, array.dtype)
    longer[:used] = array[:used]
    return longer


@compiled
def _sample(
    indptr: np.ndarray,
    indices: np.ndarray,
    seeds: np.ndarray,
    fanout: np.ndarray,
    keys: np.ndarray,
    table: np.ndarray,
    stamp: np.uint64,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All hops of one batch: nodes, degree, rows, cols, and how many nodes were known after each hop."""
    num_nodes = len(indptr) - 1
    known = len(seeds)
    nodes = seeds.copy()
    degree = np.empty(known, np.int64)
    rows = np.zeros(known + 1, np.int64)
    cols = np.empty(0, np.int64)
    known_after = np.empty(len(fanout) + 1, np.int64)
    known_after[0] = known
    first = 0
    for hop in range(len(fanout)):
        last = known
        degree = _grown(degree, first, last)
        rows = _grown(rows, first + 1, last + 1)
        _count_edges(indptr, nodes, first, last, fanout[hop], degree, rows)
        cols = _grown(cols, rows[first], rows[last])
        nodes = _grown(nodes, known, min(num_nodes, known + rows[last] - rows[first]))
        _draw(indptr, indices, nodes, first, last, fanout[hop], keys[hop], rows, cols)
        known = _number_sources(cols, rows[first], rows[last], nodes, known, table, stamp)
        known_after[hop + 1] = known
        first = last
    degree = _grown(degree, first, known)
    for row in range(first, known):
        degree[row] = indptr[nodes[row] + 1] - indptr[nodes[row]]
    return nodes[:known].copy(), degree, rows, cols, known_after


class NeighborSampler:
    """Draws the hop-wise neighbourhood of seeds; the draws depend on (seed, epoch, batch, hop, node) alone.

    The same batch comes out whatever the number of threads and the order of calls; `sample` may be called from
    several threads at once and holds no GIL while it samples. Sampling is without replacement over the
    positions of a node's adjacency list: no position is drawn twice, and a neighbour that the list holds twice
    can come twice.

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``; ``indices[indptr[v]:indptr[v+1]]`` are the nodes that v
            receives messages from. Self-loops, repeated edges and empty rows are allowed.
        indices: int32 or int64, ``[num_edges]``.
        fanout: neighbours per hop, the seeds' hop first; -1 takes all. One hop serves one layer.
        method: ``uniform``, or ``fixed``: keyed without epoch and batch, so that a node has the same sample
            at a hop in every batch of every epoch.
        seed: any integer.
        weights: importance only: a node's weight as a neighbour, float64, ``[num_nodes]``; None: source degree.
        reweight: importance only: the blocks carry `edge_weight`.
        validate: check that the arrays are a CSR (one pass over the edges); only for a graph already checked
            may it be left out.
        has_self_loops: False spares the pass over the edges that counts them.

    Raises:
        ValueError: not a CSR, a fan-out that is neither positive nor -1, or a method that does not exist.
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
        validate: bool = True,
        has_self_loops: bool = True,
    ) -> None:
        check_method(method)
        if weights is not None or reweight:
            raise ValueError(f"weights and reweight belong to importance sampling, not to {method!r}")
        self.fanout = checked_fanout(fanout)
        self.method = method
        self.seed = int(seed)
        if validate:
            check_csr(indptr, indices)
        self._indptr = read_only(indptr, np.int64)
        self._indices = read_only_ids(indices)
        self._self_loops = self_loops(indptr, indices) if has_self_loops else None
        self._hops = np.asarray(self.fanout, dtype=np.int64)
        self._tables = RowTables(self.num_nodes)

    @property
    def num_nodes(self) -> int:
        return len(self._indptr) - 1

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch:
        """One batch.

        Args:
            seeds: distinct node ids, ``[S]``; they become ``nodes[:S]``, in this order. May be empty.
            epoch, batch: part of the key of every draw (``uniform``).

        Returns:
            A `Batch` with one block a hop, the input layer's first: ``blocks[0]`` holds the edges of all hops,
            ``blocks[-1]`` those of hop 1. All seeds are targets. ``stats`` has nodes, edges, and for hop h from
            1 on ``hop<h>_rows`` (nodes whose neighbours were drawn), ``hop<h>_edges``, ``hop<h>_new_nodes``.

        Raises:
            ValueError: a seed comes twice, or is no node of the graph.
        """
        seeds = read_only(checked_seeds(seeds, self.num_nodes), np.int64)
        keys = hop_keys(self.method, self.seed, len(self.fanout), epoch, batch)
        table, stamp = self._tables.take()
        try:
            repeated = _number_seeds(seeds, table, np.uint64(stamp))
            if repeated >= 0:
                raise ValueError(f"seeds must be distinct: node {seeds[repeated]} comes again at position {repeated}")
            nodes, degree, rows, cols, known_after = _sample(
                self._indptr, self._indices, seeds, self._hops, keys, table, np.uint64(stamp)
            )
        finally:
            self._tables.give_back(table, stamp)
        return hop_wise_batch(nodes, degree, rows, cols, known_after, self._self_loops, epoch=epoch, index=batch)


def hop_keys(method: str, seed: int, hops: int, epoch: int, batch: int) -> np.ndarray:
    """The key of each hop's draws, uint64, ``[hops]``."""
    where = () if method == "fixed" else (epoch, batch)
    return np.array([stream_key(NEIGHBOURS, seed, hop, *where) for hop in range(hops)], dtype=np.uint64)


def hop_wise_batch(
    nodes: np.ndarray,
    degree: np.ndarray,
    rows: np.ndarray,
    cols: np.ndarray,
    known_after: np.ndarray,
    self_loops: np.ndarray | None,
    *,
    epoch: int,
    index: int,
) -> Batch:
    """Cut one CSR in destination order into the blocks of all layers; they share its memory.

    Args:
        nodes: int64, ``[n]``. degree: of each node in the whole graph, int64, ``[n]``.
        rows: row pointer over the nodes known before the last hop. cols: source row of each edge, int64.
        known_after: nodes known after each hop, the seeds first, ``[hops + 1]``.
        self_loops: of every node of the graph, int64; None where it has none.
    """
    known = [int(k) for k in known_after]
    loops = None if self_loops is None else self_loops[nodes]
    blocks = tuple(
        Block(
            indptr=rows[: destinations + 1],
            indices=cols[: rows[destinations]],
            num_src=sources,
            in_degree=degree[:destinations],
            src_degree=degree[:sources],
            src_self_loops=None if loops is None else loops[:sources],
        )
        for destinations, sources in zip(known[-2::-1], known[:0:-1], strict=True)
    )
    stats: dict[str, float] = {"nodes": len(nodes), "edges": len(cols)}
    for hop, (first, last, after) in enumerate(zip([0, *known[:-2]], known[:-1], known[1:], strict=True), start=1):
        stats[f"hop{hop}_rows"] = last - first
        stats[f"hop{hop}_edges"] = int(rows[last] - rows[first])
        stats[f"hop{hop}_new_nodes"] = after - last
    return Batch(nodes, blocks, np.arange(known[0], dtype=np.int64), epoch=epoch, index=index, stats=stats)


def check_method(method: str) -> None:
    """Raise ValueError for a sampling method that does not exist."""
    if method not in METHODS:
        raise ValueError(f"sampling method {method!r} is not available in this version; use {' or '.join(METHODS)}")


def checked_fanout(fanout: Sequence[int]) -> tuple[int, ...]:
    """The fan-out as integers; ValueError where one is neither positive nor -1, or there is none."""
    hops = tuple(int(k) for k in fanout)
    if not hops or any(k == 0 or k < -1 for k in hops):
        raise ValueError(f"fanout must be positive numbers, or -1 for all neighbours, one a hop; got {list(fanout)}")
    return hops


def checked_seeds(seeds: np.ndarray, num_nodes: int) -> np.ndarray:
    """Seeds as contiguous int64; ValueError where one is no node of the graph."""
    given = np.asarray(seeds)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"seeds must be a one-dimensional array of node ids; got shape {given.shape}, {given.dtype}")
    if given.size and (given.min() < 0 or given.max() >= num_nodes):
        raise ValueError(f"seeds must lie in 0..{num_nodes - 1}; got {given.min()}..{given.max()}")
    return np.ascontiguousarray(given, dtype=np.int64)
