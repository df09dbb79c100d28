"""A graph without directions and repetitions: where walks go, and where triangles are counted."""

from __future__ import annotations

import numpy as np

from harness.graphs.csr import Csr, build_csr


def undirected(csr: Csr) -> Csr:
    """Each edge in both directions, each pair once; a self-loop stays, once."""
    rows = np.repeat(np.arange(csr.num_nodes, dtype=csr.indices.dtype), np.diff(csr.indptr))
    return build_csr(csr.indices, rows, csr.num_nodes, undirected=True)
