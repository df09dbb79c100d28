"""Which row a node has in the batch at hand: dense maps that are never cleared."""

from __future__ import annotations

from collections import deque

import numpy as np

_LAST_STAMP = 2**32 - 1


class RowTables:
    """Dense maps from a node to its row, one for each thread that samples at the same time.

    An entry is the stamp of the batch that wrote it, over the row; entries of earlier batches carry another
    stamp, so a map is never cleared. A thread takes a map for one batch and gives it back.
    """

    def __init__(self, num_nodes: int) -> None:
        self._num_nodes = num_nodes
        self._free: deque[tuple[np.ndarray, int]] = deque()

    def take(self) -> tuple[np.ndarray, int]:
        """A map and a stamp that it has not seen."""
        try:
            table, stamp = self._free.pop()
        except IndexError:  # all in use: this thread is one more
            table, stamp = np.zeros(self._num_nodes, np.uint64), 0
        if stamp == _LAST_STAMP:
            table[:], stamp = 0, 0
        return table, stamp + 1

    def give_back(self, table: np.ndarray, stamp: int) -> None:
        self._free.append((table, stamp))
