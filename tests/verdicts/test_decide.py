"""The stop rules that jobs are handed."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.spec.schema import Gate, Timing
from harness.verdicts.accuracy import Judgement, judge_pairs
from harness.verdicts.decide import accuracy_decided, speed_decided
from tests.verdicts.results import FAILING, FAST, PASSING, SAME, UNDECIDED

LOOKS = (5, 10, 20)


def decided(d_pp: list[float], **kwargs: object) -> bool:
    equal, nodes = bool(kwargs.get("equal", False)), kwargs.get("nodes")
    variant = [0.7 + d / 100 for d in d_pp]
    return accuracy_decided(Gate(), LOOKS)([0.7] * len(d_pp), variant, equal, nodes)  # type: ignore[arg-type]


def test_pass_and_fail_stop_and_the_undecided_goes_on() -> None:
    assert decided(PASSING)
    assert decided(FAILING)
    assert not decided(UNDECIDED)
    assert not decided(PASSING[:4])


def test_the_last_look_stops_whatever_it_says() -> None:
    assert decided(UNDECIDED * 4)


def test_failures_stop() -> None:
    decide = accuracy_decided(Gate(), LOOKS)
    assert decide([0.7] * 5, [0.7, None, 0.7, 0.7, 0.7], False, 1000)  # a dnf
    assert decide([None] * 5, [0.7] * 5, False, 1000)  # enables
    assert decide([None] * 5, [None] * 5, False, 1000)
    assert not decide([0.7, None, 0.7, 0.7, 0.7], [0.7] * 5, False, 1000)  # four pairs: not yet a look


def test_nan_is_a_failure() -> None:
    assert accuracy_decided(Gate(), LOOKS)([0.7] * 3, [0.7, math.nan, 0.7], False, None)


def test_identical_predictions_stop_where_they_are_evidence() -> None:
    assert decided([0.0] * 5, equal=True, nodes=1000)
    assert not decided([0.0] * 5, equal=True, nodes=20)
    assert accuracy_decided(Gate(), LOOKS)([0.7] * 5, [0.7] * 5, True, 20, True)  # exact, by its parity check
    assert not accuracy_decided(Gate(), LOOKS)([0.7] * 5, [0.7] * 5, False, 20, True)


def test_equal_classes_do_not_settle_a_metric_of_scores() -> None:
    gate, reference = Gate(metric="roc_auc"), [0.90] * 5
    # Scores that rank worse while the argmax stays: neither a pass nor, with this spread, a decision.
    spread = [0.895, 0.905, 0.885, 0.91, 0.90]
    assert not accuracy_decided(gate, LOOKS)(reference, spread, True, 1000)
    assert accuracy_decided(gate, LOOKS)(reference, reference, True, 1000)


ARM = st.lists(st.none() | st.floats(-3.0, 2.0).map(lambda x: round(x, 2)), min_size=12, max_size=24)
MANY_LOOKS = st.lists(st.integers(3, 14), min_size=1, max_size=5, unique=True).map(lambda looks: tuple(sorted(looks)))


@given(ARM, ARM.map(lambda d: [None if x is None else 0.0 for x in d]), MANY_LOOKS, st.sampled_from([None, 40, 5000]))
@settings(max_examples=150, deadline=None)
def test_the_job_stops_where_the_verdict_says_for_any_looks(
    d: list[float | None], failures: list[float | None], looks: tuple[int, ...], nodes: int | None
) -> None:
    """A job that asks after each look what it has so far ends with what the replay of all seeds gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.verdicts.accuracy.alpha_per_look", lambda looks, alpha: alpha / len(looks))
        size = min(len(d), len(failures))
        baseline = [None if x is None else 0.7 for x in failures[:size]]
        variant = [None if x is None else 0.7 + x / 100.0 for x in d[:size]]
        decide, gate = accuracy_decided(Gate(), looks), Gate()

        def judged(seeds: int) -> Judgement:
            return judge_pairs(
                baseline[:seeds],
                variant[:seeds],
                max_drop_pp=gate.max_drop_pp,
                alpha=gate.alpha,
                looks=looks,
                test_nodes=nodes,
            )

        ends = [n for n in range(1, size + 1) if sum(x is not None for x in baseline[:n]) in looks]
        asked = [n for n in ends if baseline[n - 1] is not None]
        stop = next((n for n in asked if decide(baseline[:n], variant[:n], False, nodes)), size)
        assert judged(stop) == judged(size) or stop >= looks[-1]
        assert all(not judged(n).decided for n in asked if n < stop)


def logs(ratios: list[float]) -> list[float]:
    return [math.log(r) for r in ratios]


@pytest.mark.parametrize(
    ("ratios", "stops"), [(FAST, True), (SAME, True), ([0.9, 1.3, 1.0, 1.2], False), ([1.05, 1.05, 1.05, 1.051], True)]
)
def test_speed_stops_when_it_is_known(ratios: list[float], stops: bool) -> None:
    assert speed_decided(Gate(), Timing())(logs(ratios), 0) == stops


def test_the_last_timing_look_stops_whatever_it_says() -> None:
    assert speed_decided(Gate(), Timing())(logs([0.9, 1.3, 1.0, 1.2] * 3), 3)
    assert speed_decided(Gate(), Timing(looks=(4,)))(logs([0.9, 1.3, 1.0, 1.2]), 0)


def test_memory_is_decided_by_its_own_threshold() -> None:
    gate, saved = Gate(min_memory_saving=1.5), [1.20, 1.25, 1.21, 1.24]
    assert speed_decided(gate, Timing(), "memory")(logs(saved), 0)
    assert not speed_decided(Gate(min_memory_saving=1.22), Timing(), "memory")(logs(saved), 0)


def test_the_control_stops_when_it_is_narrow_and_not_when_it_is_merely_slow() -> None:
    decide = speed_decided(Gate(), Timing(), "control")
    assert decide(logs(SAME), 0)
    # Its upper bound is below 1.05, which would end a variant's timing, but it is too wide to be a control.
    slow_and_wide = [0.90, 1.00, 0.95, 0.97]
    assert speed_decided(Gate(min_speedup=1.2), Timing(), "speed")(logs(slow_and_wide), 0)
    assert not decide(logs(slow_and_wide), 0)


def test_ratios_that_are_not_there_yet_are_not_judged() -> None:
    with pytest.raises(ValueError, match="look 0 is at 4 ratios"):
        speed_decided(Gate(), Timing())(logs(FAST[:2]), 0)


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import harness.verdicts", ("scipy", "torch", "numpy")),
        ("from harness.verdicts import judge, speedup", ("scipy.stats", "torch")),
        ("import harness.verdicts.analyze", ("scipy.stats", "torch", "torch_geometric", "numba", "ogb")),
    ],
)
def test_imports_stay_light(code: str, absent: tuple[str, ...]) -> None:
    check = f"{code}\nimport sys\nprint([m for m in {absent} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names_are_attribute_errors() -> None:
    import harness.verdicts

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = harness.verdicts.nothing
