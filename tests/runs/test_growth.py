"""Memory that grows from epoch to epoch is told from noise, and from a heap that finds its size."""

from __future__ import annotations

import numpy as np
import pytest

from harness.runs.growth import grows, growth

MIB = 2**20
PEAK = 200 * MIB


def test_a_leak_is_seen_and_measured_through_noise_and_an_outlier() -> None:
    rng = np.random.default_rng(0)
    held = [500 * MIB + 3 * MIB * epoch + int(rng.normal(0, 0.3 * MIB)) for epoch in range(30)]
    held[17] += 400 * MIB
    assert growth(held) == pytest.approx(3 * MIB, rel=0.05)
    assert grows(held, PEAK)


@pytest.mark.parametrize(
    "held",
    [
        [500 * MIB] * 30,
        [500 * MIB + (epoch % 2) * 50 * MIB for epoch in range(30)],
        [500 * MIB + int(100 * MIB * (1 - 0.5**epoch)) for epoch in range(30)],  # settles
        [500 * MIB + 100 * MIB * (epoch > 15) for epoch in range(30)],  # one step
        [500 * MIB - 5 * MIB * epoch for epoch in range(30)],
        [500 * MIB + epoch * MIB // 2 for epoch in range(30)],  # below what counts
    ],
)
def test_what_is_no_leak(held: list[int]) -> None:
    assert not grows(held, PEAK)


def test_small_growth_beside_a_large_peak_is_noise() -> None:
    held = [3 * MIB * epoch for epoch in range(30)]
    assert grows(held, PEAK)
    assert not grows(held, 400 * MIB)


def test_too_few_epochs_say_nothing() -> None:
    held = [10 * MIB * epoch for epoch in range(9)]
    assert growth(held) is None
    assert not grows(held, PEAK)
    assert growth([*held, 90 * MIB]) == 10 * MIB


def test_a_long_training_costs_no_more_than_its_points() -> None:
    assert growth(range(0, 10**6 * MIB, MIB)) == pytest.approx(MIB)
