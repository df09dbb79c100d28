"""All results of a spec to its verdicts: one pass over the comparisons, then what they amount to together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from harness.plan.confirmation import plan_id
from harness.plan.confirmed import Confirmed
from harness.plan.model import BASELINE, CONTROL, Comparison, Plan, Skipped
from harness.plan.version import uses_metis
from harness.records.data_version import DataVersion
from harness.records.one_line import one_line
from harness.records.results import DecisionRule, SeedRun, TimingResult, VariantResult
from harness.verdicts.comparable import (
    Remedy,
    arms_difference,
    disk_reads_difference,
    quality_difference,
    timing_difference,
)
from harness.verdicts.confirmation import confirmation_of
from harness.verdicts.control import control_memory, summarise_control
from harness.verdicts.costs import cell_epoch, costs_of, epoch_seconds, measured_over_estimated, peak_bytes
from harness.verdicts.dataset_label import dataset_label
from harness.verdicts.diagnosis import diagnose
from harness.verdicts.disturbed import causes, disturbed
from harness.verdicts.exploratory import exploratory_reason
from harness.verdicts.means import sample_sd
from harness.verdicts.memory import judge_memory
from harness.verdicts.model import (
    ComparisonVerdict,
    Control,
    FailedRun,
    MemoryUse,
    ReferenceSummary,
    Speed,
    TimeToReference,
    Verdict,
    Verdicts,
)
from harness.verdicts.order_effect import order_of
from harness.verdicts.over_smoothing import spread_note
from harness.verdicts.pairs import Quality, failed_runs, judge_quality
from harness.verdicts.profiles import arms_of
from harness.verdicts.recommend import recommend
from harness.verdicts.rule import Findings, verdict
from harness.verdicts.sequential import alpha_per_look
from harness.verdicts.speed import judge_ratios
from harness.verdicts.time_to_reference import time_to_reference
from harness.verdicts.training_curves import curves_note
from harness.verdicts.warnings import measure_test_set, memory_warnings, warnings_of
from harness.verdicts.wording import plural, ratio_text


def analyze(
    plan: Plan,
    variants: Mapping[str, VariantResult],
    timings: Mapping[str, TimingResult],
    confirmed: Confirmed | None = None,
) -> Verdicts:
    """Judge every planned comparison, and list the skipped ones.

    Args:
        plan: what was to run.
        variants: quality results by name, the references' among them; what is missing is not run yet, so undecided.
        timings: timing results by name, the control's under `control`.
        confirmed: what confirms the recommendation, as far as it has been run.

    Returns:
        The content of `verdicts.json`; comparisons in the plan's order, skipped ones last.
    """
    control_timing = timings.get(CONTROL)
    control = summarise_control(control_timing, plan.gate, plan.timing)
    comparisons = [_compare(c, plan, variants, timings, control) for c in plan.comparisons]
    comparisons += [_skipped(s) for s in plan.skipped]
    recommended = recommend(comparisons, plan)
    confirmation = confirmation_of(
        plan,
        recommended,
        confirmed,
        control_timing,
        control,
        lambda c, within, v, t: _compare(c, within, v, t, control),
    )
    references = [
        _reference(name, variants, timings)
        for name in dict.fromkeys([BASELINE, *(c.reference for c in plan.comparisons)])
    ]
    test_set = measure_test_set(plan, variants)
    return Verdicts(
        spec=plan.spec,
        plan_id=plan_id(plan),
        description=plan.description,
        dataset=dataset_label(plan.dataset.dataset),
        design=plan.design,
        gate=plan.gate,
        looks=list(plan.seeds.looks),
        alpha_per_look=alpha_per_look(plan.seeds.looks, plan.gate.alpha),
        timing=plan.timing,
        device=_device(variants, timings),
        test_set=test_set,
        references=[r for r in references if r is not None],
        control=control,
        comparisons=comparisons,
        diagnosis=diagnose(plan, timings, comparisons, _device({}, timings)),
        recommended=list(recommended.names),
        recommended_patch=recommended.patch,
        recommended_note=recommended.note if confirmation is None else confirmation.note,
        confirmation=confirmation,
        warnings=warnings_of(plan, variants, timings, comparisons, control, test_set),
        data=_data(variants, timings),
        measured=_measured(variants, timings, confirmed),
        environment=_environment(control_timing, variants),
    )


def _environment(control: TimingResult | None, variants: Mapping[str, VariantResult]) -> dict[str, Any]:
    """Of the control's timing; of results that were not timed that of the first trainings."""
    if control is not None and control.environment:
        return control.environment
    return next((result.environment for result in variants.values() if result.environment), {})


def _measured(
    variants: Mapping[str, VariantResult], timings: Mapping[str, TimingResult], confirmed: Confirmed | None
) -> list[str]:
    """When the first and when the last of them ended; a confirmation's runs among them."""
    results, timed = list(variants.values()), list(timings.values())
    if confirmed is not None:
        results += confirmed.variants.values()
        timed += confirmed.timings.values()
    ends = [run.ended_at for result in results for run in (*result.runs, *result.reference_runs)]
    known = sorted(end for end in [*ends, *(timing.ended_at for timing in timed)] if end)
    return [known[0], known[-1]] if known else []


def _compare(
    comparison: Comparison,
    plan: Plan,
    variants: Mapping[str, VariantResult],
    timings: Mapping[str, TimingResult],
    control: Control,
) -> ComparisonVerdict:
    result, timing = variants.get(comparison.variant), timings.get(comparison.variant)
    cell = plan.cells.get(comparison.variant)
    patch: dict[str, Any] = cell.patch if cell is not None else {}
    quality = judge_quality(result, plan.gate, plan.seeds.looks) if result is not None else None
    speed = _speed(timing, plan)
    memory = _memory(timing, plan, timings.get(CONTROL), cell.estimate.memory_bytes if cell is not None else None)
    memory = memory.model_copy(update={"warnings": memory_warnings(result, timing)})
    failed_timing, missing_timing = _timing_trouble(timing)
    unlike = _not_comparable(comparison, plan, result, variants, timing, timings.get(CONTROL))
    reached, reason = verdict(
        Findings(
            goal=comparison.goal,
            exact=comparison.exact,
            parity=result.parity if result is not None else None,
            quality=quality,
            speed=speed,
            memory=memory,
            control=control,
            timing_failed=failed_timing,
            timing_missing=missing_timing,
            not_comparable=unlike,
            looks=plan.seeds.looks,
        ),
        plan.gate,
    )
    exploring = exploratory_reason(result, quality, DecisionRule.of(plan.gate, plan.seeds))
    return ComparisonVerdict(
        variant=comparison.variant,
        reference=comparison.reference,
        patch=patch,
        goal=comparison.goal,
        exact=comparison.exact,
        parity=result.parity if result is not None else None,
        n_pairs=_pairs_seen(quality),
        accuracy=quality.accuracy if quality is not None else None,
        speed=speed,
        order=None if timing is None else order_of(timing.blocks),
        memory=memory,
        verdict=reached,
        reason=reason,
        costs=costs_of(timing, patch, speed.state == "gain", _training_epochs(comparison, plan)),
        time_to_reference=_time_to_reference(comparison, plan, result, quality, speed, timing),
        failed=_failed(result, timing),
        **_counters(result, timing),
        notes=[
            *_notes(comparison, quality, speed, result),
            *([] if unlike else _other_goal(comparison.goal, memory, quality, reached)),
        ],
        exploratory=bool(exploring),
        exploratory_reason=exploring,
        not_comparable=unlike or "",
    )


def _pairs_seen(quality: Quality | None) -> int:
    return len(quality.judgement.pairs) if quality is not None else 0


def _not_comparable(
    comparison: Comparison,
    plan: Plan,
    result: VariantResult | None,
    variants: Mapping[str, VariantResult],
    timing: TimingResult | None,
    control: TimingResult | None,
) -> str | None:
    remedy, timed = Remedy(plan.spec), timing is not None and timing.status == "ok"
    found = None
    if result is not None:
        cells = (plan.cells.get(comparison.variant), plan.cells.get(comparison.reference))
        cut = any(cell is not None and uses_metis(cell) for cell in cells)
        found = quality_difference(result, variants.get(comparison.reference), remedy, cut)
        if found is None and timing is not None and timed:
            found = arms_difference(timing, result, remedy, cut)
    if found is None and timing is not None and timed:
        found = timing_difference(timing, control, remedy) or disk_reads_difference(timing, remedy)
    return found


def _speed(timing: TimingResult | None, plan: Plan) -> Speed:
    if timing is None:
        return Speed(state="unknown")
    judged = judge_ratios(timing.log_ratios, plan.timing.looks, plan.gate.min_speedup)
    interval = judged.interval
    counted = (interval.n if interval else len(timing.log_ratios)) // 2
    return Speed(
        ratio=interval.ratio if interval else None,
        ci=(interval.lower, interval.upper) if interval else None,
        level=interval.confidence if interval else None,
        blocks=counted,
        state=judged.state,
        narrow=judged.narrow,
        **disturbed(timing.blocks[:counted]),
        reference_epoch_s=epoch_seconds(timing, "reference"),
        variant_epoch_s=epoch_seconds(timing, "variant"),
        epochs_disturbed=cell_epoch([(timing, "variant")])[1],
    )


def _memory(
    timing: TimingResult | None, plan: Plan, control: TimingResult | None, planned_bytes: int | None
) -> MemoryUse:
    if timing is None:
        return MemoryUse(state="unknown", estimated_bytes=planned_bytes)
    noise = control_memory(control, plan.gate, plan.timing).interval
    judged = judge_memory(
        timing.memory_log_ratios,
        plan.timing.looks,
        plan.gate.min_memory_saving,
        exact=timing.memory_exact,
        control_upper=noise.upper if noise else None,
    )
    interval = judged.interval
    measured = peak_bytes(timing, "variant")
    estimated = timing.estimated_bytes if timing.estimated_bytes is not None else planned_bytes
    ratio, off = measured_over_estimated(measured, estimated)
    return MemoryUse(
        ratio=interval.ratio if interval else None,
        ci=(interval.lower, interval.upper) if interval else None,
        level=interval.confidence if interval else None,
        state=judged.state,
        exact=timing.memory_exact,
        reference_bytes=peak_bytes(timing, "reference"),
        variant_bytes=measured,
        estimated_bytes=estimated,
        measured_over_estimated=ratio,
        estimate_off=off,
    )


def _training_epochs(comparison: Comparison, plan: Plan) -> tuple[int, int] | None:
    """That the spec asks of reference and variant."""
    cells = plan.cells.get(comparison.reference), plan.cells.get(comparison.variant)
    return None if cells[0] is None or cells[1] is None else (cells[0].training.epochs, cells[1].training.epochs)


def _time_to_reference(
    comparison: Comparison,
    plan: Plan,
    result: VariantResult | None,
    quality: Quality | None,
    speed: Speed,
    timing: TimingResult | None,
) -> TimeToReference | None:
    """Over the pairs that count, else over all complete ones."""
    cells = plan.cells.get(comparison.reference), plan.cells.get(comparison.variant)
    if result is None or quality is None or cells[0] is None or cells[1] is None:
        return None
    seeds = [s.seed for s in quality.accuracy.seeds if s.counted] or [s.seed for s in quality.accuracy.seeds]
    reference, variant = ({run.seed: run for run in runs} for runs in (result.reference_runs, result.runs))
    return time_to_reference(
        [(reference[seed], variant[seed]) for seed in seeds],
        cells[0].training,
        cells[1].training,
        speed.reference_epoch_s,
        speed.variant_epoch_s,
        timing.log_ratios[: 2 * speed.blocks] if timing is not None else (),
    )


def _timing_trouble(timing: TimingResult | None) -> tuple[str | None, str | None]:
    """Why the variant failed while timed, or why there is no timing for another reason."""
    if timing is None:
        return None, "it was not timed"
    if timing.status == "ok":
        return None, None
    reason = one_line(timing.reason) or timing.status
    if timing.status == "dnf":
        return reason, None
    failed = next((run for run in _failed_timing(timing) if run.arm == "reference"), None)
    if failed is None:
        return None, f"timing was skipped: {reason}"
    ending = f"{failed.status}: {failed.message}" if failed.message else failed.status
    return None, f"the reference failed while it was timed: {ending}"


def _counters(result: VariantResult | None, timing: TimingResult | None) -> dict[str, Any]:
    """What one run of the variant counted, and which: the last timing process that did, else a quality run."""
    if timing is not None and timing.counters:
        timed = [p.run_id for b in timing.blocks for p in b.processes if p.arm == "variant" and p.status == "ok"]
        return {"counters": timing.counters, "counters_run": timed[-1] if timed else ""}
    if result is None or not result.counters or not result.runs:
        return {}
    first = next((run for run in result.runs if run.status == "ok"), result.runs[0])
    return {"counters": result.counters, "counters_run": first.run_id}


def _failed(result: VariantResult | None, timing: TimingResult | None) -> list[FailedRun]:
    if result is None:
        return _failed_timing(timing)
    return [
        *failed_runs("reference", result.reference_runs),
        *failed_runs("variant", result.runs),
        *_failed_timing(timing),
    ]


def _failed_timing(timing: TimingResult | None) -> list[FailedRun]:
    return [
        FailedRun(
            arm=process.arm,
            purpose="timing",
            run_id=process.run_id,
            status=process.status,
            message=one_line(process.message),
        )
        for block in (timing.blocks if timing is not None else [])
        for process in block.processes
        if process.status != "ok"
    ]


def _other_goal(
    goal: Literal["speed", "memory"], memory: MemoryUse, quality: Quality | None, reached: Verdict
) -> list[str]:
    """A saving of memory that is shown, of a variant that was asked for speed and is not accepted for it."""
    passes = quality is not None and quality.accuracy.state == "pass"
    if goal != "speed" or reached not in ("no-gain", "inconclusive") or not passes:
        return []
    if memory.state != "gain" or memory.ratio is None:
        return []
    return [f"saves memory {ratio_text(memory.ratio)} times; with goal: memory it would be judged by that"]


def _notes(comparison: Comparison, quality: Quality | None, speed: Speed, result: VariantResult | None) -> list[str]:
    notes = list(quality.notes) if quality is not None else []
    notes += [note for note in (spread_note(result), curves_note(result)) if note is not None]
    if comparison.goal == "memory" and speed.ratio is not None:
        unsettled = " by this sample, which does not settle it" if speed.state == "unknown" else ""
        notes.append(f"it trains {ratio_text(speed.ratio)} times as fast{unsettled}")
    if speed.narrow and speed.state == "unknown":
        notes.append("timing stopped because the interval is narrow: more blocks would not move it off the line")
    if speed.disturbed_blocks:
        count = plural(speed.disturbed_blocks, "timing block")
        notes.append(f"{count} kept though disturbed: {causes(speed.disturbed_by)}")
    if speed.unsettled_processes:
        of = f"{speed.unsettled_processes} of {4 * speed.blocks}"
        notes.append(f"the epochs of {of} timing processes never settled: time more of them")
    return notes


def _skipped(skipped: Skipped) -> ComparisonVerdict:
    return ComparisonVerdict(
        variant=skipped.variant,
        reference=BASELINE,
        patch=skipped.patch,
        speed=Speed(state="unknown"),
        memory=MemoryUse(state="unknown"),
        verdict="skipped",
        reason=skipped.reason,
    )


def _reference(
    name: str, variants: Mapping[str, VariantResult], timings: Mapping[str, TimingResult]
) -> ReferenceSummary | None:
    """A reference by itself; from a variant's file where it has none of its own."""
    runs: list[SeedRun] | None = variants[name].runs if name in variants else None
    if runs is None:
        runs = next((v.reference_runs for _, v in sorted(variants.items()) if v.reference == name), None)
    if runs is None:
        return None
    reached = [run.metric for run in runs if run.status == "ok" and run.metric is not None]
    mean = math.fsum(reached) / len(reached) if reached else None
    epoch_s, disturbed_epochs = cell_epoch(arms_of(name, timings))
    return ReferenceSummary(
        name=name,
        n=len(reached),
        mean=mean,
        sd_pp=_sd_pp(reached),
        epoch_s=epoch_s,
        epoch_disturbed=disturbed_epochs,
        failed=failed_runs("reference", runs),
    )


def _sd_pp(values: list[float]) -> float | None:
    return 100.0 * sample_sd(values) if len(values) > 1 else None


def _data(variants: Mapping[str, VariantResult], timings: Mapping[str, TimingResult]) -> DataVersion | None:
    """Of the reference, which comes first; what is of other data is not compared with it."""
    recorded = [r.data for r in variants.values()] + [r.data for r in timings.values()]
    return next((data for data in recorded if data is not None), None)


def _device(variants: Mapping[str, VariantResult], timings: Mapping[str, TimingResult]) -> str:
    devices = [v.device for v in variants.values()] + [t.device for t in timings.values()]
    return " and ".join(sorted({device.split(":", 1)[0] for device in devices}))
