"""Importance sampling: how often a neighbour comes, and sums that stay unbiased."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from harness.batches import NeighborSampler
from harness.batches.batch import Block

WEIGHTS = [
    [1.0, 1.0, 1.0, 1.0],
    [1.0, 2.0, 4.0],
    [5.0, 1.0, 1.0, 1.0, 1.0],
    [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0],
    [0.3, 1000.0, 0.7, 30.0, 1.0, 1.0, 250.0, 3.0],
]


def copies_of_a_row(d: int, copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes d .. d + copies - 1 each receive from all of 0 .. d-1: as many independent samples in one batch."""
    indptr = np.concatenate([np.zeros(d, np.int64), np.arange(copies + 1) * d])
    return indptr, np.tile(np.arange(d, dtype=np.int32), copies)


def sampled(weights: list[float], k: int, copies: int, seed: int, **extra: bool) -> tuple[np.ndarray, Block]:
    """Which neighbours each copy drew, bool ``[copies, d]``, and the block."""
    d = len(weights)
    by_node = np.concatenate([weights, np.ones(copies)])
    sampler = NeighborSampler(*copies_of_a_row(d, copies), [k], "importance", seed, weights=by_node, **extra)
    batch = sampler.sample(np.arange(d, d + copies))
    source, target = batch.edges()
    drawn = np.zeros((copies, d), bool)
    drawn[target - d, source] = True
    return drawn, batch.blocks[0]


def exact_inclusion(weights: list[float], k: int) -> np.ndarray:
    """P(neighbour i is among the k smallest of independent keys, key j uniform in (0, 1/w_j)), by integration.

    Given key i = t, the others fall below t independently, j with probability min(1, w_j t): fewer than k of them
    must. Between the points 1/w_j that is a polynomial in t of degree below d, which Gauss-Legendre integrates exactly.
    """
    w = np.asarray(weights)
    at, share = np.polynomial.legendre.leggauss(len(w))
    inclusion = np.zeros(len(w))
    for i in range(len(w)):
        cuts = np.unique(np.concatenate([[0.0, 1 / w[i]], 1 / w[1 / w < 1 / w[i]]]))
        for low, high in pairwise(cuts):
            t = low + (high - low) * (at + 1) / 2
            below = np.zeros((k, len(t)))  # P(exactly c of the others looked at so far are below t)
            below[0] = 1.0
            for j in np.delete(w, i):
                p = np.minimum(1.0, j * t)
                below = below * (1 - p) + np.concatenate([np.zeros((1, len(t))), below[:-1]]) * p
            inclusion[i] += w[i] * (below.sum(0) * share).sum() * (high - low) / 2
    return inclusion


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_neighbours_come_as_often_as_the_scheme_says(weights: list[float], k: int) -> None:
    if k >= len(weights):
        return
    copies = 40_000
    drawn, _ = sampled(weights, k, copies, seed=len(weights) * 10 + k)
    assert (drawn.sum(1) == k).all()
    expected = exact_inclusion(weights, k)
    assert expected.sum() == pytest.approx(k)
    error = np.sqrt(np.maximum(expected * (1 - expected), 1 / copies) / copies)
    z = (drawn.mean(0) - expected) / error
    assert 2 * stats.norm.sf(np.abs(z)).min() * len(weights) > 0.001, (drawn.mean(0), expected)


def test_equal_weights_are_uniform_sampling() -> None:
    assert exact_inclusion([2.0] * 6, 4) == pytest.approx(4 / 6)
    drawn, _ = sampled([2.0] * 5, 2, 40_000, seed=8)
    pairs = drawn[:, :, None] & drawn[:, None, :]
    counts = pairs.sum(0)[np.triu_indices(5, 1)]
    assert stats.chisquare(counts).pvalue > 0.001


def test_the_scale_of_the_weights_changes_nothing() -> None:
    one, _ = sampled([1.0, 2.0, 5.0, 3.0], 2, 500, seed=1)
    other, _ = sampled([4.0, 8.0, 20.0, 12.0], 2, 500, seed=1)
    assert np.array_equal(one, other)


def test_a_hub_follows_its_weights() -> None:
    """Far from the ends inclusion is nearly proportional to weight: k w / sum w (Ohlsson 1990)."""
    weights = np.tile([1.0, 2.0, 4.0, 8.0], 10_000)
    indptr, indices = copies_of_a_row(len(weights), 1)
    by_node = np.append(weights, 1.0)
    sampler = NeighborSampler(indptr, indices, [500], "importance", 3, weights=by_node)
    found = [sampler.sample(np.array([40_000]), epoch=e).nodes[1:] for e in range(40)]
    counts = np.bincount(np.concatenate(found) % 4, minlength=4)
    assert stats.chisquare(counts, 40 * 500 * np.array([1, 2, 4, 8]) / 15).pvalue > 0.001


# Re-weighting


@pytest.mark.parametrize(("weights", "k"), [(w, k) for w in WEIGHTS for k in (1, 2, 4) if k < len(w)])
def test_every_neighbour_counts_once_on_average(weights: list[float], k: int) -> None:
    """E[r_i if i is drawn, else 0] = k / d for each neighbour: hence sums and means of any messages are unbiased."""
    d, copies = len(weights), 100_000
    drawn, block = sampled(weights, k, copies, seed=k, reweight=True)
    assert block.edge_weight is not None
    r = np.zeros((copies, d))
    r[drawn] = block.edge_weight.astype(np.float64)  # edges lie by target, then source
    z = (r.mean(0) - k / d) / np.maximum(r.std(0, ddof=1) / np.sqrt(copies), 1e-7)
    assert 2 * stats.norm.sf(np.abs(z)).min() * d > 0.001, r.mean(0) * d / k


def test_mean_and_sum_over_many_batches_are_unbiased() -> None:
    rng = np.random.default_rng(5)
    d, k = 60, 8
    weights = 10 ** rng.uniform(-2, 2, d)
    x = rng.standard_normal(d) * weights**0.5 + 1.0
    indptr, indices = copies_of_a_row(d, 400)
    sampler = NeighborSampler(
        indptr, indices, [k], "importance", 6, weights=np.concatenate([weights, np.ones(400)]), reweight=True
    )
    means, sums, plain = [], [], []
    for epoch in range(100):
        batch = sampler.sample(np.arange(d, d + 400), epoch)
        block = batch.blocks[0]
        message = x[batch.nodes[block.indices]].reshape(400, k)
        weighted = message * block.edge_weight.reshape(400, k)
        means.append(weighted.mean(1))
        sums.append(weighted.sum(1) * block.in_degree / np.diff(block.indptr))
        plain.append(message.mean(1))
    assert stats.ttest_1samp(np.concatenate(means), x.mean()).pvalue > 0.001
    assert stats.ttest_1samp(np.concatenate(sums), x.sum()).pvalue > 0.001
    assert stats.ttest_1samp(np.concatenate(plain), x.mean()).pvalue < 1e-6  # without the weights it is not


def test_the_weights_are_those_of_priority_sampling() -> None:
    """With keys u/w the threshold is the least key left out; a drawn neighbour's p is below 1 only where w T is."""
    weights = [1.0, 2.0, 3.0, 4.0, 12.0]
    drawn, block = sampled(weights, 2, 3000, seed=4, reweight=True)
    assert block.edge_weight is not None
    p = 2 / (5 * block.edge_weight.astype(np.float64).reshape(-1, 2))
    w = np.array(weights)[np.nonzero(drawn)[1]].reshape(-1, 2)
    assert (p <= 1 + 1e-6).all()
    both = (p < 1 - 1e-6).all(1)  # T is the same for both: p / w is
    assert both.sum() > 100
    assert (p / w)[both, 0] == pytest.approx((p / w)[both, 1], rel=1e-6)
    one = ~both & (p < 1 - 1e-6).any(1)
    assert one.sum() > 100
    assert (w[one].argmin(1) == p[one].argmin(1)).all()  # the lighter one may be the only one weighed up


def test_edges_weigh_one_where_all_are_taken() -> None:
    for k in (4, 7, -1):
        drawn, block = sampled([1.0, 5.0, 2.0, 100.0], k, 10, seed=0, reweight=True)
        assert drawn.all()
        assert block.edge_weight is not None
        assert (block.edge_weight == 1).all()


# Weights of zero


@pytest.mark.parametrize("k", [1, 3, 4, 6, 50, -1])
@pytest.mark.parametrize("reweight", [False, True])
def test_a_neighbour_of_weight_zero_is_never_drawn(k: int, reweight: bool) -> None:
    drawn, block = sampled([0.0, 1.0, 3.0, 0.0, 2.0, 9.0], k, 3000, seed=2, reweight=reweight)
    assert not drawn[:, [0, 3]].any()
    assert (drawn.sum(1) == (4 if k < 0 else min(k, 4))).all()
    assert (block.in_degree == 6).all()  # the graph's own
    if reweight and k == 3:  # the mean is that over the four that can come
        r = np.zeros(drawn.shape)
        r[drawn] = block.edge_weight
        assert r.mean(0)[[1, 2, 4, 5]] == pytest.approx(3 / 4, abs=0.03)


def test_a_node_whose_neighbours_all_weigh_zero_draws_none() -> None:
    sampler = NeighborSampler(*copies_of_a_row(3, 2), [-1, 2], "importance", weights=np.array([0, 0, 0, 1, 1]))
    batch = sampler.sample(np.array([3, 4]))
    assert batch.nodes.tolist() == [3, 4]
    assert batch.num_edges == 0


def test_weight_is_the_source_degree_unless_given(skewed) -> None:
    indptr, indices = skewed
    seeds = np.arange(300)
    degree = np.bincount(indices, minlength=2000)
    by_default = NeighborSampler(indptr, indices, [5, 5], "importance").sample(seeds)
    given = NeighborSampler(indptr, indices, [5, 5], "importance", weights=degree).sample(seeds)
    assert np.array_equal(by_default.edges(), given.edges())
    uniform = NeighborSampler(indptr, indices, [5, 5]).sample(seeds)
    assert degree[by_default.edges()[0]].mean() > 1.2 * degree[uniform.edges()[0]].mean()


def test_bad_weights_are_named(skewed) -> None:
    weights = np.ones(2000)
    weights[[17, 40]] = -2.0
    with pytest.raises(ValueError, match=r"node 17 has -2\.0"):
        NeighborSampler(*skewed, [5], "importance", weights=weights)
    with pytest.raises(ValueError, match="one number a node"):
        NeighborSampler(*skewed, [5], "importance", weights=weights[:-1])
