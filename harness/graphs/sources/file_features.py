"""Features from a person's files, dense or sparse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse

from harness.graphs.faults import data_fault
from harness.graphs.features import FeatureRows, dense_rows, sparse_rows
from harness.graphs.sources.arrays import (
    check_suffix,
    compressed_rows,
    is_scipy_sparse,
    read_npy,
    read_npz,
    read_scipy_sparse,
)

KEYS = ("x", "x_indptr", "x_indices", "x_data", "x_shape")


def read_features(path: Path, key: str) -> FeatureRows:
    """Features of an npy file, or of an npz file: dense `x`, plain sparse arrays, or a scipy sparse matrix.

    Raises:
        InputError: another file type, a damaged file, or not a matrix of numbers.
    """
    if check_suffix(path, key, (".npy", ".npz")) == ".npy":
        return _dense(read_npy(path, key), "the array", path, key)
    arrays = read_npz(path, key)
    if is_scipy_sparse(arrays):
        return sparse_rows(read_scipy_sparse(path, key).tocsr())
    if len(arrays) == 1 and "x" not in arrays:
        name, array = next(iter(arrays.items()))
        return _dense(array, f"array {name}", path, key)
    return features_of(arrays, path, key)


def features_of(arrays: dict[str, np.ndarray], path: Path, key: str) -> FeatureRows:
    """Features from plain arrays: `x` ``[n, f]``, or CSR `x_indptr`, `x_indices`, `x_shape`, `x_data` (else ones)."""
    if "x" in arrays:
        return _dense(arrays["x"], "array x", path, key)
    missing = [name for name in ("x_indptr", "x_indices", "x_shape") if name not in arrays]
    if missing:
        found = ", ".join(arrays) or "nothing"
        raise data_fault(
            path,
            key,
            f"has no features: it holds {found}; add x [n, f], or x_indptr, x_indices and x_shape, or make features "
            "of the edges: transform: {structural: [degree, random-walk]}",
        )
    shape = arrays["x_shape"]
    if shape.shape != (2,) or not np.issubdtype(shape.dtype, np.integer) or shape.min() < 0:
        raise data_fault(
            path, key, f"array x_shape is {shape.tolist()}; it must be two whole numbers, nodes and features"
        )
    rows, columns = (int(size) for size in shape)
    indptr, indices = compressed_rows(
        arrays["x_indptr"], arrays["x_indices"], rows, columns, ("x_indptr", "x_indices"), path, key
    )
    data = arrays.get("x_data", np.ones(len(indices), dtype=np.float32))
    _check_numbers(data, "array x_data", path, key)
    if data.shape != indices.shape:
        raise data_fault(
            path,
            key,
            f"array x_data has shape {list(data.shape)}, x_indices {list(indices.shape)}; give one value an entry",
        )
    # a word named twice in a row is there once if features are binary, and adds up if they have values
    matrix = scipy.sparse.csr_matrix((data.astype(np.float32), indices.astype(np.int32), indptr), shape=(rows, columns))
    matrix.sum_duplicates()
    if "x_data" not in arrays:
        matrix.data[:] = 1.0
    return sparse_rows(matrix)


def _dense(x: np.ndarray, what: str, path: Path, key: str) -> FeatureRows:
    _check_numbers(x, what, path, key)
    if x.ndim != 2:
        raise data_fault(path, key, f"{what} has shape {list(x.shape)}; features have shape [nodes, features]")
    return dense_rows(x)


def _check_numbers(x: np.ndarray, what: str, path: Path, key: str) -> None:
    if not (np.issubdtype(x.dtype, np.integer) or np.issubdtype(x.dtype, np.floating) or x.dtype == bool):
        raise data_fault(path, key, f"{what} is {x.dtype}; features must be numbers (float32 is best)")
