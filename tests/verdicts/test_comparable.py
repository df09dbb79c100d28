"""What may be compared."""

from __future__ import annotations

import pytest

from harness.verdicts.comparable import arms_difference, quality_difference, timing_difference
from tests.verdicts.results import ENVIRONMENT, quality_of, timing_of

OLD, NEW = ENVIRONMENT | {"engine": "1"}, ENVIRONMENT | {"engine": "2"}


def test_results_of_another_engine_are_not_compared() -> None:
    quality, timing = quality_of("v", environment=NEW), timing_of("v", environment=NEW)
    found = quality_difference(quality, quality_of("baseline", environment=OLD))
    assert found == "not comparable: engine of `v` is 2, of `baseline` 1"
    assert timing_difference(timing, timing_of("control", environment=OLD)) is not None
    assert arms_difference(timing, quality_of("v", environment=OLD)) is not None


@pytest.mark.parametrize("other", [NEW, ENVIRONMENT])
def test_the_same_engine_or_none_recorded_is_no_difference(other: dict[str, str]) -> None:
    assert quality_difference(quality_of("v", environment=NEW), quality_of("baseline", environment=other)) is None
    assert timing_difference(timing_of("v", environment=NEW), timing_of("control", environment=other)) is None


def test_timings_of_another_way_of_timing_are_not_compared() -> None:
    """One that was written before the way had a version has the first."""
    timing, control = timing_of("v", timing_version=2), timing_of("control")
    found = timing_difference(timing, control)
    assert found == "not comparable: timing version of `v` is 2, of the control 1"
    assert timing_difference(timing, timing_of("control", timing_version=2)) is None
