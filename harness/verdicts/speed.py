"""How many times as fast? Ratios of paired times, with an interval that may be looked at more than once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import special

from harness.verdicts.sequential import alpha_per_look, replay

RatioState = Literal["gain", "no-gain", "loss", "unknown"]
ControlState = Literal["quiet", "noisy", "missing"]

OVERALL_ALPHA = 0.05  # two-sided over all looks, so that a false accept happens at 2.5 %
_LARGEST = 700.0  # exp overflows at 709.8
NARROW = 1.02  # upper over lower: two percent wide, beyond which more blocks change no decision worth making


@dataclass(frozen=True)
class Speedup:
    """A ratio, baseline over variant: above 1 is faster, or smaller."""

    ratio: float
    lower: float
    upper: float
    confidence: float
    n: int

    @property
    def width(self) -> float:
        """Upper over lower: 1.0 is a point."""
        return math.inf if self.lower == 0.0 else self.upper / self.lower


@dataclass(frozen=True)
class RatioJudgement:
    """A ratio at the look that counts; None where no look is complete."""

    state: RatioState
    interval: Speedup | None
    decided: bool  # whether the blocks may stop
    narrow: bool = False


@dataclass(frozen=True)
class ControlJudgement:
    """The baseline against itself at the look that counts."""

    state: ControlState
    interval: Speedup | None
    decided: bool


def speedup(log_ratios: Sequence[float], confidence: float = 0.95) -> Speedup:
    """exp of the mean of log ratios, with its t interval.

    Args:
        log_ratios: log(baseline / variant) of each pair of measurements.
        confidence: of the interval, two-sided.

    Returns:
        ``.ratio``, ``.lower``, ``.upper``. One ratio alone has the interval (0, inf).

    Raises:
        ValueError: no ratios, a logarithm that is not finite or beyond ±700 (seconds by mistake, say), or a confidence
            outside (0, 1).
    """
    values = [float(x) for x in log_ratios]
    if not values:
        raise ValueError("a speed-up needs at least one log ratio; got none")
    if not all(math.isfinite(x) for x in values):
        raise ValueError(f"log ratios must be finite; got {values}")
    if any(abs(x) > _LARGEST for x in values):
        raise ValueError(f"log ratios are log(baseline / variant), at most {_LARGEST:g} either way; got {values}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}")
    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return Speedup(math.exp(mean), 0.0, math.inf, confidence, n)
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (n - 1))
    half_width = float(special.stdtrit(n - 1, 0.5 + confidence / 2.0)) * sd / math.sqrt(n)
    return Speedup(math.exp(mean), math.exp(mean - half_width), _exp(mean + half_width), confidence, n)


def _exp(x: float) -> float:
    """exp, infinite where floats end: an upper bound so far off says nothing."""
    return math.exp(x) if x <= _LARGEST else math.inf


def judge_ratios(log_ratios: Sequence[float], looks: Sequence[int], min_ratio: float) -> RatioJudgement:
    """Is the gain real? Looks are replayed: the first decision is final and later ratios are ignored.

    **gain**: the lower bound is above ``min_ratio``. **loss**: the upper bound is below 1. **no-gain**: the upper
    bound is below ``min_ratio``. Else **unknown**. Each of the first three ends the looking, and so does an interval
    whose upper bound is at most 1.02 times its lower: the ratio is then known to a percent either way and sits on the
    line, which no number of blocks makes a clear gain.

    Args:
        log_ratios: in the order measured.
        looks: numbers of ratios at which a decision may be made.
        min_ratio: `min_speedup` or `min_memory_saving`.
    """
    confidence = ratio_confidence(looks)

    def test(n: int) -> RatioJudgement:
        return ratio_state(speedup(log_ratios[:n], confidence), min_ratio)

    found = replay(looks, len(log_ratios), test, lambda judged: judged.decided)
    return found if found is not None else RatioJudgement("unknown", None, decided=False)


def ratio_state(interval: Speedup, min_ratio: float) -> RatioJudgement:
    """One look: where the interval lies beside 1 and the smallest gain that counts."""
    state: RatioState = "unknown"
    if interval.lower > min_ratio:
        state = "gain"
    elif interval.upper < 1.0:
        state = "loss"
    elif interval.upper < min_ratio:
        state = "no-gain"
    narrow = interval.width <= NARROW
    return RatioJudgement(state, interval, decided=state != "unknown" or narrow, narrow=narrow)


def judge_control(log_ratios: Sequence[float], looks: Sequence[int], min_ratio: float) -> ControlJudgement:
    """The machine's noise, from the baseline timed against itself.

    **noisy**: the interval excludes 1.00 (something other than the variant changes the time), or it is as wide as the
    smallest gain that counts; **quiet** otherwise. Looking stops when 1.00 is excluded or the interval is narrow
    enough for ``min_ratio`` (never narrower than 2 %, or a `min_ratio` of 1 would never stop).
    """
    confidence = ratio_confidence(looks)

    def test(n: int) -> ControlJudgement:
        return control_state(speedup(log_ratios[:n], confidence), min_ratio)

    found = replay(looks, len(log_ratios), test, lambda judged: judged.decided)
    return found if found is not None else ControlJudgement("missing", None, decided=False)


def control_state(interval: Speedup, min_ratio: float) -> ControlJudgement:
    """One look at the control."""
    off = interval.lower > 1.0 or interval.upper < 1.0
    wide = interval.width > max(min_ratio, NARROW)
    return ControlJudgement("noisy" if off or wide else "quiet", interval, decided=off or not wide)


def ratio_confidence(looks: Sequence[int]) -> float:
    """Confidence of the interval at each look, such that all looks together hold at 95 %."""
    return 1.0 - alpha_per_look(looks, OVERALL_ALPHA, sides=2)
