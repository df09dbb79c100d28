"""Edges from a person's files. An edge leads from source to target, and so does its message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.io

from harness.graphs.faults import data_fault
from harness.graphs.sources.arrays import (
    DAMAGED,
    check_suffix,
    compressed_rows,
    is_scipy_sparse,
    read_npy,
    read_npz,
    read_scipy_sparse,
)
from harness.graphs.sources.tables import read_table, whole_number_column

SUFFIXES = (".npz", ".npy", ".csv", ".tsv", ".parquet", ".mtx")
NUMBERED = "node ids must be whole numbers 0 .. n-1, n the rows of features: number the nodes and write the numbers"
COLUMNS = (("source", "target"), ("src", "dst"), ("from", "to"))

Edges = tuple[np.ndarray, np.ndarray, list[str]]  # source, target, warnings


def read_edges(path: Path, key: str, num_nodes: int) -> Edges:
    """Sources and targets of all edges, integer, ``[num_edges]`` each, and warnings.

    npy: ``edge_index [2, E]``. npz: edge_index, or indptr and indices, or a scipy sparse matrix. csv, tsv, parquet:
    columns source and target (or src and dst, or the first two). mtx: Matrix Market. A matrix entry (i, j) is an
    edge from i to j.

    Raises:
        InputError: another file type, a damaged file, or ids that are not whole numbers.
    """
    suffix = check_suffix(path, key, SUFFIXES)
    if suffix == ".npy":
        return *edge_index(read_npy(path, key), "the array", path, key), []
    if suffix == ".npz":
        arrays = read_npz(path, key)
        if is_scipy_sparse(arrays):
            return _from_matrix(read_scipy_sparse(path, key), num_nodes, path, key)
        return *edges_of(arrays, num_nodes, path, key), []
    if suffix == ".mtx":
        try:
            matrix = scipy.io.mmread(path)
        except (ValueError, *DAMAGED) as error:
            raise data_fault(
                path, key, f"cannot be read as Matrix Market ({error}); write it with scipy.io.mmwrite"
            ) from None
        return _from_matrix(scipy.sparse.coo_matrix(matrix), num_nodes, path, key)
    return _from_table(path, key, suffix)


def edges_of(arrays: dict[str, np.ndarray], num_nodes: int, path: Path, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets from plain arrays: `edge_index`, or `indptr` and `indices`.

    `indices[indptr[v]:indptr[v+1]]` are the nodes that v receives messages from, as everywhere in harness.
    """
    if "edge_index" in arrays:
        return edge_index(arrays["edge_index"], "array edge_index", path, key)
    if "indptr" in arrays and "indices" in arrays:
        pointer, sources = compressed_rows(
            arrays["indptr"], arrays["indices"], num_nodes, num_nodes, ("indptr", "indices"), path, key
        )
        targets = np.repeat(np.arange(num_nodes, dtype=np.int32 if num_nodes < 2**31 else np.int64), np.diff(pointer))
        return sources, targets
    found = ", ".join(arrays) or "nothing"
    raise data_fault(path, key, f"has no edges: it holds {found}; add edge_index [2, E], or indptr and indices")


def edge_index(array: np.ndarray, what: str, path: Path, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Both rows of an integer array ``[2, E]``, source over target."""
    if array.ndim != 2 or array.shape[0] != 2:
        turn = ": transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise data_fault(path, key, f"{what} has shape {list(array.shape)}; edges have shape [2, E]{turn}")
    if not np.issubdtype(array.dtype, np.integer):
        raise data_fault(path, key, f"{what} is {array.dtype}; {NUMBERED}, e.g. astype('int64')")
    return np.asarray(array[0]), np.asarray(array[1])


def _from_matrix(matrix: scipy.sparse.coo_matrix, num_nodes: int, path: Path, key: str) -> Edges:
    if matrix.shape != (num_nodes, num_nodes):
        raise data_fault(
            path, key, f"the matrix has shape {list(matrix.shape)}; {num_nodes} rows of features need {[num_nodes] * 2}"
        )
    entries = np.unique(matrix.data)
    weighted = ["edge weights are not used: every edge counts the same"] if len(entries) > 1 else []
    return matrix.row, matrix.col, weighted


def _from_table(path: Path, key: str, suffix: str) -> Edges:
    table = read_table(path, key, suffix)
    if table.shape[1] < 2:
        apart = "fields are separated by commas, semicolons, tabs or blanks"
        raise data_fault(path, key, f"has {table.shape[1]} column(s); an edge needs two, source and target: {apart}")
    lower = {str(column).strip().lower(): column for column in table.columns}
    pair = next((pair for pair in COLUMNS if set(pair) <= set(lower)), None)
    columns = [lower[name] for name in pair] if pair else list(table.columns[:2])
    source, target = (whole_number_column(table, column, path, key, NUMBERED) for column in columns)
    unused = [str(column) for column in table.columns if column not in columns]
    if not unused:
        return source, target, []
    taken = "" if pair else f" (source and target are the first two, {columns[0]} and {columns[1]})"
    return source, target, [f"columns of the edges not used: {', '.join(unused)}{taken}"]
