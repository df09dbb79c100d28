"""Edge lists to CSR, by counting sorts: rows are targets, and each row's sources are sorted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.graphs.compiled import compiled


@dataclass(frozen=True)
class Csr:
    """Rows receive: ``indices[indptr[v]:indptr[v+1]]`` are the sources of v's messages, sorted.

    Attributes:
        indptr: int64, ``[num_nodes + 1]``.
        indices: int32, or int64 from 2**31 nodes on, ``[num_edges]``.
    """

    indptr: np.ndarray
    indices: np.ndarray

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1


def build_csr(source: np.ndarray, target: np.ndarray, num_nodes: int, undirected: bool = False) -> Csr:
    """CSR of an edge list; O(edges + nodes), two stable counting sorts.

    Args:
        source, target: ends of each edge, integers in [0, num_nodes), ``[num_edges]``.
        num_nodes: number of nodes.
        undirected: add the reverse of every edge, then keep each (source, target) once. A self-loop is its own
            reverse and stays, once. Otherwise edges are kept as they are, duplicates and self-loops too.
    """
    ids = np.int32 if num_nodes < 2**31 else np.int64
    source, target = np.asarray(source, dtype=ids), np.asarray(target, dtype=ids)
    if undirected:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    # rows of targets by source, transposed: a stable counting sort, so each row's sources come out sorted
    indptr, indices = transpose(*_rows(source, target, num_nodes))
    if undirected:
        indptr, indices = _first_of_each(indptr, indices)
    return Csr(indptr, indices)


def edge_numbers(source: np.ndarray, target: np.ndarray, num_nodes: int, undirected: bool = False) -> np.ndarray:
    """Which of the given edges each entry of `build_csr(...).indices` is; O(edges + nodes), two stable counting sorts.

    Args:
        source, target, num_nodes, undirected: as for `build_csr`. A reverse edge that was added is the edge that it
            reverses; of several between the same source and target the first is kept, given ones before added ones.

    Returns:
        Places in `source` and `target`, int32, or int64 from 2**30 edges on, ``[len(indices)]``; edges that are alike
        keep their order.
    """
    given = len(source)
    ids = np.int32 if num_nodes < 2**31 else np.int64
    source, target = np.asarray(source, dtype=ids), np.asarray(target, dtype=ids)
    if undirected:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.arange(len(source), dtype=np.int32 if given < 2**30 else np.int64)
    order = _sorted_by(target, _sorted_by(source, order, num_nodes), num_nodes)
    if undirected and given:
        source, target = source[order], target[order]
        first = np.concatenate([[True], (source[1:] != source[:-1]) | (target[1:] != target[:-1])])
        order = order[first] % given
    return order


def check_csr(indptr: np.ndarray, indices: np.ndarray) -> None:
    """Raise ValueError unless the two arrays are the CSR of a square matrix; the loops check no bounds."""
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise ValueError(f"indptr and indices must be one-dimensional; got shapes {indptr.shape}, {indices.shape}")
    if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        raise ValueError(f"indptr and indices must be integers; got {indptr.dtype} and {indices.dtype}")
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"indptr must rise from 0 to the number of edges, {len(indices)}")
    num_nodes = len(indptr) - 1
    if len(indices) and (indices.min() < 0 or indices.max() >= num_nodes):
        raise ValueError(f"indices must lie in 0..{num_nodes - 1}; got {indices.min()}..{indices.max()}")


def source_degree(indices: np.ndarray, num_nodes: int) -> np.ndarray:
    """How often each node is the source of an edge, int64, ``[num_nodes]``."""
    return np.bincount(indices, minlength=num_nodes) if len(indices) else np.zeros(num_nodes, np.int64)


def row_ranges(indptr: np.ndarray, most_edges: int, most_rows: int | None = None) -> Iterator[tuple[int, int]]:
    """Consecutive rows (first, last + 1), with at most so many edges unless a single row has more, and at most so many
    rows: to go through a graph that is larger than memory."""
    first, num_nodes = 0, len(indptr) - 1
    while first < num_nodes:
        fitting = int(np.searchsorted(indptr, indptr[first] + most_edges, side="right")) - 1
        last = min(max(fitting, first + 1), first + (most_rows or num_nodes), num_nodes)
        yield first, last
        first = last


@compiled
def _pointer(ids: np.ndarray, num_nodes: int) -> np.ndarray:
    """Row pointer of edges whose rows are `ids`."""
    indptr = np.zeros(num_nodes + 1, np.int64)
    for v in ids:
        indptr[v + 1] += 1
    for v in range(num_nodes):
        indptr[v + 1] += indptr[v]
    return indptr


@compiled
def _rows(row: np.ndarray, column: np.ndarray, num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """CSR of an edge list; the columns of a row keep their order."""
    indptr = _pointer(row, num_nodes)
    place = indptr[:-1].copy()
    indices = np.empty_like(column)
    for e in range(len(row)):
        indices[place[row[e]]] = column[e]
        place[row[e]] += 1
    return indptr, indices


@compiled
def _sorted_by(node: np.ndarray, order: np.ndarray, num_nodes: int) -> np.ndarray:
    """The entries of `order` by their node, those of one node in the order that they had."""
    place = _pointer(node, num_nodes)
    out = np.empty_like(order)
    for e in order:
        out[place[node[e]]] = e
        place[node[e]] += 1
    return out


@compiled
def transpose(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """CSR of the reversed edges, rows sorted."""
    turned = _pointer(indices, len(indptr) - 1)
    place = turned[:-1].copy()
    rows = np.empty_like(indices)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            rows[place[indices[e]]] = v
            place[indices[e]] += 1
    return turned, rows


@compiled
def _first_of_each(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows without repetitions; rows must be sorted."""
    kept_indptr = np.zeros_like(indptr)
    kept = np.empty_like(indices)
    n = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            if e == indptr[v] or indices[e] != indices[e - 1]:
                kept[n] = indices[e]
                n += 1
        kept_indptr[v + 1] = n
    return kept_indptr, kept[:n].copy()
