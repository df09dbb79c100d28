"""What went into each step, seen where it was made, against what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Training

ROUNDING = 1e-3  # of a norm in float32


def step_faults(asked: Training, counters: dict[str, Any]) -> Iterator[str]:
    """Every mini-batch in one step, every step as large as it has to be and no larger, clipped and made as asked."""
    found, passes = counters["accumulated"], counters["backward_passes"]
    if found["batches"] != passes or found["targets"] != counters["targets"]:
        yield (
            f"training: the steps were made of {found['batches']} batches with {found['targets']} labelled nodes, but "
            f"{passes} with {counters['targets']} went through a backward pass"
        )
    if found["rests"] > counters["epochs"]:
        yield f"training: {found['rests']} steps had less than asked, more than the epochs, {counters['epochs']}"
    if asked.accumulate_targets is not None:
        yield from _by_targets(asked.accumulate_targets, found)
    else:
        yield from _by_batches(asked.accumulate, counters["batches_per_step"], found["full_batches"])
    for name, value in counters["optimiser"].items():
        yield from equal(f"training.{name}", getattr(asked, name), value)
    if asked.clip is not None:
        yield from _clipped(asked.clip, counters["clipped_to"])


def _clipped(asked: float, found: list[float]) -> Iterator[str]:
    if any(abs(ratio - 1.0) > ROUNDING for ratio in found):
        yield f"training.clip is {asked:g}, but norms after clipping were {found} times what they should be"


def _by_batches(asked: int, per_step: dict[str, float] | None, full: dict[str, float] | None) -> Iterator[str]:
    if per_step is not None and per_step["max"] > asked:
        yield f"training.accumulate is {asked}, but a step had {per_step['max']} batches"
    if full is not None and (full["min"], full["max"]) != (asked, asked):
        yield f"training.accumulate is {asked}, but steps had {full['min']} to {full['max']} batches"


def _by_targets(asked: int, found: dict[str, Any]) -> Iterator[str]:
    full = found["full_targets"]
    if full is not None and full["min"] < asked:
        yield f"training.accumulate_targets is {asked}, but a step had {full['min']} labelled nodes"
    if found["most_before_last"] >= asked:
        yield (
            f"training.accumulate_targets is {asked}, but a step that had {found['most_before_last']} labelled nodes "
            "was given one more batch"
        )
