"""One function for all ways to cut a graph into parts."""

from __future__ import annotations

import numpy as np

from harness.graphs.csr import check_csr
from harness.graphs.partitioning.metis import metis
from harness.graphs.partitioning.streaming import fennel, ldg
from harness.graphs.partitioning.undirected import UndirectedGraph, undirected

METHODS = ("metis", "random", "fennel", "ldg")


def partition(
    indptr: np.ndarray, indices: np.ndarray, parts: int = 32, method: str = "metis", seed: int = 0, passes: int = 10
) -> np.ndarray:
    """The part of each node. The same seed gives the same parts.

    - ``metis`` minimises the edges between parts of nearly equal size (Karypis and Kumar 1998, k-way; recursive
      bisection up to 8 parts).
    - ``fennel`` streams the nodes in random order, each to the part that holds most of its neighbours less a price
      that rises with the part's size; ``passes`` times (Tsourakakis et al. 2014; Nishimura and Ugander 2013). No part
      exceeds 1.1 times the mean.
    - ``ldg`` streams them once, weighting neighbours by the room that is left (Stanton and Kliot 2012). No part
      exceeds the mean, rounded up.
    - ``random`` deals the nodes out in random order, so that sizes differ by at most one.

    All but ``random`` see the graph undirected: edges are symmetrised, self-loops and repeated edges dropped.

    Args:
        indptr: CSR row pointer, ``[num_nodes + 1]``.
        indices: CSR columns, ``[num_edges]``; directed or not.
        parts: how many; more than there are nodes gives every node a part of its own.
        method: one of `METHODS`.
        seed: of any method.
        passes: over all nodes, at least 1; `fennel` only.

    Returns:
        int64, ``[num_nodes]``, values in ``0 .. min(parts, num_nodes) - 1``. METIS can leave parts empty where
        parts are tiny; so can the streaming ones where the others' limits have room for all nodes.

    Raises:
        ValueError: parts or passes below 1, an unknown method, or arrays that are not a CSR.
    """
    check_request(parts, method, passes)
    check_csr(indptr, indices)
    if method == "random":
        return random_parts(len(indptr) - 1, parts, seed)
    return cut(undirected(indptr, indices), parts, method, seed, passes)


def check_request(parts: int, method: str, passes: int) -> None:
    """Raise ValueError for what no graph can be cut by."""
    if method not in METHODS:
        raise ValueError(f"partition method {method!r} is unknown; use {', '.join(METHODS[:-1])} or {METHODS[-1]}")
    if parts < 1:
        raise ValueError(f"parts must be at least 1; got {parts}")
    if passes < 1:
        raise ValueError(f"passes must be at least 1; got {passes}")


def cut(graph: UndirectedGraph, parts: int, method: str, seed: int, passes: int) -> np.ndarray:
    """As `partition`, of a graph made undirected before; the request must have been checked."""
    if parts >= graph.num_nodes:  # the only balanced answer; METIS would leave parts empty
        return np.arange(graph.num_nodes, dtype=np.int64)
    if parts == 1:
        return np.zeros(graph.num_nodes, dtype=np.int64)
    if method == "fennel":
        return fennel(graph, parts, seed, passes)
    if method == "ldg":
        return ldg(graph, parts, seed)
    if method == "random" or graph.num_edges == 0:  # nothing to cut: any balanced answer is a best one
        return random_parts(graph.num_nodes, parts, seed)
    return metis(graph, parts, seed)


def random_parts(num_nodes: int, parts: int, seed: int) -> np.ndarray:
    """The nodes dealt out in random order; a part each where there are as many parts as nodes."""
    if parts >= num_nodes:
        return np.arange(num_nodes, dtype=np.int64)
    part = np.empty(num_nodes, dtype=np.int64)
    part[np.random.default_rng(seed % 2**64).permutation(num_nodes)] = np.arange(num_nodes) % parts
    return part
