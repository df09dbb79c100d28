"""Is the drop in accuracy shown to be small enough? The paired one-sided non-inferiority test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import special

from harness.verdicts.half_node import half_node_pp

State = Literal["pass", "fail", "inconclusive", "invalid"]

FEWEST_PAIRS = 3
_DECIMALS = 9  # of a percentage point: far below one test node, far above the rounding of floats


@dataclass(frozen=True)
class NonInferiority:
    """One test. All in percentage points; None where fewer than three pairs leave nothing to say."""

    state: State
    n: int
    alpha: float
    mean_pp: float | None
    sd_pp: float | None  # after the floor of half a test node
    lower_pp: float | None
    upper_pp: float | None
    identical: bool = False  # all predictions are equal; by itself that is no pass

    @property
    def decided(self) -> bool:
        return self.state in ("pass", "fail")

    @property
    def level(self) -> float:
        """Confidence of the interval [lower, upper], two-sided: each bound alone holds at 1 − alpha."""
        return 1.0 - 2.0 * self.alpha


@dataclass(frozen=True)
class Resolution:
    """What a test set can tell."""

    test_nodes: int
    max_drop_nodes: float  # the allowed drop, in test nodes
    sampling_error_pp: tuple[float, float]  # of a difference, where 2 % and 10 % of the predictions differ


def paired_differences(baseline: Sequence[float], variant: Sequence[float]) -> list[float]:
    """Differences of pairs, variant minus baseline.

    Args:
        baseline, variant: the metric of each pair, fractions, equally long.

    Returns:
        Percentage points, rounded to 1e-9 so that 0.695 − 0.70 is −0.5 and nothing else.
    """
    return [round(100.0 * (v - b), _DECIMALS) for b, v in zip(baseline, variant, strict=True)]


def non_inferiority(
    d_pp: Sequence[float],
    *,
    alpha: float = 0.05,
    max_drop_pp: float = 0.5,
    test_nodes: int | None = None,
    identical: bool = False,
    parity_equal: bool = False,
) -> NonInferiority:
    """Paired one-sided t test against a drop of ``max_drop_pp`` (Blackwelder 1982; Schuirmann 1987).

    LB, UB = mean(d) ∓ t(1 − alpha, n − 1) · s / √n; **pass** if LB > −max_drop_pp, **fail** if UB < −max_drop_pp,
    both strictly, else **inconclusive**. The variance is the pair's own: pooling it over variants raises false passes.

    Args:
        d_pp: variant minus baseline for each pair, percentage points.
        alpha: error of each bound, one-sided.
        max_drop_pp: the allowed drop, percentage points.
        test_nodes: nodes in the test set; s is then at least 50/test_nodes (half a node), without which small test
            sets, where all d may coincide by chance, pass falsely.
        identical: all predictions of all pairs are equal, by hash, and so is the metric. They pass with no spread at
            all where they are evidence (`identical_is_evidence`) or the variant is known to be exact; else they are
            differences of zero like any others.
        parity_equal: the parity check of an exact variant found it equal.

    Returns:
        The test; **invalid** with fewer than three pairs.

    Raises:
        ValueError: a difference is not finite, an argument is out of range, or identical pairs differ.
    """
    _check(d_pp, alpha, max_drop_pp, test_nodes)
    d = [round(float(x), _DECIMALS) for x in d_pp]
    if identical and any(d):
        raise ValueError(f"identical pairs do not differ in the metric; got {d}")
    n = len(d)
    if n < FEWEST_PAIRS:
        return NonInferiority("invalid", n, alpha, math.fsum(d) / n if n else None, None, None, None, identical)
    # Rounded again, so that a mean of equal values is that value and a bound on the line does not cross it.
    mean = round(math.fsum(d) / n, _DECIMALS)
    shown = parity_equal or identical_is_evidence(n, test_nodes, alpha, max_drop_pp)
    if identical and shown:
        return NonInferiority("pass", n, alpha, mean, 0.0, mean, mean, identical=True)
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in d) / (n - 1))
    if test_nodes is not None:
        sd = max(sd, half_node_pp(test_nodes))
    half_width = float(special.stdtrit(n - 1, 1.0 - alpha)) * sd / math.sqrt(n)
    lower, upper = round(mean - half_width, _DECIMALS), round(mean + half_width, _DECIMALS)
    margin = round(-max_drop_pp, _DECIMALS)
    state: State = "pass" if lower > margin else "fail" if upper < margin else "inconclusive"
    return NonInferiority(state, n, alpha, mean, sd, lower, upper, identical)


def identical_is_evidence(n: int, test_nodes: int | None, alpha: float, max_drop_pp: float) -> bool:
    """Are so many equal predictions unlikely where the drop is as large as allowed?

    A drop of δ changes each of the n · test_nodes predictions with a chance of at least δ, so all of them stay with a
    chance of at most (1 − δ)^(n · test_nodes), which must not exceed alpha: 598 predictions for 0.5 pp at 5 %.
    """
    if test_nodes is None:
        return False
    return max(0.0, 1.0 - max_drop_pp / 100.0) ** (n * test_nodes) <= alpha


def resolution(test_nodes: int, max_drop_pp: float = 0.5) -> Resolution:
    """The allowed drop as a number of test nodes, and how far chance alone moves a difference.

    The sampling error of the difference of two accuracies on n nodes is 100·√(q/n) pp, with q the share of nodes that
    exactly one of both gets right; 2 % and 10 % are what retraining the same network typically gives.

    Raises:
        ValueError: the test set is empty.
    """
    if test_nodes < 1:
        raise ValueError(f"a test set needs at least one node; got {test_nodes}")
    low, high = (100.0 * math.sqrt(share / test_nodes) for share in (0.02, 0.10))
    return Resolution(test_nodes, max_drop_pp / 100.0 * test_nodes, (low, high))


def collapse_bound(n: int) -> float:
    """Upper 95 % bound on the rate of collapsed runs when none of ``n`` collapsed: 1 − 0.05^(1/n).

    No test of means protects against rare collapses, so this is printed beside it.
    """
    if n < 1:
        return 1.0
    return 1.0 - float(0.05 ** (1.0 / n))


def _check(d_pp: Sequence[float], alpha: float, max_drop_pp: float, test_nodes: int | None) -> None:
    if not all(math.isfinite(x) for x in d_pp):
        raise ValueError("a difference is not finite: a failed run has no place in a test of means")
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5; got {alpha}")
    if not (math.isfinite(max_drop_pp) and max_drop_pp >= 0.0):
        raise ValueError(f"max_drop_pp is a drop, 0 or more percentage points; got {max_drop_pp}")
    if test_nodes is not None and test_nodes < 1:
        raise ValueError(f"test_nodes must be at least 1; got {test_nodes}")
