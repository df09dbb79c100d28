"""Intervals against scipy's own and against the tests that they invert."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.verdicts.claims.intervals import exact, mean_interval, ratio_interval, sd_ratio, welch_ratio

D = [0.1, -0.2, 0.0, -0.3, 0.2]


def test_mean() -> None:
    found = mean_interval(D)
    assert (found.value, found.lower, found.upper) == pytest.approx((-0.04, -0.29748, 0.21748), abs=1e-5)
    assert (found.level, found.n) == (0.95, 5)


def test_equal_values_are_a_point_unless_their_resolution_is_finite() -> None:
    assert mean_interval([2.0, 2.0, 2.0]).lower == 2.0
    floored = mean_interval([0.0] * 5, 0.95, least_sd=0.5)
    assert floored.upper == pytest.approx(2.776445 * 0.5 / math.sqrt(5), abs=1e-6)


def test_one_value_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two values"):
        mean_interval([1.0])
    with pytest.raises(ValueError, match="finite"):
        mean_interval([1.0, math.nan])


def test_ratio_is_the_mean_of_logs() -> None:
    found = ratio_interval([math.log(2.0), math.log(8.0)])
    assert found.value == pytest.approx(4.0)
    assert found.lower == pytest.approx(4.0 * math.exp(-12.7062 * math.log(2.0)), rel=1e-4)


def test_a_variant_against_another_is_welch() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(0.3, 0.02, 8), rng.normal(0.1, 0.1, 4)
    found = welch_ratio(list(ours), list(theirs), 0.98)
    interval = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.98)
    assert (math.log(found.lower), math.log(found.upper)) == pytest.approx(tuple(interval))
    assert found.n == 12


def test_exact_bytes_of_two_variants_give_a_point() -> None:
    found = welch_ratio([math.log(4.0)] * 4, [math.log(2.0)] * 4)
    assert (found.lower, found.value, found.upper) == pytest.approx((2.0, 2.0, 2.0))


def test_at_its_limits_the_sd_ratio_is_just_rejected_by_pitman_and_morgan() -> None:
    """Var(a) = c² Var(b) exactly where a + cb and a − cb are uncorrelated."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=10)
    reference, variant = shared + rng.normal(size=10), 0.5 * (shared + rng.normal(size=10))
    found = sd_ratio(list(reference), list(variant))
    for limit, sign in ((found.lower, 1), (found.upper, -1)):
        r = np.corrcoef(reference + limit * variant, reference - limit * variant)[0, 1]
        assert r * math.sqrt(8 / (1 - r * r)) == pytest.approx(sign * stats.t.ppf(0.975, 8))
    assert found.value == pytest.approx(np.std(reference) / np.std(variant))


def test_the_sd_ratio_covers_the_truth_where_pairs_are_alike() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(1500):
        shared = rng.normal(size=10)
        found = sd_ratio(list(2.0 * (shared + rng.normal(size=10))), list(shared + rng.normal(size=10)))
        hits += found.lower <= 2.0 <= found.upper
    assert 0.935 <= hits / 1500 <= 0.965


def test_an_arm_without_spread_has_no_sd_ratio() -> None:
    with pytest.raises(ValueError, match="does not vary"):
        sd_ratio([0.7, 0.7, 0.7], [0.6, 0.7, 0.8])
    with pytest.raises(ValueError, match="three pairs"):
        sd_ratio([0.7, 0.6], [0.6, 0.7])


def test_exact() -> None:
    assert exact(1.5).upper == 1.5
    assert exact(1.5).level == 1.0
