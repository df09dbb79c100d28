"""What runs recorded: counters, stages, memory and loss curves, with their spread over runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from harness.records.record import Record, Stages
from harness.spec.claims import Measure
from harness.spec.stages import STAGES
from harness.verdicts.claims.conditions import refuse_disturbed
from harness.verdicts.claims.intervals import Interval, exact, mean_interval, ratio_interval
from harness.verdicts.claims.results import NotMeasured, SpecResults, refuse_unlike
from harness.verdicts.speed import ratio_confidence

_FEWEST_EPOCHS = 4  # in the half of a loss curve that is looked at


def counter(measure: Measure, results: SpecResults, _: SpecResults) -> Interval:
    """Mean of what the runs recorded under `path`, divided by `over` run by run; of the graph's metadata as it is."""
    path = measure.path or ""
    if path.startswith("dataset."):
        return exact(_number(results.dataset(), path.removeprefix("dataset.")))
    if measure.runs == "timing":
        records = results.timing_records(measure.variant)
    else:
        records = list(results.quality_records(measure.variant).values())
    return mean_interval([_value(record, measure) for record in records])


def counter_ratio(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """Likewise, reference over variant, seed by seed."""
    return ratio_interval(
        [_log(_value(r, measure), _value(v, measure)) for r, v in _pairs(measure, results, reference)]
    )


def loss_jitter_ratio(measure: Measure, results: SpecResults, reference: SpecResults) -> Interval:
    """How far the training loss leaps about its trend, reference over variant, seed by seed."""
    pairs = _pairs(measure, results, reference)
    return ratio_interval([_log(jitter(_losses(r)), jitter(_losses(v))) for r, v in pairs])


def jitter(losses: Sequence[float]) -> float:
    """Root mean square of second differences, over the second half of the epochs: 0 for a straight line."""
    half = losses[len(losses) // 2 :]
    if len(half) < _FEWEST_EPOCHS:
        raise NotMeasured("failed", f"{len(losses)} epochs are too few for the jitter of their loss")
    second = [a - 2 * b + c for a, b, c in zip(half, half[1:], half[2:], strict=False)]
    return math.sqrt(math.fsum(x * x for x in second) / len(second))


def stage_share(measure: Measure, results: SpecResults, _: SpecResults) -> Interval:
    """Share of the stages in a step, over the processes that were timed."""
    timing = results.timing(measure.variant)
    refuse_disturbed(timing, results, timing.blocks)
    stages = [_stages(record) for record in results.timing_records(measure.variant)]
    return mean_interval([_seconds(s, measure.stages) / _seconds(s, STAGES) for s in stages])


def stage_ratio(measure: Measure, results: SpecResults, _: SpecResults) -> Interval:
    """Seconds of the stages, reference over variant, over the halves of the timing blocks."""
    timing = results.timing(measure.variant)
    if timing.reference != measure.reference_name:
        raise NotMeasured("failed", f"`{measure.variant}` was timed against `{timing.reference}`")
    refuse_disturbed(timing, results, timing.blocks)
    seconds = [
        (_seconds(_stages(reference), measure.stages), _seconds(_stages(variant), measure.stages))
        for reference, variant in results.block_pairs(measure.variant)
    ]
    return ratio_interval([_log(*pair) for pair in seconds], ratio_confidence(results.plan.timing.looks))


def peak_over_formula(measure: Measure, results: SpecResults, _: SpecResults) -> Interval:
    """Measured peak over (F·N + 16·E)·4·L bytes, over the processes that were timed.

    F features, L layers; N and E are the mean nodes and edges of a batch, which are what is in memory at one time.
    """
    return mean_interval([_over_formula(record) for record in results.timing_records(measure.variant)])


def _over_formula(record: Record) -> float:
    batches = _number(record.counters, "batches")
    nodes, edges = (_number(record.counters, key) / batches for key in ("nodes", "edges"))
    expected = (_number(record.data, "num_features") * nodes + 16.0 * edges) * 4.0 * record.model.layers
    if record.memory is None:
        raise NotMeasured("failed", f"run {record.run_id} has no peak")
    return record.memory.peak_bytes / expected


def _pairs(measure: Measure, results: SpecResults, reference: SpecResults) -> list[tuple[Record, Record]]:
    refuse_unlike(measure, results, reference)
    theirs, ours = reference.quality_records(measure.reference_name), results.quality_records(measure.variant)
    return [(theirs[seed], ours[seed]) for seed in sorted(theirs.keys() & ours.keys())]


def _value(record: Record, measure: Measure) -> float:
    content = record.model_dump(include={"counters", "metrics", "memory"})
    value = _number(content, measure.path or "")
    if measure.over is None:
        return value
    divisor = _number(content, measure.over)
    if divisor == 0.0:
        raise NotMeasured("failed", f"{measure.over} is 0")
    return value / divisor


def _number(content: Any, path: str) -> float:
    """The number at a dotted path; in a list by position, from the end where negative."""
    found = content
    for part in path.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list | tuple) and _position(part, len(found)) is not None:
            found = found[int(part)]
        else:
            raise NotMeasured("failed", f"the runs recorded no {path}")
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise NotMeasured("failed", f"{path} is no number in every run")
    return float(found)


def _position(part: str, length: int) -> int | None:
    digits = part.removeprefix("-")
    return int(part) if digits.isdigit() and -length <= int(part) < length else None


def _log(reference: float, variant: float) -> float:
    if reference <= 0.0 or variant <= 0.0:
        raise NotMeasured("failed", f"a ratio of {reference:g} and {variant:g} says nothing")
    return math.log(reference / variant)


def _losses(record: Record) -> Sequence[float]:
    return [] if record.metrics is None else record.metrics.train_loss


def _stages(record: Record) -> Stages:
    if record.stages is None:
        raise NotMeasured("failed", f"the stages of run {record.run_id} were not looked at")
    return record.stages


def _seconds(stages: Stages, names: Iterable[str]) -> float:
    return math.fsum(float(getattr(stages, f"{name}_s")) for name in names)
