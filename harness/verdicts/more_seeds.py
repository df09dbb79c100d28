"""How many more seeds an inconclusive comparison would need; a rough guess, and said to be one."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from harness.verdicts.non_inferiority import FEWEST_PAIRS, NonInferiority

_POWER = 0.8
_MOST = 200


def more_seeds(n: int, mean_pp: float, sd_pp: float, alpha: float, max_drop_pp: float = 0.5) -> int | None:
    """Seeds still needed for a decision with 80 % power, if mean and spread stay what they are.

    g = |min(mean, 0) + max_drop|; N* = smallest N ≥ 3 with 1 − F_nct(t(1 − alpha, N − 1); N − 1, g·√N/s) ≥ 0.8. A mean
    above zero counts as zero: a lucky start must not promise too few. With a mean below −max_drop these are the seeds
    to *fail*. It is rough: for a truth of 8, quartiles 8, 14 and 30 at n = 3.

    Args:
        n: pairs so far.
        mean_pp, sd_pp: of the differences, percentage points.
        alpha: level of one look, one-sided.
        max_drop_pp: the allowed drop.

    Returns:
        At least 1; None where more than 200 seeds would be needed, or the mean sits on the line.
    """
    gap = round(abs(min(mean_pp, 0.0) + max_drop_pp), 9)
    if gap == 0.0:
        return None
    sizes = np.arange(FEWEST_PAIRS, _MOST + 1)
    critical = special.stdtrit(sizes - 1, 1.0 - alpha)
    noncentrality = gap * np.sqrt(sizes) / sd_pp if sd_pp > 0.0 else np.full(len(sizes), math.inf)
    # NaN: the distribution function underflows far above the critical value, so the power is 1 there.
    missed = np.nan_to_num(special.nctdtr(sizes - 1, noncentrality, critical), nan=0.0)
    enough = np.flatnonzero(1.0 - missed >= _POWER)
    return max(1, int(sizes[enough[0]]) - n) if len(enough) else None


def more_seeds_for(test: NonInferiority, max_drop_pp: float = 0.5) -> int | None:
    """`more_seeds` of a test: None unless it is inconclusive."""
    if test.state != "inconclusive" or test.mean_pp is None or test.sd_pp is None:
        return None
    return more_seeds(test.n, test.mean_pp, test.sd_pp, test.alpha, max_drop_pp)
