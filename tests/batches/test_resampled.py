"""The same seeds sampled again: who must draw anew, and how much chance there was."""

from __future__ import annotations

import numpy as np
import pytest

from harness.batches.observed.first_draws import FirstDraws
from harness.batches.observed.resampled import resampled
from harness.batches.sampling.numba_sampler import NeighborSampler

METHODS = ["uniform", "fixed", "importance", "degree-stratified", "labor"]


@pytest.mark.parametrize("method", METHODS)
def test_another_epoch_draws_anew_but_for_fixed(make_csr, make_graph, method: str) -> None:
    n, degree = 400, 12
    target = np.repeat(np.arange(n), degree)
    graph = make_graph(*make_csr(n, (target + np.tile(np.arange(1, degree + 1), n) * 7) % n, target))
    weights = np.ones(n) if method == "importance" else None
    first = FirstDraws(graph, method, (3, 2), weights)
    sampler = NeighborSampler(graph.indptr, graph.indices, [3, 2], method, 0, weights=weights)
    found = resampled(graph, sampler, graph.train, first, weights)
    assert found["equal"] == {"epochs": method == "fixed", "batches": method == "fixed"}
    assert found["choices"] > (4 if method == "labor" else 32)


def test_certain_draws_are_no_choice(make_csr, make_graph) -> None:
    """Weights that leave nothing to chance: two epochs may well agree, and that is no fault."""
    n, degree = 200, 6
    target = np.repeat(np.arange(n), degree)
    graph = make_graph(*make_csr(n, (target + np.tile(np.arange(1, degree + 1), n)) % n, target))
    weights = 10.0 ** (-20.0 * (np.arange(n) % 7))
    first = FirstDraws(graph, "importance", (1,), weights)
    sampler = NeighborSampler(graph.indptr, graph.indices, [1], "importance", 0, weights=weights)
    assert resampled(graph, sampler, graph.train, first, weights) == {
        "choices": 0,
        "equal": {"epochs": True, "batches": True},
    }


@pytest.mark.parametrize("light", [0.3, 1e-2, 1e-3, 1e-4])
def test_bits_by_weight_are_no_more_than_there_are(make_csr, make_graph, light: float) -> None:
    """Rows of a heavy and a light neighbour, of which the light one comes with a probability of light / 2."""
    rows = 1000
    indptr, indices = make_csr(3 * rows, np.arange(rows, 3 * rows), np.repeat(np.arange(rows), 2))
    weights = np.where(np.arange(3 * rows) % 2, 1.0, light)
    graph = make_graph(indptr, indices, train=np.arange(rows))
    first = FirstDraws(graph, "importance", (1,), weights)
    sampler = NeighborSampler(indptr, indices, [1], "importance", 0, weights=weights)
    found = resampled(graph, sampler, graph.train, first, weights)
    rare = light / 2
    true = -64 * np.log2(rare**2 + (1 - rare) ** 2)  # 64 seeds
    assert found["choices"] <= true
    assert light < 0.1 or found["choices"] > true / 3


def test_nearly_certain_draws_are_never_taken_for_a_fault(make_csr, make_graph) -> None:
    """64 x 34 rows of two neighbours, one a thousand times as heavy: two samples often are equal."""
    seeds, middle = 64, 64 * 34
    n = seeds + 3 * middle
    target = np.concatenate([np.repeat(np.arange(seeds), 34), np.repeat(np.arange(seeds, seeds + middle), 2)])
    graph = make_graph(*make_csr(n, np.arange(seeds, n), target), train=np.arange(seeds))
    weights = np.ones(n)
    weights[seeds + middle :: 2] = 1000.0
    first = FirstDraws(graph, "importance", (40, 1), weights)
    equal = 0
    for seed in range(40):
        sampler = NeighborSampler(graph.indptr, graph.indices, [40, 1], "importance", seed, weights=weights)
        found = resampled(graph, sampler, graph.train, first, weights)
        equal += found["equal"]["epochs"]
        assert found["choices"] < 32
    assert equal > 0
