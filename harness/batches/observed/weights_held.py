"""Which weights a sampler really draws by, against the graph's degrees and the file that a person named."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from harness.batches.observed.degrees import degrees_of_sources
from harness.graphs.csr import row_ranges
from harness.graphs.graph import Graph
from harness.graphs.sources.arrays import read_npy
from harness.spec.errors import InputError

_EDGES_AT_ONCE = 1 << 22


def weights_held(held: np.ndarray | None, graph: Graph, file: Path | None) -> dict[str, Any] | None:
    """Facts about the weights that a sampler holds; None where it has none.

    Args:
        held: weights of nodes, float64, ``[num_nodes]``. file: .npy that they are to come from, or None.

    Returns:
        Whether they ``are_degrees``, their ``sum``, how many are ``positive``, and the ``sha256`` of their bytes. With
        a file also ``file_sha256``, of what it holds now, as float64; None where it can no longer be read. Without one,
        where they add up to 1, ``pagerank_residual``.
    """
    if held is None:
        return None
    degree = degrees_of_sources(graph.indices, len(held))
    found = {
        "are_degrees": np.array_equal(held, degree),
        "sum": float(held.sum()),
        "positive": int(np.count_nonzero(held > 0)),
        "sha256": _sha256(held),
    }
    if file is not None:
        return found | {"file_sha256": _sha256_of_file(file)}
    if abs(held.sum() - 1.0) < 1e-6:
        found["pagerank_residual"] = pagerank_residual(held, graph, degree)
    return found


def pagerank_residual(rank: np.ndarray, graph: Graph, out_degree: np.ndarray, damping: float = 0.85) -> float:
    """How far ranks are from solving PageRank's equation, summed over all nodes; 0 for its solution alone.

    Written apart from the power iteration: in the equation ``r = (1 - damping) / n + damping * (P r + dangling / n)``
    (`harness.graphs.structural.pagerank`) the ranks are put in once.
    """
    n, ends = len(rank), np.asarray(graph.indptr)
    share = rank / np.maximum(out_degree, 1)
    received = np.zeros(n)
    for first, last in row_ranges(ends, _EDGES_AT_ONCE):
        row = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
        received[first:last] = np.bincount(row, share[graph.indices[ends[first] : ends[last]]], last - first)
    everywhere = (1.0 - damping + damping * rank[out_degree == 0].sum()) / n
    return float(np.abs(rank - everywhere - damping * received).sum())


def _sha256(weights: np.ndarray) -> str:
    return hashlib.sha256(np.asarray(weights, dtype=np.float64).tobytes()).hexdigest()


def _sha256_of_file(file: Path) -> str | None:
    try:
        return _sha256(read_npy(file, "sampling.weights"))
    except (InputError, ValueError, TypeError):  # gone, cut short, or no array of numbers any more
        return None
