"""LABOR: each node's sample is uniform, and the nodes of a hop choose alike."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from harness.batches import NeighborSampler
from harness.graphs.csr import build_csr

Csr = tuple[np.ndarray, np.ndarray]


def star(degree: int) -> Csr:
    indptr = np.full(degree + 2, degree, np.int64)
    indptr[0] = 0
    return indptr, np.arange(1, degree + 1, dtype=np.int32)


@pytest.mark.parametrize(("degree", "fanout", "draws"), [(3, 1, 9000), (4, 2, 9000), (20, 5, 9000), (40_000, 25, 2000)])
def test_every_neighbour_is_equally_likely(degree: int, fanout: int, draws: int) -> None:
    sampler = NeighborSampler(*star(degree), [fanout], "labor", seed=3)
    found = np.concatenate([sampler.sample(np.array([0]), epoch=e).nodes[1:] for e in range(draws)]) - 1
    bins = min(degree, 200)
    counts = np.bincount(found * bins // degree, minlength=bins)
    expected = draws * fanout / bins
    statistic = ((counts - expected) ** 2 / expected).sum()
    if bins == degree:  # without replacement
        statistic *= (degree - 1) / (degree - fanout)
    assert stats.chi2.sf(statistic, bins - 1) > 0.001


def test_every_pair_is_equally_likely() -> None:
    sampler = NeighborSampler(*star(5), [2], "labor", seed=1)
    found = Counter(tuple(sampler.sample(np.array([0]), epoch=e).nodes[1:]) for e in range(8000))
    assert stats.chisquare([found[p] for p in combinations(range(1, 6), 2)]).pvalue > 0.001


def test_nodes_with_the_same_neighbours_draw_the_same_ones() -> None:
    indptr, indices = np.concatenate([np.zeros(30, np.int64), np.arange(9) * 30]), np.tile(np.arange(30), 8)
    source, _ = NeighborSampler(indptr, indices, [4], "labor").sample(np.arange(30, 38)).edges()
    assert (source.reshape(8, 4) == source[:4]).all()
    source, _ = NeighborSampler(indptr, indices, [4], "uniform").sample(np.arange(30, 38)).edges()
    assert not (source.reshape(8, 4) == source[:4]).all()


def test_finds_fewer_distinct_nodes_than_uniform_in_every_batch() -> None:
    """On a power-law graph without repeated edges."""
    rng = np.random.default_rng(7)
    weight = rng.pareto(1.5, 2000) + 1.0
    source, target = np.unique(rng.choice(2000, (60_000, 2), p=weight / weight.sum()), axis=0).T
    csr = build_csr(source, target, 2000)
    uniform, labor = (NeighborSampler(csr.indptr, csr.indices, [8, 5], m, seed=1) for m in ("uniform", "labor"))
    for epoch in range(5):
        for b, seeds in enumerate(rng.permutation(2000).reshape(10, 200)):
            plain, shared = uniform.sample(seeds, epoch, b), labor.sample(seeds, epoch, b)
            assert plain.blocks[-1].num_edges == shared.blocks[-1].num_edges
            assert shared.blocks[-1].num_src < plain.blocks[-1].num_src
            assert len(shared.nodes) < len(plain.nodes)


@pytest.mark.data
def test_finds_fewer_distinct_nodes_on_a_real_graph(real_data: Path) -> None:
    file = real_data / "files" / "debian12_deps.npz"
    if not file.exists():
        pytest.skip(f"no {file}")
    with np.load(file) as arrays:
        target = np.repeat(np.arange(len(arrays["indptr"]) - 1), np.diff(arrays["indptr"]))
        csr = build_csr(arrays["indices"], target, len(arrays["indptr"]) - 1, undirected=True)
    found = {}
    for method in ("uniform", "labor"):
        sampler = NeighborSampler(csr.indptr, csr.indices, [10, 5], method, seed=0)
        order = np.random.default_rng(1).permutation(csr.num_nodes)[:8192].reshape(8, 1024)
        found[method] = sum(len(sampler.sample(seeds, 0, b).nodes) for b, seeds in enumerate(order))
    assert found["labor"] < 0.95 * found["uniform"]


def test_the_mean_over_a_sample_is_unbiased_and_varies_as_with_uniform() -> None:
    """Of one node, over epochs: the variance is (1 - k/d) S^2 / k for both, and their ratio passes an F-test."""
    d, k, epochs = 30, 6, 4000
    x = np.random.default_rng(0).standard_normal(d + 1)
    means = {}
    for method in ("uniform", "labor"):
        sampler = NeighborSampler(*star(d), [k], method, seed=7)
        means[method] = np.array([x[sampler.sample(np.array([0]), e).nodes[1:]].mean() for e in range(epochs)])
        assert stats.ttest_1samp(means[method], x[1:].mean()).pvalue > 0.001
        assert means[method].var(ddof=1) == pytest.approx((1 - k / d) * x[1:].var(ddof=1) / k, rel=0.1)
    ratio = means["labor"].var(ddof=1) / means["uniform"].var(ddof=1)
    f = stats.f(epochs - 1, epochs - 1)
    assert 2 * min(f.cdf(ratio), f.sf(ratio)) > 0.001


def test_hops_choose_apart() -> None:
    """A ring of nodes that receive from all: were keys shared by hops, hop 2 would find nothing that is new."""
    n = 40
    indptr, indices = np.arange(0, n * n + 1, n), np.tile(np.arange(n), n)
    batch = NeighborSampler(indptr, indices, [5, 5], "labor").sample(np.array([0]))
    first = set(batch.nodes[1 : batch.blocks[-1].num_src].tolist())
    second = set(batch.edges()[0][batch.blocks[-1].num_edges :].tolist())
    assert not second <= first | {0}


def test_both_places_of_a_repeated_neighbour_or_the_first() -> None:
    indptr, indices = np.array([0, 6, 6, 6, 6]), np.array([1, 1, 2, 2, 3, 3])
    sampler = NeighborSampler(indptr, indices, [2], "labor")
    pairs = Counter(tuple(sampler.sample(np.array([0]), e).edges()[0].tolist()) for e in range(3000))
    assert set(pairs) == {(1, 1), (2, 2), (3, 3)}
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001
    sampler = NeighborSampler(indptr, indices, [3], "labor")
    assert all(len(sampler.sample(np.array([0]), e).edges()[0]) == 3 for e in range(50))
