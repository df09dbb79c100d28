"""The weights that a spec asks importance sampling to draw by: computed, or read from a person's own file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.batches.sampling.neighbour_weights import checked_weights, neighbour_weights
from harness.graphs.csr import source_degree
from harness.graphs.graph import Graph
from harness.graphs.sources.arrays import read_npy
from harness.spec.errors import InputError, Problem
from harness.spec.places import find_file

_KEY = "sampling.weights"


def importance_weights(graph: Graph, weights: str, spec_dir: Path) -> np.ndarray:
    """A weight of each node as a neighbour, float64, ``[num_nodes]``.

    Args:
        weights: ``degree``, ``pagerank``, or the path of a .npy with one number a node.
        spec_dir: where a relative path starts; ``$HARNESS_DATA`` comes next.

    Raises:
        InputError: the file is not there, is no .npy of numbers, or its numbers cannot be weights of this graph.
    """
    if not weights.endswith(".npy"):
        return neighbour_weights(graph.indptr, graph.indices, weights)
    path = find_file(weights, spec_dir)
    if path is None:
        raise _wrong(weights, "there is no such file; give a path relative to the spec or to $HARNESS_DATA")
    try:
        given = checked_weights(read_npy(path, _KEY), graph.num_nodes)
    except ValueError as error:
        raise _wrong(path, f"{error}; write one number a node of this graph") from None
    if graph.num_edges and not given.all() and not given[source_degree(graph.indices, graph.num_nodes) > 0].any():
        raise _wrong(path, "every neighbour has weight 0, so that none could be drawn; write some positive weights")
    return given


def _wrong(file: str | Path, message: str) -> InputError:
    return InputError(Problem(file=str(file), path=_KEY, message=message))
