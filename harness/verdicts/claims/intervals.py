"""Intervals of what claims are about, from plain numbers. All are two-sided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from harness.verdicts.means import Mean, interval_of, mean_of, sample_sd


@dataclass(frozen=True)
class Interval:
    """A value and the interval that holds the truth with a chance of ``level``."""

    value: float
    lower: float
    upper: float
    level: float
    n: int


def exact(value: float, n: int = 1) -> Interval:
    """What is known and not estimated."""
    return Interval(value, value, value, 1.0, n)


def mean_interval(values: Sequence[float], level: float = 0.95, least_sd: float = 0.0) -> Interval:
    """Mean with its t interval.

    Args:
        values: at least two.
        level: of the interval.
        least_sd: what the standard deviation is at least, where values are of finite resolution.

    Raises:
        ValueError: fewer than two values, or one that is not finite.
    """
    n = len(values)
    if n < 2:
        raise ValueError(f"an interval needs two values at least; got {n}")
    if not all(math.isfinite(x) for x in values):
        raise ValueError(f"values must be finite; got {list(values)}")
    return _sum([mean_of(values, least_sd)], level)


def ratio_interval(log_ratios: Sequence[float], level: float = 0.95, least_sd: float = 0.0) -> Interval:
    """exp of the mean of log ratios, with its t interval. Arguments as in `mean_interval`."""
    return _exp(mean_interval(log_ratios, level, least_sd))


def welch_ratio(log_variant: Sequence[float], log_reference: Sequence[float], level: float = 0.95) -> Interval:
    """A variant against another one, from the log ratios of both against a baseline that they share (Welch 1947).

    Args:
        log_variant: log(baseline / variant).
        log_reference: log(baseline / reference).
        level: of the interval.

    Returns:
        Of reference / variant; ``n`` is the number of log ratios of both.

    Raises:
        ValueError: fewer than two of either.
    """
    if min(len(log_variant), len(log_reference)) < 2:
        raise ValueError("an interval needs two ratios of each at least")
    return _exp(_sum([mean_of(log_variant), -mean_of(log_reference)], level))


def sd_ratio(reference: Sequence[float], variant: Sequence[float], level: float = 0.95) -> Interval:
    """Standard deviation of the reference over that of the variant, of pairs that need not be independent.

    The limits of Morgan (1939) and Pitman (1939) for the ratio of variances of a bivariate normal sample: the ratio
    times K ± √(K² − 1), K = 1 + 2(1 − r²)t²/(n − 2), with r the correlation and t of n − 2 degrees of freedom. With
    r = 0 it is nearly the F interval.

    Args:
        reference, variant: equally long, three pairs at least, pair by pair.
        level: of the interval.

    Raises:
        ValueError: too few pairs, or an arm that does not vary at all.
    """
    n = len(reference)
    if n != len(variant) or n < 3:
        raise ValueError(f"needs three pairs at least; got {n} and {len(variant)} values")
    sd_reference, sd_variant = sample_sd(reference), sample_sd(variant)
    if sd_reference == 0.0 or sd_variant == 0.0:
        raise ValueError("an arm does not vary over its seeds")
    mean_reference, mean_variant = math.fsum(reference) / n, math.fsum(variant) / n
    products = [(a - mean_reference) * (b - mean_variant) for a, b in zip(reference, variant, strict=True)]
    r = math.fsum(products) / ((n - 1) * sd_reference * sd_variant)
    t = float(special.stdtrit(n - 2, 0.5 + level / 2.0))
    k = 1.0 + 2.0 * max(0.0, 1.0 - r * r) * t**2 / (n - 2)
    spread = k + math.sqrt(k * k - 1.0)
    ratio = sd_reference / sd_variant
    return Interval(ratio, ratio / math.sqrt(spread), ratio * math.sqrt(spread), level, n)


def _sum(means: Sequence[Mean], level: float) -> Interval:
    """Of a sum of means, each of two values or more."""
    bounds = interval_of(means, level)
    assert bounds is not None
    return Interval(math.fsum(m.mean for m in means), *bounds, level, sum(m.n for m in means))


def _exp(logs: Interval) -> Interval:
    value, lower, upper = (math.exp(min(x, 700.0)) for x in (logs.value, logs.lower, logs.upper))
    return Interval(value, lower, upper, logs.level, logs.n)
