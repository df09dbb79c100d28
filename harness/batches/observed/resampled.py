"""The same seeds asked for again in another epoch, and as another batch: does the sampler draw anew?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.batches.observed.by_weight import draws_by_weight
from harness.batches.observed.first_draws import FirstDraws
from harness.batches.observed.rows import Rows, rows_of
from harness.batches.sampler import Sampler
from harness.graphs.graph import Graph

_SEEDS = 64
_EDGES = 100_000  # of adjacency lists looked at a hop, to tell how much chance there was
_PAIRS = 16  # of simulated samples by weight
_DOUBT = 20.7  # -log of the probability, 1e-9, that the simulation makes chance of what is certain


def resampled(
    graph: Graph, sampler: Sampler, train: np.ndarray, first: FirstDraws, weights: np.ndarray | None
) -> dict[str, Any]:
    """Sample some training nodes as one batch of two epochs, and as two batches of one epoch.

    Args:
        train: training nodes; those with more neighbours than the fan-out are taken first.
        first: knows how many neighbours are due.
        weights: of importance sampling.

    Returns:
        ``equal``: whether the samples are, in the two ``epochs`` and as the two ``batches``. ``choices``: at least so
        many bits of chance were in each, i.e. two samples drawn anew are equal with a probability of at most
        ``2 ** -choices``. It is 0 where the graph has repeated edges, since another draw can give the same neighbour.
    """
    fanout = sampler.fanout[0]
    richer = train[first.choosable(train) > first.due(train, fanout)]
    seeds = (richer if len(richer) else train)[:_SEEDS]
    one, later, beside = (sampler.sample(seeds, epoch, index) for epoch, index in ((1, 0), (2, 0), (1, 1)))
    bits, start = 0.0, 0
    for width, block in zip(sampler.fanout, reversed(one.blocks), strict=True):
        nodes, start = one.nodes[start : block.num_dst], block.num_dst
        if graph.meta.duplicate_edges == 0:
            bits += _bits(graph, sampler.method, nodes, first.choosable(nodes), first.due(nodes, width), weights)
    return {
        "choices": int(bits),
        "equal": {
            "epochs": np.array_equal(one.edges(), later.edges()),
            "batches": np.array_equal(one.edges(), beside.edges()),
        },
    }


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
        return _bits_of_sets(choosable[choosing], due[choosing])
    rows = rows_of(graph, nodes, choosing, _EDGES)
    if weights is None:
        apart = rows.chosen[_disjoint_rows(rows)]
        return _bits_of_sets(choosable[apart], due[apart])
    return _bits_by_weight(weights[rows.near], rows.row, due[rows.chosen])


def _bits_of_sets(degree: np.ndarray, count: np.ndarray) -> float:
    """Every set of k of d neighbours equally likely, independently: log2 of the numbers of sets, C(d, k), added up."""
    return sum(
        (math.lgamma(d + 1) - math.lgamma(k + 1) - math.lgamma(d - k + 1)) / math.log(2.0)
        for d, k in zip(degree.tolist(), count.tolist(), strict=True)
    )


def _bits_by_weight(weight: np.ndarray, row: np.ndarray, count: np.ndarray) -> float:
    """Where rows differ between two samples with probabilities q, all agree with one of prod(1 - q) <= exp(-sum q).

    The sum is the mean number of rows that differ. It is estimated from simulated pairs of samples, and what these
    can be too high by is taken off: by Chernoff's bound a sum of independent rows reaches D with a probability
    below exp(-c) where its mean is below D - sqrt(2 c D).
    """
    row, weight = row[weight > 0], weight[weight > 0]
    samples = [drawn for drawn, _ in draws_by_weight(weight, row, count, 2 * _PAIRS)]
    differ = 0
    for one, two in zip(samples[::2], samples[1::2], strict=True):
        differ += np.count_nonzero(np.bincount(row, one != two, len(count)))
    sure = max(0.0, differ - (2.0 * _DOUBT * differ) ** 0.5) / _PAIRS
    return float(sure / np.log(2.0))


def _disjoint_rows(rows: Rows) -> list[int]:
    """Rows without a neighbour in common, taken greedily: those that share variates (labor) may all fall alike."""
    seen: set[int] = set()
    found = []
    for row, own in enumerate(np.split(rows.near, np.flatnonzero(np.diff(rows.row)) + 1)):
        if len(own) and seen.isdisjoint(neighbours := own.tolist()):
            found.append(row)
            seen.update(neighbours)
    return found
