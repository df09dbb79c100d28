"""What stands beside a gain: one-off costs, the ceiling that the stages allow, memory as expected and as measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from harness.plan.estimate import OVER
from harness.records.record import Stages
from harness.records.results import TimingResult
from harness.verdicts.model import Costs
from harness.verdicts.profiles import Arm, arm_stages
from harness.verdicts.targets import share, targeted_stages
from harness.verdicts.total_cost import total_cost

_LEAST = 0.5  # of the estimated memory: below, the estimate kept somebody from a run that fits
HIGHEST_CEILING = 10.0  # beyond it the bound tells nothing that anyone would come near


def costs_of(
    timing: TimingResult | None, patch: Mapping[str, Any], faster: bool, epochs: tuple[int, int] | None = None
) -> Costs:
    """One-off costs with the epochs that earn them back, a whole training's cost, and Amdahl's ceiling.

    Args:
        faster: the speed-up is shown; else nothing can be said to earn anything back.
        epochs: that reference and variant are asked to train; None where that is not known.
    """
    if timing is None:
        return Costs(targets=list(targeted_stages(patch)))
    targets = targeted_stages(patch)
    reference_stages, disturbed = arm_stages(timing, "reference")
    variant_stages, _ = arm_stages(timing, "variant")
    once, reference_once = (math.fsum(s.values()) for s in (timing.preprocess_s, timing.reference_preprocess_s))
    reference_s, variant_s = epoch_seconds(timing, "reference"), epoch_seconds(timing, "variant")
    payoff = payoff_epochs(once - reference_once, reference_s, variant_s) if faster else None
    total = None
    if epochs is not None and reference_s is not None and variant_s is not None:
        total = total_cost(once, reference_once, variant_s, reference_s, epochs[1], epochs[0], payoff)
    return Costs(
        preprocess_s=timing.preprocess_s,
        reference_preprocess_s=timing.reference_preprocess_s,
        payoff_epochs=payoff,
        targets=list(targets),
        ceiling=amdahl_ceiling(reference_stages, targets),
        reference_stages=reference_stages,
        variant_stages=variant_stages,
        stages_disturbed=disturbed,
        total=total,
    )


def amdahl_ceiling(stages: Stages | None, targets: Iterable[str]) -> float | None:
    """The speed-up if the targeted stages took no time: 1 / (1 − their share) (Amdahl 1967).

    Returns:
        None without stages or targets; where `compute` is among the targets, since no option does away with the
        network itself; and where the bound is above 10, which binds nothing.
    """
    targets = tuple(targets)
    if stages is None or not targets or "compute" in targets:
        return None
    found = bound(share(stages, targets))
    return found if found is not None and found <= HIGHEST_CEILING else None


def bound(targeted: float) -> float | None:
    """1 / (1 − the share that takes no time); None where nothing would be left (to rounding)."""
    left = 1.0 - targeted
    return 1.0 / left if left > 1e-9 else None


def payoff_epochs(extra_s: float, reference_epoch_s: float | None, variant_epoch_s: float | None) -> float | None:
    """Epochs after which one-off costs are earned back; None where there are none, or the variant saves nothing.

    Args:
        extra_s: one-off costs of the variant less those of the reference, seconds.
        reference_epoch_s, variant_epoch_s: of a steady-state epoch.
    """
    if extra_s <= 0.0 or reference_epoch_s is None or variant_epoch_s is None:
        return None
    saved = reference_epoch_s - variant_epoch_s
    return extra_s / saved if saved > 0.0 else None


def epoch_seconds(timing: TimingResult, arm: Literal["reference", "variant"]) -> float | None:
    """Median seconds of a steady-state epoch of one arm of one timing; of disturbed blocks only where all are."""
    return cell_epoch([(timing, arm)])[0]


def cell_epoch(arms: Iterable[tuple[TimingResult, Arm]]) -> tuple[float | None, bool]:
    """Median seconds of a steady-state epoch over the processes of all timing jobs in which a cell was an arm.

    Epochs of disturbed blocks are left out, unless all are: the rule by which stages are looked at as well.

    Returns:
        The median, None where nothing was timed; and whether it is of disturbed blocks.
    """
    every = [
        (seconds, block.disturbed)
        for timing, arm in arms
        for block in timing.blocks
        for process in block.processes
        if process.arm == arm
        for seconds in process.epoch_s
    ]
    kept = [seconds for seconds, disturbed in every if not disturbed]
    seconds = kept or [s for s, _ in every]
    return (statistics.median(seconds) if seconds else None), bool(every) and not kept


def peak_bytes(timing: TimingResult, arm: Literal["reference", "variant"]) -> int | None:
    """Median peak of the processes of an arm."""
    peaks = [p.peak_bytes for block in timing.blocks for p in block.processes if p.arm == arm and p.peak_bytes]
    return int(statistics.median(peaks)) if peaks else None


def measured_over_estimated(measured: int | None, estimated: int | None) -> tuple[float | None, bool]:
    """The measured peak over the expected one, and whether it is over 1.5 times that, or under half of it."""
    if not measured or not estimated:
        return None, False
    ratio = measured / estimated
    return ratio, not _LEAST <= ratio <= OVER
