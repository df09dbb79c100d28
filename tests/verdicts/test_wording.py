"""Numbers in reasons."""

from __future__ import annotations

import pytest

from harness.verdicts.wording import interval_text, ratio_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.3149, "1.31"), (0.03, "0.03"), (0.004, "0.004"), (0.00004, "<0.0001"), (0.0, "0.00"), (50.577, "50.58")],
)
def test_a_ratio_above_zero_never_prints_as_zero(value: float, text: str) -> None:
    assert ratio_text(value) == text


def test_the_bounds_of_a_wide_interval_keep_what_tells_them_from_zero() -> None:
    assert interval_text(0.0031, 50.577) == "[0.003, 50.58]"
