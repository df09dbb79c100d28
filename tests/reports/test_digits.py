"""Digits follow the interval, and never contradict a verdict."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reports.digits import bytes_text, decimals, fixed, seconds_text, shortened, shortened_apart, with_interval


@pytest.mark.parametrize(
    ("half", "places"),
    [(0.0123, 3), (0.0354, 3), (0.0355, 2), (0.0949, 2), (0.096, 2), (0.25, 2), (0.4, 1), (1.2, 1), (4.0, 0), (40, 0)],
)
def test_half_width_decides_the_decimals_as_the_particle_data_group_rounds(half: float, places: int) -> None:
    assert decimals(-half, half) == places


def test_a_bound_off_the_limit_never_prints_as_the_limit() -> None:
    assert with_interval(-0.2, (-0.4996, 0.0996), -0.5, signed=True) == "−0.2000 [−0.4996, +0.0996]"
    assert with_interval(-0.2, (-0.5, 0.1), -0.5, signed=True) == "−0.20 [−0.50, +0.10]"


@given(st.floats(-5, 5), st.floats(1e-3, 10), st.floats(-5, 5).map(lambda x: round(x, 1)))
def test_printed_bounds_lie_on_the_side_of_the_limit_that_the_numbers_do(
    middle: float, half: float, limit: float
) -> None:
    lower, upper = middle - half, middle + half
    places = decimals(lower, upper, limit)
    for bound in (lower, upper):
        if abs(bound - limit) > 1e-4:  # four decimals are the end
            assert (round(bound, places) > round(limit, places)) == (bound > limit)


def test_nothing_measured_is_a_dash_and_zero_has_no_sign() -> None:
    assert with_interval(None, None) == "–"
    assert fixed(math.nan, 2) == "–"
    assert fixed(-0.0001, 2, signed=True) == "0.00"
    assert fixed(-0.31, 2) == "−0.31"
    assert with_interval(1.2, None) == "1.20"
    assert with_interval(1.2, (0.0, math.inf)) == "1.20 [0.00, –]"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_960, "1.0 MB"), (312_400_000, "312 MB"), (2.5e9, "2.5 GB")],
)
def test_bytes_in_decimal_units(count: float, text: str) -> None:
    assert bytes_text(count) == text


def test_durations_in_the_unit_a_person_would_say() -> None:
    assert [seconds_text(s) for s in (0.1, 1.5, 90, 300, 7200, None)] == [
        "100 ms",
        "1.5 s",
        "90 s",
        "5 min",
        "2.0 h",
        "–",
    ]


@given(st.text(max_size=100), st.integers(1, 40))
def test_cut_names_fit(text: str, width: int) -> None:
    assert len(shortened(text, width)) <= width


@given(st.lists(st.text("ab-.", min_size=1, max_size=80), unique=True, max_size=60), st.integers(12, 30))
def test_names_cut_alike_are_told_apart(names: list[str], width: int) -> None:
    cut = shortened_apart(names, width)
    assert len(set(cut)) == len(names)
    assert all(len(text) <= width for text in cut)
