"""The columns that `transform.structural` asks for, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.graphs.csr import Csr
from harness.graphs.structural.clustering import clustering_coefficient
from harness.graphs.structural.pagerank import pagerank
from harness.graphs.structural.undirected import undirected
from harness.graphs.structural.walks import return_probabilities
from harness.spec.dataset import Transform


@dataclass(frozen=True)
class StructuralColumns:
    """What the edges say about each node, not yet scaled.

    Attributes:
        values: float32, ``[num_nodes, num_columns]``.
        names: one a column: degree, pagerank, clustering, walk-1 .. walk-k.
        walks: walks a node that the walk columns were counted on; None where they are exact, or not there.
    """

    values: np.ndarray
    names: tuple[str, ...]
    walks: int | None = None


def structural_columns(csr: Csr, transform: Transform) -> StructuralColumns:
    """In the order in which the transform names them.

    ``degree`` is ``log(1 + in-degree)``, a repeated edge as often as it is there; ``pagerank`` the logarithm of the
    rank over its mean, since ranks lie orders of magnitude apart. Both follow the messages. ``clustering`` and
    ``random-walk`` see the undirected graph with each edge once.

    Raises:
        ValueError: the walks are too many for this graph.
    """
    names: list[str] = []
    parts: list[np.ndarray] = []
    walks = None
    both_ways = undirected(csr) if {"clustering", "random-walk"} & set(transform.structural) else csr
    for kind in transform.structural:
        if kind == "degree":
            parts.append(np.log1p(np.diff(csr.indptr))[:, None])
        elif kind == "pagerank":
            # equal ranks must come out equal: scaled, a column of rounding errors would look like any other
            parts.append(np.log(pagerank(csr.indptr, csr.indices) * csr.num_nodes).round(6)[:, None])
        elif kind == "clustering":
            parts.append(clustering_coefficient(both_ways)[:, None])
        else:
            returns = return_probabilities(both_ways, transform.walk_steps)
            parts.append(returns.columns)
            walks = returns.walks
        names += [f"walk-{k}" for k in range(1, transform.walk_steps + 1)] if kind == "random-walk" else [kind]
    return StructuralColumns(np.concatenate([part.astype(np.float32) for part in parts], axis=1), tuple(names), walks)
