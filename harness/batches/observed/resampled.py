"""The same seeds asked for again in another epoch: does the sampler that served the training draw anew?"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from harness.batches.batch import Batch
from harness.batches.observed.first_draws import FirstDraws
from harness.batches.observed.unlike_uniform import inclusion, ranges
from harness.graphs.graph import Graph

_SEEDS = 64
_EDGES = 200_000  # of adjacency lists looked at a hop, to tell how much chance there was


class _Sampler(Protocol):
    fanout: tuple[int, ...]
    method: str

    def sample(self, seeds: np.ndarray, epoch: int = 0, batch: int = 0) -> Batch: ...


def resampled(
    graph: Graph, sampler: _Sampler, train: np.ndarray, first: FirstDraws, weights: np.ndarray | None
) -> dict[str, Any]:
    """Sample some training nodes in two epochs, once as each of two batches.

    Args:
        train: training nodes; those with more neighbours than the fan-out are taken first.
        first: knows how many neighbours are due.
        weights: of importance sampling.

    Returns:
        ``equal``: whether both samples are. ``choices``: at least so many bits of chance were in each, i.e. two
        samples drawn anew are equal with a probability of at most ``2 ** -choices``. It is 0 where the graph has
        repeated edges, since another draw can give the same neighbour.
    """
    fanout = sampler.fanout[0]
    richer = train[first.choosable(train) > first.due(train, fanout)]
    seeds = (richer if len(richer) else train)[:_SEEDS]
    one, two = (sampler.sample(seeds, epoch, index) for epoch, index in ((1, 0), (2, 1)))
    bits, start = 0.0, 0
    for width, block in zip(sampler.fanout, reversed(one.blocks), strict=True):
        nodes, start = one.nodes[start : block.num_dst], block.num_dst
        if graph.meta.duplicate_edges == 0:
            bits += _bits(graph, sampler.method, nodes, first.choosable(nodes), first.due(nodes, width), weights)
    return {"choices": int(bits), "equal": np.array_equal(one.edges(), two.edges())}


def _bits(
    graph: Graph,
    method: str,
    nodes: np.ndarray,
    choosable: np.ndarray,
    due: np.ndarray,
    weights: np.ndarray | None,
) -> float:
    """Bits of chance in the draws of a hop, at least."""
    choosing = choosable > due
    if method in ("uniform", "fixed", "degree-stratified"):
        return float(np.count_nonzero(choosing))  # C(d, k) >= 2 samples each
    degree = np.asarray(graph.indptr[nodes + 1] - graph.indptr[nodes], dtype=np.int64)
    choosing &= degree <= _EDGES // 4  # no hub is all that is read
    chosen = np.flatnonzero(choosing & (np.cumsum(degree * choosing) <= _EDGES))
    row = np.repeat(np.arange(len(chosen)), degree[chosen])
    near = np.asarray(graph.indices[ranges(graph.indptr[nodes[chosen]], degree[chosen])], dtype=np.int64)
    if weights is None:
        return _disjoint_rows(near, degree[chosen])
    drawable = weights[near] > 0
    row, near = row[drawable], near[drawable]
    share = inclusion(weights[near], row, due[chosen])
    same = np.ones(len(chosen))  # of two samples, that they agree on the neighbour they agree on least
    np.minimum.at(same, row, share**2 + (1.0 - share) ** 2)
    return float(-np.log2(same).sum())


def _disjoint_rows(near: np.ndarray, degree: np.ndarray) -> float:
    """Rows without a neighbour in common, taken greedily: those that share variates (labor) may all fall alike."""
    seen: set[int] = set()
    rows = 0
    for own in np.split(near, np.cumsum(degree)[:-1]) if len(degree) else []:
        if seen.isdisjoint(neighbours := own.tolist()):
            rows += 1
            seen.update(neighbours)
    return float(rows)
