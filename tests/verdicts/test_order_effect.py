"""The order of a block's processes: golden vectors, what a drift does, and how often it is seen where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from harness.verdicts.model import Control
from harness.verdicts.order_effect import judge_order, order_of, order_warnings
from tests.verdicts.results import timing_of


def test_a_golden_vector() -> None:
    """Differences .02, .04, .03 have mean .03 and sd .01; t(.995, 2) = 9.9248; .01/√3 × 9.9248 = .057301."""
    found = judge_order([(0.12, 0.10), (0.14, 0.10), (0.10, 0.07)], [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)])
    assert found.ratio == pytest.approx(math.exp(0.03))
    assert found.ci[0] == pytest.approx(math.exp(0.03 - 0.0573008), abs=1e-6)
    assert found.ci[1] == pytest.approx(math.exp(0.03 + 0.0573008), abs=1e-6)
    assert (found.drift, found.drift_ci) == (1.0, (1.0, 1.0))
    assert not found.matters


def test_it_is_the_paired_t_interval() -> None:
    first, second = [0.11, 0.15, 0.09, 0.13, 0.12], [0.10, 0.10, 0.10, 0.11, 0.08]
    found = judge_order(list(zip(first, second, strict=True)), [(1.0, 1.1)] * 5)
    expected = stats.ttest_rel(first, second).confidence_interval(0.99)
    assert (math.log(found.ci[0]), math.log(found.ci[1])) == pytest.approx(tuple(expected))
    assert found.drift == pytest.approx(1.1)


def test_a_steady_drift_is_seen_and_cancels() -> None:
    """δ a position: −2δ between the halves, 3δ between the references, and the mean of the halves is the truth."""
    delta, truth = 0.02, math.log(1.3)
    a, b, c, d = (position * delta for position in range(4))
    halves = (truth + a - b, truth + d - c)
    found = judge_order([halves] * 3, [(math.exp(a), math.exp(d))] * 3)
    assert found.ratio == pytest.approx(math.exp(-2 * delta))
    assert found.drift == pytest.approx(math.exp(3 * delta))
    assert found.matters
    assert sum(halves) / 2 == pytest.approx(truth)


def test_no_drift_is_seen_in_one_of_a_hundred_and_one_as_large_as_the_noise_in_most() -> None:
    """Six blocks, 4,000 draws, epochs that scatter by 2 %; either interval counts as seen."""

    def seen(delta: float) -> float:
        noise = 0.02 * np.random.default_rng(0).standard_normal((4000, 6, 4)) + delta * np.arange(4)
        count = 0
        for blocks in noise:
            halves = [(a - b, d - c) for a, b, c, d in blocks]
            count += judge_order(halves, [(math.exp(a), math.exp(d)) for a, _, _, d in blocks]).matters
        return count / 4000

    assert 0.012 <= seen(0.0) <= 0.022  # two tests at 1 %, which share the references
    assert seen(0.02) >= 0.80


def test_blocks_of_a_timing_are_read_by_position() -> None:
    """The reference takes 1 s in all of them; first ratios 1.1, second 1.0."""
    timing = timing_of("v", [1.1, 1.0] * 4)
    found = order_of(timing.blocks)
    assert found is not None
    assert found.ratio == pytest.approx(1.1)
    assert found.drift == 1.0
    assert found.matters


def test_a_block_that_was_not_finished_does_not_count_and_three_are_not_enough() -> None:
    timing = timing_of("v", [1.1, 1.0] * 4)
    broken = timing.blocks[3].model_copy(update={"processes": timing.blocks[3].processes[:2]})
    assert order_of([*timing.blocks[:3], broken]) is None
    assert order_of([]) is None
    with pytest.raises(ValueError, match="two blocks or more; got 1 and 1"):
        judge_order([(0.0, 0.0)], [(1.0, 1.0)])


def test_four_timings_that_broke_off_after_a_block_are_looked_at_together() -> None:
    """Neither has an effect of its own; over both, the last reference is always slower by the same."""
    (block,) = timing_of("v", [1.0, 1.0]).blocks
    processes = [p.model_copy(update={"epoch_s": [1.0 + i]}) for i, p in enumerate(block.processes)]
    drifting = block.model_copy(update={"processes": processes})
    timings = [timing_of(name, [1.0, 1.0]).model_copy(update={"blocks": [drifting]}) for name in "vwxy"]
    assert order_warnings([], Control(state="missing", reason=""), timings[:3]) == []
    (found,) = order_warnings([], Control(state="missing", reason=""), timings)
    assert found.startswith("over all timings the order of a block's processes matters")
