"""Ratios that are products of others measured apart: means of logarithms, and one interval for their sum."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True)
class LogMean:
    """Mean of log ratios.

    Attributes:
        variance: of the mean, s²/n; None for a single value.
        n: values.
    """

    mean: float
    variance: float | None
    n: int


def mean_of_logs(logs: Sequence[float], least_sd: float = 0.0) -> LogMean:
    """Mean and its variance.

    Args:
        logs: at least one.
        least_sd: s is at least that: what the values are known to.
    """
    n = len(logs)
    sd = max(statistics.stdev(logs), least_sd) if n > 1 else None
    return LogMean(math.fsum(logs) / n, None if sd is None else sd**2 / n, n)


def exp_interval(means: Sequence[LogMean], confidence: float = 0.95) -> tuple[float, float] | None:
    """Interval of the product of independent ratios: exp of the sum of their means ∓ t times its standard error.

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
        return math.exp(centre), math.exp(centre)
    freedom = variance**2 / math.fsum(v**2 / (n - 1) for v, n in known)
    half = float(special.stdtrit(freedom, 0.5 + confidence / 2.0)) * math.sqrt(variance)
    return math.exp(centre - half), math.exp(centre + half)
