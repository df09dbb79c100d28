"""The accuracy gate over seeds: pairs in seed order, looks replayed, failures never dropped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal

from harness.verdicts.more_seeds import more_seeds_for
from harness.verdicts.non_inferiority import FEWEST_PAIRS, NonInferiority, non_inferiority, paired_differences
from harness.verdicts.sequential import alpha_per_look, whole_looks

GateState = Literal["pass", "fail", "inconclusive", "invalid", "dnf"]


@dataclass(frozen=True)
class Judgement:
    """One variant against its baseline."""

    state: GateState
    lower_pp: float | None
    upper_pp: float | None
    look: int | None  # pairs at the look that counts
    more_seeds: int | None
    delta_pp: float | None
    alpha: float  # of each bound, at this look
    pairs: tuple[int, ...]  # positions of the pairs that count
    seen: int  # positions looked at: what lies beyond is ignored
    identical: bool = False
    failed_at: int | None = None  # position where the variant failed though the baseline ran
    exploratory: bool = False  # no looks were declared

    @property
    def level(self) -> float:
        """Confidence of the interval [lower, upper], two-sided."""
        return 1.0 - 2.0 * self.alpha

    @property
    def interval_pp(self) -> tuple[float, float] | None:
        """LB and UB, percentage points; None where there is no test."""
        return None if self.lower_pp is None or self.upper_pp is None else (self.lower_pp, self.upper_pp)

    @property
    def decided(self) -> bool:
        return self.state in ("pass", "fail", "dnf")


def judge(
    baseline: Sequence[float | None],
    variants: Mapping[str, Sequence[float | None]],
    max_drop_pp: float = 0.5,
    alpha: float = 0.05,
    looks: Sequence[int] | None = (5, 10, 20),
    test_nodes: int | None = None,
) -> dict[str, Judgement]:
    """Is each variant's drop shown to be at most ``max_drop_pp``?

    Args:
        baseline: accuracy of each seed, fractions in [0, 1], in seed order.
        variants: likewise for each variant, with the same seeds in the same order. Where lengths differ the first
            seeds that both have count.
        max_drop_pp: the allowed drop, percentage points.
        alpha: one-sided error, over all looks.
        looks: numbers of pairs at which a decision may be made; the first decision is final and later seeds are
            ignored. None: one look at what is there, marked `.exploratory`, since nothing shows that their number was
            not chosen by what it gives. ``[n]`` declares one look at n pairs.
        test_nodes: nodes in the test set, if known: keeps small test sets from passing by coincidence.

    ``None`` or NaN is a run that failed. Where the variant failed and the baseline ran the state is **dnf**; a seed
    that the baseline failed is no pair.

    Returns:
        For each name ``.state`` (pass, fail, inconclusive, invalid, dnf), ``.lower_pp``, ``.upper_pp``, ``.look``
        (pairs at the look that counts) and ``.more_seeds`` (a rough guess, only where inconclusive). **invalid**: fewer
        than three pairs, or fewer than the first look.

    Raises:
        ValueError: an accuracy is no fraction, looks do not increase or start below 3, alpha is out of range.
    """
    reference = _fractions("baseline", baseline)
    return {
        name: judge_pairs(
            reference,
            _fractions(name, values),
            max_drop_pp=max_drop_pp,
            alpha=alpha,
            looks=looks,
            test_nodes=test_nodes,
        )
        for name, values in variants.items()
    }


def judge_pairs(
    reference: Sequence[float | None],
    variant: Sequence[float | None],
    *,
    max_drop_pp: float,
    alpha: float,
    looks: Sequence[int] | None,
    test_nodes: int | None,
    identical: Callable[[Sequence[int]], bool] = lambda positions: False,
    parity_equal: bool = False,
) -> Judgement:
    """One variant of `judge`; None is a run that failed.

    Args:
        identical: whether the predictions of the pairs at these positions are all equal, by hash. They count only
            where every difference of the metric is zero too: ROC-AUC reads scores, which may differ where the
            predicted classes do not.
        parity_equal: the variant is exact and its parity check found it equal: identical predictions then pass on a
            test set of any size.
    """
    looks = None if looks is None else whole_looks(looks)
    if looks is not None and (not looks or min(looks) < FEWEST_PAIRS):
        raise ValueError(f"looks must increase and start at {FEWEST_PAIRS} or more; got {list(looks)}")
    level = alpha if looks is None else alpha_per_look(looks, alpha)
    count = min(len(reference), len(variant))
    pairs: list[int] = []
    last: Judgement | None = None

    def test() -> Judgement:
        d = paired_differences([_value(reference[i]) for i in pairs], [_value(variant[i]) for i in pairs])
        same = bool(pairs) and not any(d) and identical(pairs)
        result = non_inferiority(
            d,
            alpha=level,
            max_drop_pp=max_drop_pp,
            test_nodes=test_nodes,
            identical=same,
            parity_equal=parity_equal,
        )
        return _judgement(result, pairs, max_drop_pp)

    for i in range(count):
        if reference[i] is None:
            continue
        if variant[i] is None:
            return replace(_dnf(level, pairs, i), exploratory=looks is None)
        pairs.append(i)
        if looks is not None and len(pairs) in looks:
            last = test()
            if last.decided:
                return last
    if looks is None:
        return replace(test(), exploratory=True)
    return last if last is not None else _too_few(level, pairs, count)


def _judgement(test: NonInferiority, pairs: Sequence[int], max_drop_pp: float) -> Judgement:
    return Judgement(
        state=test.state,
        lower_pp=test.lower_pp,
        upper_pp=test.upper_pp,
        look=test.n or None,
        more_seeds=more_seeds_for(test, max_drop_pp),
        delta_pp=test.mean_pp,
        alpha=test.alpha,
        pairs=tuple(pairs),
        seen=pairs[-1] + 1 if pairs else 0,
        identical=test.identical,
    )


def _dnf(alpha: float, pairs: Sequence[int], failed_at: int) -> Judgement:
    return Judgement("dnf", None, None, None, None, None, alpha, tuple(pairs), failed_at + 1, failed_at=failed_at)


def _too_few(alpha: float, pairs: Sequence[int], seen: int) -> Judgement:
    return Judgement("invalid", None, None, None, None, None, alpha, tuple(pairs), seen)


def _value(accuracy: float | None) -> float:
    assert accuracy is not None  # pairs are complete by construction
    return accuracy


def _fractions(name: str, values: Sequence[float | None]) -> list[float | None]:
    """Accuracies as floats, NaN as None."""
    checked: list[float | None] = []
    for position, value in enumerate(values):
        if value is None:
            checked.append(None)
            continue
        if not isinstance(value, Real):
            raise ValueError(f"{name}[{position}] is {value!r}; accuracies are numbers in [0, 1] (None: run failed)")
        if math.isnan(value):
            checked.append(None)
        elif 0.0 <= value <= 1.0:
            checked.append(float(value))
        else:
            raise ValueError(
                f"{name}[{position}] is {value}; accuracies are fractions in [0, 1], not percentages (None: run failed)"
            )
    return checked
