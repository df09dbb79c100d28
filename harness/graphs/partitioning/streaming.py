"""Fennel and LDG: nodes come one by one, and each goes to the part that scores best for it at that moment.

A pass takes O(edges + nodes log parts) and, beside the graph, 8 bytes a node. Only parts with a neighbour need
scoring, and the least loaded one: of the parts without a neighbour it scores best.
"""

from __future__ import annotations

import math

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.partitioning.undirected import UndirectedGraph
from harness.graphs.read_only import read_only

GAMMA = 1.5
NU = 1.1  # Fennel's limit of a part's nodes, over the mean
LAST_PRICE = 4.0  # of Fennel's last pass, over the first's


def fennel(graph: UndirectedGraph, parts: int, seed: int, passes: int) -> np.ndarray:
    """Argmax of ``|N(v) & S_i| - alpha gamma |S_i|^(gamma - 1)`` over the parts below the limit.

    Tsourakakis et al., FENNEL: streaming graph partitioning for massive scale graphs, 2014, with their gamma = 1.5,
    alpha = m k^(gamma-1) / n^gamma and nu = 1.1. Later passes stream the nodes in the same order and take a node out
    of its part before it is placed again (Nishimura and Ugander, Restreaming graph partitioning, 2013), who also raise
    alpha from pass to pass: here geometrically, to four times its value in the last pass, so that one pass is Fennel
    as published.

    Args:
        graph: may have no edges.
        parts: 2 .. num_nodes - 1.
        seed: of the order of nodes.
        passes: at least 1.

    Returns:
        int64, ``[num_nodes]``; no part has more than `load_cap` nodes.
    """
    cap = load_cap("fennel", graph.num_nodes, parts)
    alpha = graph.num_edges * parts ** (GAMMA - 1) / graph.num_nodes**GAMMA
    price = alpha * GAMMA * np.arange(cap, dtype=np.float64) ** (GAMMA - 1)
    rise = LAST_PRICE ** (1 / max(passes - 1, 1))
    return _streamed(graph, parts, seed, np.ones(cap), [price * rise**i for i in range(passes)])


def ldg(graph: UndirectedGraph, parts: int, seed: int) -> np.ndarray:
    """Argmax of ``|N(v) & S_i| (1 - |S_i| / C)``, C the mean size rounded up; one pass.

    Stanton and Kliot, Streaming graph partitioning for large distributed graphs, 2012. Ties go to the least loaded
    part, without which nodes with no neighbour placed yet would fill one part after the other.

    Args:
        graph: may have no edges.
        parts: 2 .. num_nodes - 1.
        seed: of the order of nodes.

    Returns:
        int64, ``[num_nodes]``; no part has more than `load_cap` nodes.
    """
    cap = load_cap("ldg", graph.num_nodes, parts)
    return _streamed(graph, parts, seed, 1 - np.arange(cap, dtype=np.float64) / cap, [np.zeros(cap)])


def load_cap(method: str, num_nodes: int, parts: int) -> int:
    """Most nodes in a part: the mean rounded up, or for `fennel` 1.1 times the mean where that is more."""
    even = -(-num_nodes // parts)
    return max(even, math.floor(NU * num_nodes / parts)) if method == "fennel" else even


def _streamed(
    graph: UndirectedGraph, parts: int, seed: int, weight: np.ndarray, prices: list[np.ndarray]
) -> np.ndarray:
    ids = graph.indices.dtype
    order = np.random.default_rng(seed % 2**64).permutation(np.arange(graph.num_nodes, dtype=ids))
    part = np.full(graph.num_nodes, -1, dtype=np.int32)
    load = np.zeros(parts, dtype=np.int64)
    for price in prices:
        _pass(graph.indptr, graph.indices, read_only(order, ids), part, load, weight, price)
    return part.astype(np.int64)


@compiled
def _pass(
    indptr: np.ndarray,
    indices: np.ndarray,
    order: np.ndarray,
    part: np.ndarray,
    load: np.ndarray,
    weight: np.ndarray,
    price: np.ndarray,
) -> None:
    """Place each node anew where ``neighbours * weight[load] - price[load]`` is highest.

    Ties go to the least loaded part, then to the smallest number. ``part`` (-1: not placed yet) and ``load`` are
    changed; a part with ``len(price)`` nodes is full.
    """
    cap = len(price)
    least = _tournament(load)
    neighbours = np.zeros(len(load), np.int64)
    for v in order:
        old = part[v]
        best = np.int64(least[1])
        if old >= 0:
            load[old] -= 1
            if load[old] < load[best] or (load[old] == load[best] and old < best):
                best = np.int64(old)
        for e in range(indptr[v], indptr[v + 1]):
            if part[indices[e]] >= 0:
                neighbours[part[indices[e]]] += 1
        score = neighbours[best] * weight[load[best]] - price[load[best]]
        for e in range(indptr[v], indptr[v + 1]):
            p = np.int64(part[indices[e]])
            if p < 0 or neighbours[p] == 0:
                continue
            if load[p] < cap:
                other = neighbours[p] * weight[load[p]] - price[load[p]]
                lighter = load[p] < load[best] or (load[p] == load[best] and p < best)
                if other > score or (other == score and lighter):
                    best, score = p, other
            neighbours[p] = 0
        load[best] += 1
        if best != old:
            part[v] = best
            _replay(least, load, best)
            if old >= 0:
                _replay(least, load, np.int64(old))


@compiled
def _tournament(load: np.ndarray) -> np.ndarray:
    """A heap of winners whose entry 1 is the least loaded part, the smallest number among equals."""
    width = 1
    while width < len(load):
        width *= 2
    winners = np.zeros(2 * width, np.int64)
    for p in range(width):
        winners[width + p] = min(p, len(load) - 1)  # seats beyond the last part are its doubles
    for seat in range(width - 1, 0, -1):
        winners[seat] = _winner(winners, load, seat)
    return winners


@compiled
def _replay(winners: np.ndarray, load: np.ndarray, p: int) -> None:
    """The games above part p again, whose load has changed."""
    seat = (len(winners) // 2 + p) // 2
    while seat >= 1:
        winners[seat] = _winner(winners, load, seat)
        seat //= 2


@compiled
def _winner(winners: np.ndarray, load: np.ndarray, seat: int) -> int:
    left, right = winners[2 * seat], winners[2 * seat + 1]
    return left if load[left] <= load[right] else right
