"""Which edges of the graph a batch holds, and their attributes, gathered when they are first asked for."""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np

from harness.batches.features.gather import gather
from harness.graphs.read_only import read_only


class EdgeTable:
    """The attributes of a graph's edges, and a count of the bytes that batches took from them.

    Args:
        attr: float32, ``[num_edges, D]``, a row for each entry of the CSR's indices; perhaps a memory map.
    """

    def __init__(self, attr: np.ndarray) -> None:
        self._attr = read_only(attr, np.float32)
        self._counting = threading.Lock()
        self.fetched_bytes = 0

    @property
    def width(self) -> int:
        """Attributes of an edge."""
        return int(self._attr.shape[1])

    def fetch(self, ids: np.ndarray) -> np.ndarray:
        """Rows of these edges, float32, ``[len(ids), D]``; from any thread, without the GIL."""
        rows = np.empty((len(ids), self.width), np.float32)
        gather(self._attr, ids, rows)
        with self._counting:
            self.fetched_bytes += rows.nbytes
        return rows


def edge_table_of(edge_attr: np.ndarray | None, indices: np.ndarray) -> EdgeTable | None:
    """The table of attributes; ValueError where they are not one row an edge, float32."""
    if edge_attr is None:
        return None
    if edge_attr.ndim != 2 or len(edge_attr) != len(indices) or edge_attr.dtype != np.float32:
        raise ValueError(
            f"edge_attr must be float32 of shape [{len(indices)}, D]; got {edge_attr.dtype} {list(edge_attr.shape)}"
        )
    return EdgeTable(edge_attr)


class BatchEdges:
    """The edges of one batch.

    Its blocks share one such object: those of an inner layer are the first of the input layer's.

    Args:
        table: where attributes come from.
        ids: place of each edge in the graph's indices, int64, ``[num_edges]``.
    """

    def __init__(self, table: EdgeTable, ids: np.ndarray) -> None:
        self.table, self.ids = table, ids

    @cached_property
    def attr(self) -> np.ndarray:
        """Attributes, float32, ``[num_edges, D]``; gathered by the first who asks."""
        return self.table.fetch(self.ids)
