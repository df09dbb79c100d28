"""How a cell's speed-up, or its saving of memory, differs between two folders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan.model import Plan
from harness.records.results import TimingResult
from harness.verdicts.across.model import Gain, Measured
from harness.verdicts.means import exp_interval, mean_of
from harness.verdicts.memory import judge_memory
from harness.verdicts.speed import RatioJudgement, judge_ratios

CONFIDENCE = 0.95


@dataclass(frozen=True)
class _Ratios:
    """A ratio within one folder, and the log ratios that its look counts."""

    measured: Measured
    logs: Sequence[float]


def speed_gain(a: TimingResult | None, plan_a: Plan, b: TimingResult | None, plan_b: Plan) -> Gain:
    """Of seconds an epoch."""
    return _gain(_speed(a, plan_a), _speed(b, plan_b))


def memory_gain(a: TimingResult | None, plan_a: Plan, b: TimingResult | None, plan_b: Plan) -> Gain:
    """Of peak bytes."""
    return _gain(_memory(a, plan_a), _memory(b, plan_b))


def ratio_change(a: Sequence[float], b: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """exp of the difference of the means of two independent samples of log ratios, with Welch's interval (Welch 1947).

    The interval stands at `CONFIDENCE` for samples of a fixed size; blocks stop at looks, which makes it a little
    narrow.

    Args:
        a, b: log ratios, two or more each.

    Returns:
        B's ratio over A's, and its bounds.

    Raises:
        ValueError: fewer than two of either.
    """
    if min(len(a), len(b)) < 2:
        raise ValueError(f"an interval needs two log ratios of each; got {len(a)} and {len(b)}")
    means = (mean_of(b), -mean_of(a))
    interval = exp_interval(means, CONFIDENCE)
    assert interval is not None  # two values or more of each
    return math.exp(math.fsum(m.mean for m in means)), interval


def _speed(timing: TimingResult | None, plan: Plan) -> _Ratios | None:
    if timing is None:
        return None
    return _counted(judge_ratios(timing.log_ratios, plan.timing.looks, plan.gate.min_speedup), timing.log_ratios)


def _memory(timing: TimingResult | None, plan: Plan) -> _Ratios | None:
    if timing is None:
        return None
    logs = timing.memory_log_ratios
    judged = judge_memory(logs, plan.timing.looks, plan.gate.min_memory_saving, exact=timing.memory_exact)
    return _counted(judged, logs)


def _counted(judged: RatioJudgement, logs: Sequence[float]) -> _Ratios | None:
    interval = judged.interval
    if interval is None:
        return None
    measured = Measured(ratio=interval.ratio, ci=(interval.lower, interval.upper), level=interval.confidence)
    return _Ratios(measured, logs[: interval.n])


def _gain(a: _Ratios | None, b: _Ratios | None) -> Gain:
    if a is None or b is None:
        return Gain(a=None if a is None else a.measured, b=None if b is None else b.measured)
    change, bounds = ratio_change(a.logs, b.logs)
    return Gain(a=a.measured, b=b.measured, change=change, change_ci=bounds)
