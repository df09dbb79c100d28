"""Which weights a sampler really draws by, against the graph's degrees and the file that a person named."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from harness.graphs.graph import Graph


def weights_held(held: np.ndarray | None, graph: Graph, file: Path | None) -> dict[str, Any] | None:
    """Facts about the weights that a sampler holds; None where it has none.

    Args:
        held: weights of nodes, float64, ``[num_nodes]``. file: .npy that they are to come from, or None.

    Returns:
        Whether they ``are_degrees``, their ``sum``, how many are ``positive``, and the ``sha256`` of their bytes. With
        a file also ``file_sha256``, of what it holds now, as float64; None where it can no longer be read.
    """
    if held is None:
        return None
    sources = np.asarray(graph.indices)
    degree = np.bincount(sources, minlength=len(held)) if len(sources) else 0 * held
    found = {
        "are_degrees": np.array_equal(held, degree),
        "sum": float(held.sum()),
        "positive": int(np.count_nonzero(held > 0)),
        "sha256": _sha256(held),
    }
    return found if file is None else found | {"file_sha256": _sha256_of_file(file)}


def _sha256(weights: np.ndarray) -> str:
    return hashlib.sha256(np.asarray(weights, dtype=np.float64).tobytes()).hexdigest()


def _sha256_of_file(file: Path) -> str | None:
    try:
        return _sha256(np.load(file, allow_pickle=False))
    except (OSError, ValueError, EOFError, TypeError):  # gone, cut short, or no array of numbers any more
        return None
