"""Means with their intervals, by Student's t: of one sample, or of the sum of several that were measured apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy import special


@dataclass(frozen=True)
class Mean:
    """Mean of a sample.

    Attributes:
        variance: of the mean, s²/n; None for a single value.
        n: values.
    """

    mean: float
    variance: float | None
    n: int

    def __neg__(self) -> Mean:
        return replace(self, mean=-self.mean)


def sample_sd(values: Sequence[float]) -> float:
    """Standard deviation (n − 1) of two values or more; exactly 0 where all are equal, however their mean rounds."""
    if len(set(values)) == 1:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (len(values) - 1))


def mean_of(values: Sequence[float], least_sd: float = 0.0) -> Mean:
    """Mean and its variance.

    Args:
        values: at least one.
        least_sd: s is at least that: what the values are known to.
    """
    n = len(values)
    mean = float(values[0]) if len(set(values)) == 1 else math.fsum(values) / n
    return Mean(mean, max(sample_sd(values), least_sd) ** 2 / n if n > 1 else None, n)


def interval_of(means: Sequence[Mean], confidence: float = 0.95) -> tuple[float, float] | None:
    """Interval of the sum of independent means: the sum ∓ t times its standard error.

    Variances of independent means add up, with the degrees of freedom of Welch (1947) and Satterthwaite (1946):
    (Σv)² / Σ(v²/(n − 1)). Of one mean alone it is Student's t interval.

    Returns:
        None where a mean is of one value.
    """
    known = [(m.variance, m.n) for m in means if m.variance is not None]
    if len(known) < len(means):
        return None
    centre, variance = math.fsum(m.mean for m in means), math.fsum(v for v, _ in known)
    if variance == 0.0:
        return centre, centre
    alone = known[0][1] - 1 if len(known) == 1 else None
    freedom = alone or variance**2 / math.fsum(v**2 / (n - 1) for v, n in known)
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2.0)) * math.sqrt(variance)
    return centre - half, centre + half


def exp_interval(means: Sequence[Mean], confidence: float = 0.95) -> tuple[float, float] | None:
    """Interval of a product of independent ratios, from the means of their logarithms: exp of `interval_of`."""
    found = interval_of(means, confidence)
    return None if found is None else (math.exp(found[0]), math.exp(found[1]))
