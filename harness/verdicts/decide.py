"""May a job stop? The stop rules that the quality and timing jobs are handed, the same as the verdicts replay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from harness.spec.schema import Gate, Timing
from harness.verdicts.accuracy import judge_pairs
from harness.verdicts.speed import judge_control, judge_ratios

SpeedDecided = Callable[[Sequence[float], int], bool]


class AccuracyDecided(Protocol):
    """May a variant's seeds stop? See `accuracy_decided`."""

    def __call__(
        self,
        reference: Sequence[float | None],
        variant: Sequence[float | None],
        predictions_equal: bool,
        test_nodes: int | None,
        parity_equal: bool = False,
        /,
    ) -> bool: ...


def accuracy_decided(gate: Gate, looks: Sequence[int]) -> AccuracyDecided:
    """The stop rule of a variant's seeds.

    Returns:
        ``decide(reference, variant, predictions_equal, test_nodes, parity_equal=False)``, to be asked after each look.
        Both lists hold the gate's metric in seed order, fractions, None for a run that failed; equal predictions settle
        it only where the metric is equal as well, and where they are enough to be evidence or the parity check of an
        exact variant found it equal. True where the seeds so far pass, fail, or
        hold a failure of the variant; where a look's worth of seeds leaves no complete pair at all (more of them would
        change nothing); and after the last look.
    """
    looks = tuple(looks)

    def decide(
        reference: Sequence[float | None],
        variant: Sequence[float | None],
        predictions_equal: bool,
        test_nodes: int | None,
        parity_equal: bool = False,
        /,
    ) -> bool:
        judged = judge_pairs(
            [_ran(x) for x in reference],
            [_ran(x) for x in variant],
            max_drop_pp=gate.max_drop_pp,
            alpha=gate.alpha,
            looks=looks,
            test_nodes=test_nodes,
            identical=lambda positions: predictions_equal,
            parity_equal=parity_equal,
        )
        seeds = min(len(reference), len(variant))
        hopeless = seeds >= looks[0] and not judged.pairs
        return judged.decided or hopeless or seeds >= looks[-1]

    return decide


def speed_decided(gate: Gate, timing: Timing, goal: Literal["speed", "memory", "control"] = "speed") -> SpeedDecided:
    """The stop rule of a timing job.

    Args:
        goal: ``memory`` takes the log ratios of peaks instead of times; ``control`` is the baseline against itself,
            which stops when its interval is narrow enough for the gate or excludes 1.00.

    Returns:
        ``decide(log_ratios, look_index)``, to be asked when ``timing.looks[look_index]`` ratios are there; ratios
        beyond that look are not read. True after the last look.

    Raises:
        ValueError: fewer ratios than the look needs.
    """
    looks = timing.looks
    smallest = gate.min_memory_saving if goal == "memory" else gate.min_speedup

    def decide(log_ratios: Sequence[float], look_index: int) -> bool:
        if look_index >= len(looks) - 1:
            return True
        if len(log_ratios) < looks[look_index]:
            raise ValueError(f"look {look_index} is at {looks[look_index]} ratios; got {len(log_ratios)}")
        so_far = list(log_ratios)[: looks[look_index]]
        if goal == "control":
            return judge_control(so_far, looks, smallest).decided
        return judge_ratios(so_far, looks, smallest).decided

    return decide


def _ran(metric: float | None) -> float | None:
    """A metric, or None for a run that failed; NaN is a failure too."""
    return None if metric is None or math.isnan(metric) else metric
