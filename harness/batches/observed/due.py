"""How many neighbours a node is due by its degree alone: what a run's draws are held to.

Written apart from the loops that draw, and in another way: a count proved by the code that made it proves nothing.
"""

from __future__ import annotations

import numpy as np


def neighbours_due(method: str, degree: np.ndarray, fanout: int) -> np.ndarray:
    """Neighbours that a sampler of this method must draw for nodes of these degrees.

    Args:
        method: ``degree-stratified``: all where degree <= fanout, above it
            ``fanout * (1 + floor(log2(degree // fanout)))``; every other method: min(degree, fanout).
        degree: integers, any shape; for ``importance`` the neighbours of positive weight, for all others the degree.
        fanout: positive, or -1 for all.

    Returns:
        int64, the shape of ``degree``; never above it.
    """
    degree = np.asarray(degree, dtype=np.int64)
    if fanout < 0:
        return degree.copy()
    if method == "degree-stratified":
        _, length = np.frexp(degree // fanout)  # q = m * 2**length with m in [1/2, 1): floor(log2 q) + 1
        return np.where(degree > fanout, fanout * length.astype(np.int64), degree)
    return np.minimum(degree, fanout)
