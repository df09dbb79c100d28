"""How often each node is a source, counted from the edges apart from what orders caches and weighs neighbours."""

from __future__ import annotations

import numpy as np


def degrees_of_sources(sources: np.ndarray, num_nodes: int) -> np.ndarray:
    """Edges that leave each node, int64, ``[num_nodes]``; piece by piece: no copy of all edges.

    Args:
        sources: of every edge, integers in ``0 .. num_nodes - 1``, ``[num_edges]``.
    """
    degree = np.zeros(num_nodes, np.int64)
    piece = max(2**22, num_nodes)
    for first in range(0, len(sources), piece):
        degree += np.bincount(sources[first : first + piece], minlength=num_nodes)
    return degree
