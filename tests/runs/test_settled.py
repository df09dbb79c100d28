"""When epochs count as settled: on planted series, and how often it errs, counted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from harness.runs.settled import WINDOWS, enough, settled

DRAWS = 1000
SHAPES: dict[str, Callable[[int], float]] = {
    "flat": lambda epoch: 1.0,
    "falling": lambda epoch: 1.0 + 0.5 * 0.4**epoch,  # 1.5, 1.2, 1.08, 1.03, 1.01, …
    "step": lambda epoch: 1.3 if epoch < 2 else 1.0,
    "trend": lambda epoch: 1.1**epoch,
}


@pytest.mark.parametrize(
    ("epoch_s", "found"),
    [
        ([1.00, 1.05], True),
        ([1.05, 1.00], True),
        ([1.00, 1.06], False),
        ([1.06, 1.00], False),  # one that gets faster is still warming up
        ([1.0, 9.0, 1.0], True),  # a middle epoch is in neither half
        ([1.0, 1.0, 1.0, 1.3, 1.0, 1.0], True),  # one disturbed epoch moves no median
        ([1.3, 1.3, 1.3, 1.0, 1.0, 1.0], False),
        ([1.00, 1.02, 1.04, 1.06, 1.08], False),
        ([0.0, 0.0], True),
        ([1.0], True),
    ],
)
def test_the_halves_medians_decide(epoch_s, found):
    assert settled(epoch_s) is found


def test_epochs_end_with_the_first_window_that_settled_or_at_the_cap():
    assert not enough([1.0], 2)
    assert enough([1.0, 1.0], 2)
    assert not enough([2.0, 1.0], 2)
    assert enough([2.0, 1.0, 1.0], 2)
    rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert [enough(rising[:n], 2) for n in range(7)] == [False] * 6 + [True]
    assert WINDOWS * 2 == 6


def test_the_rule_knows_no_unit():
    series = [1.4, 1.2, 1.06, 1.0]
    for scale in (1e-3, 1.0, 1e4):
        assert [settled([s * scale for s in series[:n]]) for n in range(1, 5)] == [True, False, False, False]


def counted(shape: str, sd: float, window: int) -> tuple[float, float, float]:
    """Share that settled, mean epochs beyond the first window, and how far the median kept lies off the end's truth."""
    rng = np.random.default_rng(0)
    truth = np.array([SHAPES[shape](epoch) for epoch in range(WINDOWS * window)])
    good, extra, off = 0, 0, 0.0
    for noise in rng.standard_normal((DRAWS, len(truth))):
        series = (truth * np.exp(sd * noise)).tolist()
        end = next(n for n in range(window, len(series) + 1) if enough(series[:n], window))
        good += settled(series[end - window : end])
        extra += end - window
        off += float(np.median(truth[end - window : end]) / truth[-1] - 1.0)
    return good / DRAWS, extra / DRAWS, off / DRAWS


@pytest.mark.parametrize("window", [2, 3, 5])
def test_a_steady_process_is_rarely_kept_waiting(window):
    """At 1 % noise never; at 3 % it takes a fifth more epochs at most; at 10 % it doubles the work at most."""
    assert counted("flat", 0.01, window)[:2] == pytest.approx((1.0, 0.0), abs=0.002)
    good, extra, _ = counted("flat", 0.03, window)
    assert good >= 0.995
    assert extra <= 0.2 * window
    good, extra, _ = counted("flat", 0.10, window)
    assert good >= 0.75
    assert extra <= 1.05 * window


@pytest.mark.parametrize(("window", "left"), [(2, 0.05), (3, 0.025), (5, 0.01)])
@pytest.mark.parametrize("sd", [0.01, 0.03])
def test_a_falling_warm_up_is_left_out(window, left, sd):
    """The first window lies 20, 20 and 8 % above the steady epochs; what is kept by at most this much."""
    good, extra, off = counted("falling", sd, window)
    assert good >= 0.95
    assert extra >= 1.5
    assert off <= left


@pytest.mark.parametrize("window", [3, 5])
def test_slow_first_epochs_are_left_out(window):
    for sd in (0.01, 0.03):
        good, extra, off = counted("step", sd, window)
        assert good >= 0.99
        assert 2.0 <= extra <= 2.5
        assert off < 0.002


def test_two_epochs_cannot_show_a_step_after_them():
    """What a spec with `timing.epochs: 2` must know: two slow epochs look like two steady ones."""
    assert counted("step", 0.01, 2)[1:] == pytest.approx((0.0, 0.3), abs=0.01)


@pytest.mark.parametrize("window", [3, 5])
def test_a_process_that_never_settles_says_so(window):
    """10 % more each epoch: all are run to the cap, and under 1 % pass for settled."""
    good, extra, _ = counted("trend", 0.03, window)
    assert good <= 0.01
    assert extra >= (WINDOWS - 1) * window - 0.1
