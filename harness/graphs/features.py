"""Node features read in chunks of rows, so that a graph larger than memory can be prepared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import scipy.sparse

CHUNK_BYTES = 32 << 20
PAGE = 4096  # bytes


@dataclass(frozen=True)
class FeatureRows:
    """A feature matrix that is never needed whole.

    Attributes:
        num_nodes, num_features: its shape.
        rows: ``rows(first, last)`` gives rows first .. last - 1 as a dense array ``[last - first, num_features]``.
    """

    num_nodes: int
    num_features: int
    rows: Callable[[int, int], np.ndarray]

    def chunks(self) -> Iterator[tuple[int, np.ndarray]]:
        """First row and float32 rows of each chunk, in order; a chunk holds about 32 MB."""
        for chunk in row_slices(self.num_nodes, self.num_features):
            block = self.rows(chunk.start, chunk.stop)
            with np.errstate(over="ignore"):  # becomes inf, which the check of the data reports
                yield chunk.start, np.ascontiguousarray(block, dtype=np.float32)


def rows_per_chunk(num_features: int) -> int:
    """Rows of float32 that fill a chunk."""
    return max(1, CHUNK_BYTES // (4 * max(1, num_features)))


def row_slices(num_rows: int, num_features: int) -> Iterator[slice]:
    """The rows of a table in order, as many at a time as fill a chunk of float32."""
    step = rows_per_chunk(num_features)
    for first in range(0, num_rows, step):
        yield slice(first, min(first + step, num_rows))


def chunks_of(x: np.ndarray, nodes: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of some nodes, float64, chunk by chunk: what statistics are fitted on."""
    for chunk in row_slices(len(nodes), 2 * x.shape[1]):
        yield x[nodes[chunk]].astype(np.float64)


def dense_rows(x: np.ndarray) -> FeatureRows:
    """Features of a dense array or memory map, ``[num_nodes, num_features]``."""
    return FeatureRows(x.shape[0], x.shape[1], lambda first, last: x[first:last])


def no_features(num_nodes: int) -> FeatureRows:
    """Of a graph of edges and labels alone."""
    return dense_rows(np.empty((num_nodes, 0), np.float32))


def sparse_rows(x: scipy.sparse.csr_matrix) -> FeatureRows:
    """Features of a scipy CSR matrix, ``[num_nodes, num_features]``."""
    return FeatureRows(x.shape[0], x.shape[1], lambda first, last: x[first:last].toarray())


def write_npy_header(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Start a .npy file whose data follow in C order.

    The header is padded with spaces, as the format allows, to a whole page: rows of whole pages then lie on their own
    pages, and reading one from a disk reads no others.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    text = repr(header).encode("latin1")
    start = np.lib.format.magic(1, 0)
    length = PAGE - len(start) - 2
    file.write(start + length.to_bytes(2, "little") + text.ljust(length - 1) + b"\n")
