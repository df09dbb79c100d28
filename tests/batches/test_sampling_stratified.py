"""Degree-stratified sampling, and how many neighbours any method is due."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from harness.batches import NeighborSampler
from harness.batches.observed.due import neighbours_due
from harness.batches.sampling.draws_count import count_draws


@given(degree=st.integers(0, 2**31 - 1), fanout=st.integers(1, 10**6))
def test_the_cap_follows_the_degree(degree: int, fanout: int) -> None:
    due = int(neighbours_due("degree-stratified", np.array([degree]), fanout)[0])
    if degree <= fanout:
        assert due == degree
    else:
        assert due == fanout * (degree // fanout).bit_length()
        assert fanout <= due <= degree
    counted = count_draws(np.array([0, degree]), np.array([0]), fanout, True)
    assert counted.tolist() == [0, due]


def test_the_cap_is_the_formula_at_every_degree_and_rises_with_it() -> None:
    for fanout in (1, 2, 3, 7, 10, 25):
        degree = np.arange(5000)
        due = neighbours_due("degree-stratified", degree, fanout)
        assert due.dtype == np.int64
        by_hand = [d if d <= fanout else fanout * (1 + math.floor(math.log2(d // fanout))) for d in range(5000)]
        assert due.tolist() == by_hand
        assert (np.diff(due) >= 0).all()
        assert (due <= degree).all()


@pytest.mark.parametrize("method", ["uniform", "fixed", "importance", "labor", "degree-stratified"])
def test_minus_one_is_all(method: str) -> None:
    degree = np.array([0, 3, 10**9])
    assert neighbours_due(method, degree, -1).tolist() == degree.tolist()
    if method != "degree-stratified":
        assert neighbours_due(method, degree, 5).tolist() == [0, 3, 5]


@pytest.mark.parametrize(("degree", "fanout", "drawn"), [(20, 5, 15), (9, 4, 8), (40_000, 10, 120), (7, 5, 5)])
def test_every_neighbour_is_equally_likely(degree: int, fanout: int, drawn: int) -> None:
    indptr = np.full(degree + 2, degree, np.int64)
    indptr[0] = 0
    sampler = NeighborSampler(indptr, np.arange(1, degree + 1), [fanout], "degree-stratified", seed=3)
    draws = 4000
    found = np.concatenate([sampler.sample(np.array([0]), epoch=e).nodes[1:] for e in range(draws)]) - 1
    assert len(found) == draws * drawn
    bins = min(degree, 200)
    counts = np.bincount(found * bins // degree, minlength=bins)
    expected = draws * drawn / bins
    statistic = ((counts - expected) ** 2 / expected).sum()
    if bins == degree:  # without replacement
        statistic *= (degree - 1) / (degree - drawn)
    assert stats.chi2.sf(statistic, bins - 1) > 0.001


def test_differs_from_uniform_only_where_a_hub_is_due_more(skewed) -> None:
    indptr, indices = skewed
    seeds = np.arange(2000)
    uniform, stratified = (
        NeighborSampler(indptr, indices, [6], method).sample(seeds).blocks[0]
        for method in ("uniform", "degree-stratified")
    )
    degree = np.diff(indptr)
    more = np.diff(stratified.indptr) - np.diff(uniform.indptr)
    assert (more[degree < 12] == 0).all()
    assert (more[degree >= 12] > 0).all()
