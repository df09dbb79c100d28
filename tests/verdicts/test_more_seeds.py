"""How many more seeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.verdicts.more_seeds import more_seeds, more_seeds_for
from harness.verdicts.non_inferiority import non_inferiority


@pytest.mark.parametrize(
    ("n", "mean", "sd", "alpha", "more"),
    [
        (5, 0.0, 0.5, 0.05, 3),
        (5, -0.1, 0.5, 0.05, 7),
        (5, -0.4, 0.5, 0.05, 151),
        (5, -0.49, 0.5, 0.05, None),
        (5, -0.8, 0.5, 0.05, 14),  # seeds to fail
        (10, -0.2, 0.5, 0.0206, 16),
    ],
)
def test_vectors(n: int, mean: float, sd: float, alpha: float, more: int | None) -> None:
    assert more_seeds(n, mean, sd, alpha) == more


def test_a_lucky_mean_above_zero_counts_as_zero() -> None:
    assert more_seeds(5, 3.0, 0.5, 0.05) == more_seeds(5, 0.0, 0.5, 0.05)


def test_on_the_line_no_number_of_seeds_helps() -> None:
    assert more_seeds(5, -0.5, 0.5, 0.05) is None
    assert more_seeds(5, 0.2, 0.5, 0.05, max_drop_pp=0.0) is None


def test_only_an_inconclusive_test_asks_for_more() -> None:
    assert more_seeds_for(non_inferiority([0.0, 0.1, -0.1])) is None
    assert more_seeds_for(non_inferiority([0.0, 1.0, -1.0])) is not None
    assert more_seeds_for(non_inferiority([0.0])) is None


@given(st.floats(-2.0, 1.0), st.floats(1e-6, 5.0), st.sampled_from([1e-4, 0.0157, 0.05]), st.integers(3, 20))
@settings(max_examples=80)
def test_more_spread_never_needs_fewer(mean: float, sd: float, alpha: float, n: int) -> None:
    quiet, noisy = more_seeds(n, mean, sd, alpha), more_seeds(n, mean, 2.0 * sd, alpha)
    assert quiet is None or quiet >= 1
    if quiet is None:
        assert noisy is None
    else:
        assert noisy is None or noisy >= quiet
