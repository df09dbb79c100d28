"""Numbers in reasons."""

from __future__ import annotations

import pytest

from harness.verdicts.wording import interval_text, places_apart, ratio_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.3149, "1.31"), (0.03, "0.03"), (0.004, "0.004"), (0.00004, "<0.0001"), (0.0, "0.00"), (50.577, "50.58")],
)
def test_a_ratio_above_zero_never_prints_as_zero(value: float, text: str) -> None:
    assert ratio_text(value) == text


def test_the_bounds_of_a_wide_interval_keep_what_tells_them_from_zero() -> None:
    assert interval_text(0.0031, 50.577) == "[0.003, 50.58]"


@pytest.mark.parametrize(
    ("bounds", "limit", "places"),
    [
        ((0.9, 1.2), 1.0, 2),
        ((1.0, 1.2), 1.0, 2),
        ((1.004, 1.363), 1.0, 3),
        ((-0.49972, 0.2), -0.5, 4),
        ((1.0 + 1e-9,), 1.0, 4),
    ],
)
def test_a_bound_that_is_off_a_limit_does_not_print_as_it(bounds: tuple[float, ...], limit: float, places: int) -> None:
    assert places_apart(bounds, limit) == places
