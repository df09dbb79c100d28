"""How many neighbours each node is to have drawn."""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled


@compiled
def count_draws(indptr: np.ndarray, nodes: np.ndarray, fanout: int, stratified: bool) -> np.ndarray:
    """Row pointer over the neighbours to draw of each node, int64, ``[len(nodes) + 1]``.

    All d neighbours where d <= fanout or fanout is -1. Above, the fan-out; ``stratified``: fanout * (1 + floor(log2 q))
    with q = d // fanout, so that a hub's sample follows its degree. Never above d, for 1 + floor(log2 q) <= q.
    """
    ends = np.empty(len(nodes) + 1, np.int64)
    ends[0] = 0
    for row in range(len(nodes)):
        count = indptr[nodes[row] + 1] - indptr[nodes[row]]
        if 0 <= fanout < count:
            q = count // fanout if stratified else 1
            count = 0
            while q > 0:
                count += fanout
                q >>= 1
        ends[row + 1] = ends[row] + count
    return ends
