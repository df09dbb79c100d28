"""Neighbours with the smallest keys: importance sampling and LABOR, which differ in what the key is.

Drawn neighbours stand in the order of the adjacency list, and equal keys are taken in that order.
"""

from __future__ import annotations

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.mixing import GOLDEN, mix

_S1, _S11 = np.uint64(1), np.uint64(11)
_STEP = 2.0**-53


@compiled
def draw_importance(
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    nodes: np.ndarray,
    ends: np.ndarray,
    key: np.uint64,
    out: np.ndarray,
    edge_weight: np.ndarray,
) -> None:
    """Write to ``out[ends[i]:ends[i+1]]`` as many edges (places in ``indices``) of ``nodes[i]``, chosen by weight.

    Sequential Poisson sampling (Ohlsson 1990, "Sequential sampling from a business register"): the k neighbours
    with the smallest u/w, u uniform in (0, 1] for each position, w > 0 the neighbour's weight. A division alone,
    for it is rounded alike everywhere; exponential keys would need a logarithm, which is not.

    ``edge_weight`` holds 1 for each place of ``out``, or nothing where no edge is to be weighted. Each edge of a node
    that has more than k neighbours, d, gets r = k / (d * p) with p = min(1, w * T), T the (k+1)-th smallest key:
    priority sampling (Duffield, Lund and Thorup 2007, "Priority sampling for estimation of arbitrary subset
    sums"), by which the sum of x / p over the drawn is unbiased for the sum of x over all.
    """
    keys, heap = _scratch(indptr, nodes, ends, np.float64(0))
    for row in range(len(nodes)):
        node = nodes[row]
        start = indptr[node]
        d = indptr[node + 1] - start
        at = ends[row]
        k = ends[row + 1] - ends[row]
        if k == d:
            for i in range(d):
                out[at + i] = start + i
            continue
        for i in range(d):  # a loop of its own: the memory answers many look-ups at a time
            keys[i] = weights[indices[start + i]]
        node_key = mix(key + np.uint64(node) * GOLDEN)
        for i in range(d):
            u = np.float64((mix(node_key + np.uint64(i + 1) * GOLDEN) >> _S11) + _S1) * _STEP
            keys[i] = u / keys[i]
        threshold = _take_smallest(keys[:d], out[at : at + k], heap)
        for i in range(k):
            out[at + i] += start
            if len(edge_weight) > 0:
                edge_weight[at + i] = np.float32(k / (d * min(1.0, weights[indices[out[at + i]]] * threshold)))


@compiled
def draw_labor(
    indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, ends: np.ndarray, key: np.uint64, out: np.ndarray
) -> None:
    """Write to ``out[ends[i]:ends[i+1]]`` as many edges (places in ``indices``) of ``nodes[i]``, chosen alike by all.

    LABOR-0 in its form of fixed size (Balin and Catalyurek 2023, "Layer-neighbor sampling: defusing neighborhood
    explosion in GNNs"): the k neighbours t with the smallest r_t, which is hashed from the hop and from t alone.
    A node's sample is a uniform set of k as with `draw_uniform`, but two nodes that share neighbours tend to draw the
    same ones, so that fewer distinct nodes are found. A neighbour that the list holds twice has one key for both
    places, so both are taken, or only the first as the last of k: each is as likely as any other neighbour, not as two.
    """
    keys, heap = _scratch(indptr, nodes, ends, np.int64(0))
    for row in range(len(nodes)):
        start = indptr[nodes[row]]
        d = indptr[nodes[row] + 1] - start
        at = ends[row]
        k = ends[row + 1] - ends[row]
        if k == d:
            for i in range(d):
                out[at + i] = start + i
            continue
        for i in range(d):  # 63 bits, since torch orders words by their sign
            keys[i] = np.int64(mix(key + np.uint64(indices[start + i]) * GOLDEN) >> _S1)
        _take_smallest(keys[:d], out[at : at + k], heap)
        for i in range(k):
            out[at + i] += start


@compiled
def _scratch(indptr: np.ndarray, nodes: np.ndarray, ends: np.ndarray, zero: float) -> tuple[np.ndarray, np.ndarray]:
    """Room for the keys of the node with most neighbours, and for one more than are drawn of any node."""
    most = drawn = 0
    for row in range(len(nodes)):
        most = max(most, indptr[nodes[row] + 1] - indptr[nodes[row]])
        drawn = max(drawn, ends[row + 1] - ends[row])
    return np.full(most, zero), np.full(drawn + 1, zero)


@compiled
def _take_smallest(keys: np.ndarray, taken: np.ndarray, heap: np.ndarray) -> float:
    """Fill ``taken`` with the positions of the k smallest keys, in order, k < len(keys); the (k+1)-th smallest key."""
    k = len(taken)
    for i in range(k + 1):
        heap[i] = keys[i]
    for i in range(k // 2, -1, -1):  # the k+1 smallest keys so far, none above its parent
        _sift_down(heap, i, k + 1)
    for i in range(k + 1, len(keys)):
        if keys[i] < heap[0]:
            heap[0] = keys[i]
            _sift_down(heap, 0, k + 1)
    bound = heap[0]
    equal = k  # how many of the keys that equal the bound are among the k smallest: none, but for ties
    for i in range(k + 1):
        equal -= heap[i] < bound
    n = 0
    for i in range(len(keys)):
        if keys[i] < bound or (keys[i] == bound and equal > 0):
            equal -= keys[i] == bound
            taken[n] = i
            n += 1
    return bound


@compiled
def _sift_down(heap: np.ndarray, parent: int, size: int) -> None:
    """Let an entry sink until none below it is larger."""
    entry = heap[parent]
    while 2 * parent + 1 < size:
        child = 2 * parent + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= entry:
            break
        heap[parent] = heap[child]
        parent = child
    heap[parent] = entry
