"""Stage profiles of timing processes: joined over an arm, and compared in pairs that had the same batches."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from harness.plan.model import CONTROL
from harness.records.record import StageProfile, Stages
from harness.records.results import Block, TimedProcess, TimingResult
from harness.spec.stages import STAGES
from harness.verdicts.diagnosis_model import ArmProfile, Gain, Saving, StageTime
from harness.verdicts.disturbed import calm
from harness.verdicts.means import interval_of, mean_of
from harness.verdicts.targets import changes_batches, seconds_by_stage, share, targeted_stages

Arm = Literal["reference", "variant"]
_CONFIDENCE = 0.95

Pair = tuple[StageProfile, StageProfile]  # of a reference and of the variant beside it in the block


def arms_of(name: str, timings: Mapping[str, TimingResult]) -> list[tuple[TimingResult, Arm]]:
    """Every arm in which a cell was timed: as a reference, as the variant, and in the control as both."""
    arms: list[tuple[TimingResult, Arm]] = [(t, "reference") for t in timings.values() if t.reference == name]
    control = timings.get(CONTROL)
    as_variant = control if control is not None and control.reference == name else timings.get(name)
    return arms if as_variant is None else [*arms, (as_variant, "variant")]


def arm_profile(name: str, arms: Iterable[tuple[TimingResult, Arm]]) -> ArmProfile | None:
    """All profiles of one cell as one, the processes of every timing job in which it was an arm.

    Processes of disturbed blocks are left out, unless all are.

    Returns:
        None where nothing recorded its stages. Results without a profile for each process give their means alone.
    """
    arms = list(arms)
    every = [(p, block.disturbed) for timing, arm in arms for block in timing.blocks for p in _profiled([block], arm)]
    processes = [p for p, disturbed in every if not disturbed] or [p for p, _ in every]
    disturbed = all(of_disturbed for _, of_disturbed in every)
    found = [p.profile.stages for p in processes if p.profile is not None]
    counted = len(found)
    if not found:
        found = [s for timing, arm in arms if (s := _mean_stages(timing, arm)) is not None]
        disturbed = any(block.disturbed for timing, _ in arms for block in timing.blocks)
    if not found:
        return None
    waits = [p.profile.wait_s for p in processes if p.profile is not None and p.profile.wait_s is not None]
    mean = mean_stages(found)
    times = []
    for stage in STAGES:
        shares = [share(s, (stage,)) for s in found]
        seconds = seconds_by_stage(mean)[stage]
        times.append(
            StageTime(
                stage=stage, seconds=seconds, share=share(mean, (stage,)), lowest=min(shares), highest=max(shares)
            )
        )
    return ArmProfile(
        name=name,
        processes=counted,
        left_out=len(every) - len(processes),
        disturbed=disturbed,
        stages=times,
        wait_s=statistics.fmean(waits) if waits else None,
        slower=_slower(processes),
    )


def mean_stages(many: Sequence[Stages]) -> Stages:
    """Mean seconds of each stage."""
    return Stages(**{name: statistics.fmean(getattr(s, name) for s in many) for name in Stages.model_fields})


def arm_stages(timing: TimingResult, arm: Arm) -> tuple[Stages | None, bool]:
    """Mean seconds of each stage of one arm of one timing, and whether they are of disturbed blocks.

    Disturbed blocks are left out, unless all are; results without a profile for each process give the mean over all.
    """
    blocks, disturbed = calm(timing.blocks)
    found = [p.profile.stages for p in _profiled(blocks, arm) if p.profile is not None]
    if found:
        return mean_stages(found), disturbed
    return _mean_stages(timing, arm), any(block.disturbed for block in timing.blocks)


def stages_of(profile: ArmProfile) -> Stages:
    """Mean seconds of each stage of an arm."""
    return Stages(**{f"{time.stage}_s": time.seconds for time in profile.stages})


def gain_of(timing: TimingResult, patch: Mapping[str, Any]) -> Gain | None:
    """Where a variant's time went; None where its stages or its reference's were not recorded.

    Seconds are compared only between epochs of the same number, and of the same batches unless the patch changes them.
    """
    blocks, disturbed = calm(timing.blocks)
    pairs = _pairs(blocks)
    if not pairs:  # only means over all blocks are known
        disturbed = any(block.disturbed for block in timing.blocks)
    means = timing.reference_stages, timing.variant_stages
    stages = [(a.stages, b.stages) for a, b in pairs]
    if not stages and means[0] is not None and means[1] is not None:
        stages = [(means[0], means[1])]
    if not stages:
        return None
    waits = [ours.wait_s for _, ours in pairs if ours.wait_s is not None]
    same_epoch = all(a.epoch == b.epoch for a, b in pairs) if pairs else None
    same = same_epoch and all(a.batches_crc32 == b.batches_crc32 for a, b in pairs)
    comparable = same is not False or (same_epoch and changes_batches(patch))
    return Gain(
        variant=timing.variant,
        reference=timing.reference,
        savings=_savings(stages, targeted_stages(patch)) if comparable else [],
        disturbed=disturbed,
        wait_s=statistics.fmean(waits) if waits else None,
        slower=_slower(_profiled(blocks, "variant")),
        same_epoch=same_epoch,
        same_batches=same,
        nodes_ratio=_ratio(sum(a.nodes for a, _ in pairs), sum(b.nodes for _, b in pairs)),
        edges_ratio=_ratio(sum(a.edges for a, _ in pairs), sum(b.edges for _, b in pairs)),
    )


def _savings(pairs: Sequence[tuple[Stages, Stages]], targets: Sequence[str]) -> list[Saving]:
    savings = []
    for stage in STAGES:
        saved = [seconds_by_stage(a)[stage] - seconds_by_stage(b)[stage] for a, b in pairs]
        savings.append(
            Saving(
                stage=stage,
                seconds=mean_of(saved).mean,
                ci=interval_of([mean_of(saved)], _CONFIDENCE),
                expected=stage in targets,
            )
        )
    return savings


def _pairs(blocks: Sequence[Block]) -> list[Pair]:
    """Of every block the first reference with the first variant, and the second ones: neighbours in A B B A."""
    pairs: list[Pair] = []
    for block in blocks:
        arms = {arm: [p.profile for p in block.processes if p.arm == arm] for arm in ("reference", "variant")}
        pairs += [(a, b) for a, b in zip(arms["reference"], arms["variant"], strict=False) if a and b]
    return pairs


def _profiled(blocks: Sequence[Block], arm: Arm) -> list[TimedProcess]:
    return [p for block in blocks for p in block.processes if p.arm == arm and p.profile is not None]


def _slower(processes: Sequence[TimedProcess]) -> float | None:
    """A profile epoch over the same process's median timed epoch; the median over processes."""
    found = [
        p.profile.seconds / median
        for p in processes
        if p.profile is not None and p.epoch_s and (median := statistics.median(p.epoch_s)) > 0.0
    ]
    return statistics.median(found) if found else None


def _mean_stages(timing: TimingResult, arm: Arm) -> Stages | None:
    return timing.reference_stages if arm == "reference" else timing.variant_stages


def _ratio(reference: int, variant: int) -> float | None:
    return variant / reference if reference else None
