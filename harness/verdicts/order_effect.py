"""Does it matter when in a block a process ran? A B B A lets a steady drift cancel; this tests whether there is one.

A block runs reference, variant, variant, reference. Where nothing but the arm matters, its first half (A B) and its
second (B A) have the same expected log ratio, and the last reference takes as long as the first. So over the blocks the
paired difference of the two log ratios, and the log of last over first reference, have mean 0: a paired t interval of
each (the period effect of a crossover design; Jones and Kenward 2014, chapter 2). A steady drift of δ a position makes
the difference −2δ and the references 3δ, and leaves the block's mean alone; one that is not steady does not, which is
why a reader should know of either.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from harness.records.results import Block, TimingResult
from harness.verdicts.model import ComparisonVerdict, Control, OrderEffect
from harness.verdicts.speed import speedup
from harness.verdicts.wording import interval_text, plural, ratio_text

CONFIDENCE = 0.99  # two intervals for each of some dozen comparisons: at 95 % every other report would warn of nothing
_LEAST_BLOCKS = 2
_TOLD_FROM = 4  # blocks: the t interval of fewer is so wide that it says nothing either way


def judge_order(halves: Sequence[tuple[float, float]], references: Sequence[tuple[float, float]]) -> OrderEffect:
    """Test the order over blocks.

    Args:
        halves: log ratios of each block's first (A B) and second (B A) half.
        references: seconds of each block's first and last reference.

    Raises:
        ValueError: fewer than two blocks, or not as many of one as of the other.
    """
    if len(halves) != len(references) or len(halves) < _LEAST_BLOCKS:
        raise ValueError(f"the order is tested over two blocks or more; got {len(halves)} and {len(references)}")
    order = speedup([first - second for first, second in halves], CONFIDENCE)
    drift = speedup([math.log(last / first) for first, last in references], CONFIDENCE)
    return OrderEffect(
        ratio=order.ratio,
        ci=(order.lower, order.upper),
        drift=drift.ratio,
        drift_ci=(drift.lower, drift.upper),
        level=CONFIDENCE,
        blocks=len(halves),
    )


def order_of(blocks: Iterable[Block]) -> OrderEffect | None:
    """The same from what timing jobs left; None for fewer than four blocks that are complete."""
    medians = [[statistics.median(p.epoch_s) for p in b.processes if p.epoch_s] for b in blocks]
    complete = [m for m in medians if len(m) == 4 and min(m) > 0.0]
    if len(complete) < _TOLD_FROM:
        return None
    halves = [(math.log(a / b), math.log(d / c)) for a, b, c, d in complete]
    found = judge_order(halves, [(a, d) for a, _, _, d in complete])
    return found if math.isfinite(found.ci[1]) and math.isfinite(found.drift_ci[1]) else None


def order_words(effect: OrderEffect) -> str:
    """Both intervals in one phrase."""
    return (
        f"a block's first half gives {ratio_text(effect.ratio)} {interval_text(*effect.ci)} times the ratio of its "
        f"second, and its last reference takes {ratio_text(effect.drift)} {interval_text(*effect.drift_ci)} times as "
        f"long as its first, at {100 * effect.level:g} % over {plural(effect.blocks, 'block')}"
    )


def order_warnings(
    comparisons: Sequence[ComparisonVerdict], control: Control, timings: Iterable[TimingResult]
) -> list[str]:
    """Where the order matters: in single timings by name, and over all blocks together, which sees smaller effects."""
    tested = [("the control", control.order), *((c.variant, c.order) for c in comparisons)]
    found = [
        f"the order of a block's processes matters in timing {name}, and cancels only if steady: {order_words(effect)}"
        for name, effect in tested
        if effect is not None and effect.matters
    ]
    together = order_of(block for timing in timings for block in timing.blocks)
    most = max((effect.blocks for _, effect in tested if effect is not None), default=0)
    if together is not None and together.matters and together.blocks > most:
        found.append(f"over all timings the order of a block's processes matters: {order_words(together)}")
    return found
