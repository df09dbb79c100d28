"""The attributes of edges on disk: written chunk by chunk in the order of the CSR, checked, as they were given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.graphs.checks import first_not_finite
from harness.graphs.features import row_slices, write_npy_header
from harness.graphs.raw import RawGraph


def write_edge_attr(folder: Path, raw: RawGraph, edge: np.ndarray) -> None:
    """Write `edge_attr.npy`, float32, ``[len(edge), D]``.

    Args:
        folder: of the graph.
        raw: its `edge_attr` has passed `check_edge_attr`.
        edge: of each entry of the CSR's indices, which of the source's edges it is (`csr.edge_numbers`).

    Raises:
        InputError: an attribute is not finite.
        OSError: the disk is full.
    """
    attr = raw.edge_rows
    assert attr is not None
    with (folder / "edge_attr.npy").open("wb") as file:
        write_npy_header(file, (len(edge), attr.shape[1]), np.dtype("<f4"))
        for chunk in row_slices(len(edge), attr.shape[1]):
            with np.errstate(over="ignore"):  # becomes inf, which the check reports
                rows = np.ascontiguousarray(attr[edge[chunk]], dtype="<f4")
            _check(raw, edge[chunk], rows)
            file.write(memoryview(rows).cast("B"))


def _check(raw: RawGraph, edge: np.ndarray, rows: np.ndarray) -> None:
    found = first_not_finite(rows)
    if found is not None:
        at, column = found
        raise raw.fault(
            "edge attributes",
            f"attribute {column} of edge {edge[at]} is {rows[at, column]}; attributes of edges must be finite in "
            "float32: replace missing values and clip large ones",
        )
