"""What pairs of runs and blocks of timing say: accuracy, its spread over seeds, speed and memory."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from harness.plan.model import BASELINE
from harness.records.results import SeedRun, TimingResult
from harness.spec.claims import Measure
from harness.verdicts.claims.conditions import refuse_disturbed, refuse_unsteady_peaks
from harness.verdicts.claims.intervals import (
    Interval,
    exact,
    mean_interval,
    ratio_interval,
    sd_ratio,
    welch_ratio,
)
from harness.verdicts.claims.results import NotMeasured, SpecResults, ended_well, refuse_unlike
from harness.verdicts.half_node import half_node_pp
from harness.verdicts.memory import judge_memory
from harness.verdicts.non_inferiority import identical_is_evidence, paired_differences
from harness.verdicts.sequential import alpha_per_look
from harness.verdicts.speed import judge_ratios, ratio_confidence
from harness.verdicts.time_to_reference import Curve

_OVERALL = 0.05  # two-sided, over all looks
_MACHINE = ("cpu", "device_name", "torch", "engine")


def accuracy_delta_pp(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Variant minus reference in percentage points, over the pairs of the last completed look.

    The level is that of one look among those declared, so that the interval holds at 95 % whichever look the runs
    stopped at. The standard deviation is at least half a test node, unless all predictions are equal and
    that is evidence, as for a verdict: the parity check found it too, or they are many.
    """
    pairs, level = _counted(_pairs(measure, results, reference), results), _pair_level(results, reference)
    d = paired_differences([_metric(r) for r, _ in pairs], [_metric(v) for _, v in pairs])
    identical = all(r.predictions_sha256 is not None and r.predictions_sha256 == v.predictions_sha256 for r, v in pairs)
    arm = results.arm(measure.variant)
    known = arm.reference == measure.reference_name and arm.parity is not None and arm.parity.ok
    alpha = (1.0 - level) / 2.0
    evident = known or identical_is_evidence(len(d), arm.test_nodes, alpha, results.plan.gate.max_drop_pp)
    least = half_node_pp(arm.test_nodes) if arm.test_nodes and not (identical and evident and not any(d)) else 0.0
    return mean_interval(d, level, least)


def sd_ratio_of_pairs(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Standard deviation over seeds, reference over variant: above 1 the variant's runs are more alike."""
    pairs = _counted(_pairs(measure, results, reference), results)
    return sd_ratio([_metric(r) for r, _ in pairs], [_metric(v) for _, v in pairs], _pair_level(results, reference))


def epochs_to_reference_ratio(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Epochs until the reference's validation accuracy at its chosen epoch, reference over variant.

    Pairs count as scattered by at least half an evaluation's step, which is as well as an epoch is known.
    """
    pairs = _counted(_pairs(measure, results, reference), results)
    trainings = [r.plan.cells[name].training for r, name in _arms(measure, results, reference)]
    ratios, epochs = [], []
    for theirs, ours in pairs:
        curves = Curve(theirs.val_accuracy, trainings[0]), Curve(ours.val_accuracy, trainings[1])
        target = curves[0].at(theirs.best_epoch) if theirs.best_epoch is not None else None
        if target is None:
            raise NotMeasured("missing", "validation curves were not recorded")
        first, reached = curves[0].first(target), curves[1].first(target)
        if first is None or reached is None:
            raise NotMeasured(
                "failed", f"seed {ours.seed} of `{measure.variant}` never reached its reference's accuracy"
            )
        ratios.append(math.log(first / reached))
        epochs.append(reached)
    least = 0.5 * trainings[1].eval_every / statistics.fmean(epochs)
    return ratio_interval(ratios, _pair_level(results, reference), least)


def speed_ratio(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Seconds of a steady-state epoch, reference over variant, at the look that the verdict counts."""
    return _ratio(measure, results, reference, memory=False)


def memory_ratio(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Peak bytes over the base, reference over variant, likewise."""
    return _ratio(measure, results, reference, memory=True)


def _arms(measure: Measure, results: SpecResults, reference: SpecResults) -> tuple[tuple[SpecResults, str], ...]:
    return (reference, measure.reference_name), (results, measure.variant)


def _pairs(measure: Measure, results: SpecResults, reference: SpecResults) -> list[tuple[SeedRun, SeedRun]]:
    """Reference and variant of each seed that both have run, in seed order.

    Raises:
        NotMeasured: an arm is missing, a run did not end well, or the arms must not be compared.
    """
    refuse_unlike(measure, results, reference)
    ours, theirs = results.runs(measure.variant), reference.runs(measure.reference_name)
    seeds = sorted(ours.keys() & theirs.keys())
    variant = ended_well(measure.variant, (ours[seed] for seed in seeds))
    return list(zip(ended_well(measure.reference_name, (theirs[seed] for seed in seeds)), variant, strict=True))


def _counted(pairs: list[tuple[SeedRun, SeedRun]], results: SpecResults) -> list[tuple[SeedRun, SeedRun]]:
    """Those of the last completed look."""
    looks = results.plan.seeds.looks
    complete = [look for look in looks if look <= len(pairs)]
    if not complete:
        raise NotMeasured("missing", f"{len(pairs)} of the first look's {looks[0]} pairs have run")
    return pairs[: complete[-1]]


def _pair_level(results: SpecResults, reference: SpecResults) -> float:
    """Of one look; of two specs that stop at different ones, the stricter."""
    return 1.0 - min(alpha_per_look(r.plan.seeds.looks, _OVERALL, sides=2) for r in (results, reference))


def _metric(run: SeedRun) -> float:
    if run.metric is None:
        raise NotMeasured("failed", f"the metric of seed {run.seed} is undefined on this test set")
    return run.metric


def _ratio(measure: Measure, results: SpecResults, reference: SpecResults, memory: bool) -> Interval:
    if reference is not results:
        raise NotMeasured("failed", "speed and memory are compared within one spec")
    variant, other = measure.variant, measure.reference_name
    if variant == other:
        return exact(1.0)
    direct = None if variant == BASELINE else results.timing(variant)
    if direct is not None and direct.reference == other:
        return _judged(direct, results, memory)
    second = results.timing(other)
    if second.reference == variant:
        found = _judged(second, results, memory)
        return Interval(1.0 / found.value, 1.0 / found.upper, 1.0 / found.lower, found.level, found.n)
    if direct is None or direct.reference != second.reference:
        raise NotMeasured("failed", f"`{variant}` and `{other}` were not timed against the same reference")
    _same_machine(direct, second)
    ours, theirs = (_counted_ratios(timing, results, memory) for timing in (direct, second))
    return welch_ratio(ours, theirs, ratio_confidence(results.plan.timing.looks))


def _judged(timing: TimingResult, results: SpecResults, memory: bool) -> Interval:
    """As the verdict has it."""
    gate, looks = results.plan.gate, results.plan.timing.looks
    if memory:
        found = judge_memory(timing.memory_log_ratios, looks, gate.min_memory_saving, exact=timing.memory_exact)
    else:
        found = judge_ratios(timing.log_ratios, looks, gate.min_speedup)
    if found.interval is None:
        have = len(timing.memory_log_ratios if memory else timing.log_ratios)
        raise NotMeasured("missing", f"{have} of the first look's {looks[0]} ratios of `{timing.variant}` are there")
    counted = found.interval
    if memory:
        refuse_unsteady_peaks(timing, results)
    else:
        refuse_disturbed(timing, results, timing.blocks[: counted.n // 2])
    return Interval(counted.ratio, counted.lower, counted.upper, counted.confidence, counted.n)


def _counted_ratios(timing: TimingResult, results: SpecResults, memory: bool) -> Sequence[float]:
    ratios = timing.memory_log_ratios if memory else timing.log_ratios
    return ratios[: _judged(timing, results, memory).n]


def _same_machine(one: TimingResult, other: TimingResult) -> None:
    was: dict[str, tuple[Any, Any]] = {"threads": (one.threads, other.threads)}
    was |= {key: (one.environment.get(key), other.environment.get(key)) for key in _MACHINE}
    for what, (a, b) in was.items():
        if a != b:
            raise NotMeasured("failed", f"not comparable: {what} of `{one.variant}` is {a}, of `{other.variant}` {b}")
