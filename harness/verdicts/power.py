"""How many seeds will the accuracy gate need, and how often will it decide? Before anything runs.

Differences are taken as normal. One look is exact, by the noncentral t distribution; several looks are simulated, since
the chance of each depends on all before it: 200,000 draws with a fixed seed, so that a chance is known to 0.1 points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from harness.verdicts.more_seeds import more_seeds
from harness.verdicts.non_inferiority import FEWEST_PAIRS
from harness.verdicts.sequential import alpha_per_look

_DRAWS = 200_000
_MOST = 4_000_000  # draws times looks: bounds the memory of long lists, at 20,000 draws for 200 looks
_SEED = 20_240_229
PASS, FAIL, OPEN = 1, -1, 0


@dataclass(frozen=True)
class Power:
    """What the gate does, for one true difference and one spread. Chances are fractions."""

    true_pp: float  # variant minus baseline
    sd_pp: float  # of the paired differences
    looks: tuple[int, ...]
    passes: float
    fails: float
    decided_by: tuple[float, ...]  # at each look or before it
    mean_seeds: float  # seeds end where it is decided
    one_look: int | None  # pairs for 80 % power at a single look, towards pass or fail; None: over 200, or on the line


@dataclass(frozen=True)
class Replayed:
    """Many replays of looks: what each ended in, at which look. Shape ``[draws]`` each."""

    state: np.ndarray  # int8: 1 pass, -1 fail, 0 open
    seeds: np.ndarray  # int64: pairs used


def power(
    true_pp: float, sd_pp: float, looks: Sequence[int], *, alpha: float = 0.05, max_drop_pp: float = 0.5
) -> Power:
    """The gate's chances where the true difference and the spread are known.

    Args:
        true_pp: variant minus baseline, percentage points.
        sd_pp: standard deviation of the paired differences, percentage points, 0 or more.
        looks: numbers of pairs at which the gate decides.
        alpha: one-sided error over all looks.
        max_drop_pp: the allowed drop.
    """
    looks = tuple(looks)
    level = alpha_per_look(looks, alpha)
    decided_by: tuple[float, ...]
    if len(looks) == 1 and sd_pp > 0.0:
        passes, fails = _one_look(true_pp + max_drop_pp, sd_pp, looks[0], level)
        decided_by, seeds = (passes + fails,), float(looks[0])
    else:
        means, sds = _standard(looks)
        found = replay_all(true_pp + sd_pp * means, sd_pp * sds, looks, level, max_drop_pp)
        passes, fails = float(np.mean(found.state == PASS)), float(np.mean(found.state == FAIL))
        decided_by = tuple(float(np.mean((found.state != OPEN) & (found.seeds <= n))) for n in looks)
        seeds = float(found.seeds.mean())
    one_look = more_seeds(0, true_pp, sd_pp, alpha, max_drop_pp)
    return Power(true_pp, sd_pp, looks, passes, fails, decided_by, seeds, one_look)


def replay_all(
    means: np.ndarray, sds: np.ndarray, looks: Sequence[int], level: float, max_drop_pp: float = 0.5
) -> Replayed:
    """`judge` on many draws at once, without the half node and the rounding.

    Args:
        means: of the first ``looks[k]`` differences of each draw, percentage points, shape ``[draws, len(looks)]``.
        sds: likewise their standard deviations.
        looks: numbers of pairs at which a decision may be made.
        level: one-sided alpha of each look.
        max_drop_pp: the allowed drop.
    """
    state = np.zeros(len(means), dtype=np.int8)
    seeds = np.full(len(means), looks[-1], dtype=np.int64)
    for k, n in enumerate(looks):
        half = special.stdtrit(n - 1, 1.0 - level) * sds[:, k] / np.sqrt(n)
        running = state == OPEN
        state[running & (means[:, k] - half > -max_drop_pp)] = PASS
        state[running & (means[:, k] + half < -max_drop_pp)] = FAIL
        seeds[running & (state != OPEN)] = n
    return Replayed(state, seeds)


def means_and_sds(d_pp: np.ndarray, looks: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (n − 1) of the first ``looks[k]`` columns; in and out ``[draws, …]``."""
    return (
        np.stack([d_pp[:, :n].mean(axis=1) for n in looks], axis=1),
        np.stack([d_pp[:, :n].std(axis=1, ddof=1) for n in looks], axis=1),
    )


def sd_interval(sd_pp: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a standard deviation from n differences, by chi-square: s·√((n − 1)/χ²).

    Raises:
        ValueError: fewer than two differences.
    """
    if n < 2:
        raise ValueError(f"a spread needs at least two differences; got {n}")
    half = (n - 1) / 2.0
    low, high = (
        2.0 * float(special.gammaincinv(half, p)) for p in ((1.0 + confidence) / 2.0, (1.0 - confidence) / 2.0)
    )
    return sd_pp * float(np.sqrt((n - 1) / low)), sd_pp * float(np.sqrt((n - 1) / high))


def _one_look(gap_pp: float, sd_pp: float, n: int, alpha: float) -> tuple[float, float]:
    """Chances to pass and to fail: P(T > t) and P(T < −t) of the noncentral t with n − 1 degrees of freedom."""
    if n < FEWEST_PAIRS:
        raise ValueError(f"a look needs at least {FEWEST_PAIRS} pairs; got {n}")
    critical, shift = float(special.stdtrit(n - 1, 1.0 - alpha)), gap_pp * np.sqrt(n) / sd_pp
    # NaN: the distribution function underflows far from the critical value, where the chance is 0 on that side.
    passes = 1.0 - float(np.nan_to_num(special.nctdtr(n - 1, shift, critical), nan=0.0 if shift > 0 else 1.0))
    fails = 1.0 - float(np.nan_to_num(special.nctdtr(n - 1, -shift, critical), nan=0.0 if shift < 0 else 1.0))
    return passes, fails


@lru_cache(maxsize=2)
def _standard(looks: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations at each look for differences of mean 0 and spread 1, shape ``[draws, looks]``.

    A look's new pairs enter by their mean and their own sum of squares, which are independent: normal and chi-square.
    """
    rng, draws = np.random.default_rng(_SEED), min(_DRAWS, _MOST // len(looks))
    means, sds = np.empty((draws, len(looks))), np.empty((draws, len(looks)))
    mean, squares, before = np.zeros(draws), np.zeros(draws), 0
    for k, n in enumerate(looks):
        new = n - before
        step = rng.standard_normal(draws) / np.sqrt(new) - mean
        # Chan, Golub and LeVeque (1979): squares of two samples joined.
        squares += step**2 * (before * new / n)
        if new > 1:
            squares += rng.chisquare(new - 1, draws)
        mean = mean + step * (new / n)
        means[:, k], sds[:, k], before = mean, np.sqrt(squares / (n - 1)), n
    return means, sds
