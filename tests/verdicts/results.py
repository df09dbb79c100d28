"""Plans and results as the planner and the jobs leave them, for tests of the analyser."""

from __future__ import annotations

import math
from typing import Any

from harness.plan.model import Cell, Comparison, DatasetPlan, Plan, Skipped
from harness.records.results import Block, Parity, SeedRun, TimedProcess, TimingResult, VariantResult
from harness.spec.dataset import Builtin
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Gate, Limits, Seeds, Timing

PASSING = [0.1, -0.2, 0.0, -0.3, 0.2]
UNDECIDED = [0.1, -0.7, 0.4, -0.9, 0.3]
FAILING = [-1.2, -0.9, -1.4, -0.8, -1.1]
FAST = [1.40, 1.42, 1.41, 1.43]
SAME = [1.00, 1.01, 0.99, 1.00]

PARITY = Parity(state="equal", max_abs_logit=4.0, max_abs_difference=1e-6, gradient_cosine=1.0)
BROKEN_PARITY = Parity(state="differs", max_abs_logit=4.0, max_abs_difference=0.2, gradient_cosine=0.97)
ENVIRONMENT = {"torch": "2.13.0", "cpu": "a processor"}


# Of each variant in turn, unless a test says otherwise: options that go together.
OWN_OPTIONS: list[dict[str, Any]] = [
    {"features.cache_ratio": 0.3},
    {"checkpointing": True},
    {"aggregation": "spmm"},
    {"precision": "bf16-linear"},
]


def plan_of(*comparisons: Comparison, patches: dict[str, dict[str, Any]] | None = None, **changes: Any) -> Plan:
    """A plan with these comparisons; each variant patches one option of its own unless told otherwise."""
    training = changes.pop("training", Training(epochs=12))
    names = ["baseline", *(c.variant for c in comparisons)]
    patches = dict(zip(names[1:], OWN_OPTIONS, strict=False)) | (patches or {})
    cells = {
        name: Cell(
            name=name,
            cell_id=f"cell-{name}",
            model=Model(conv="sage"),
            training=training,
            options=Options(),
            patch=patches.get(name, {}),
        )
        for name in names
    }
    content: dict[str, Any] = {
        "spec": "test",
        "spec_path": "specs/test.yaml",
        "design": "one-at-a-time",
        "dataset": DatasetPlan(dataset=Builtin(source="builtin", name="wordnet"), dataset_id="d", spec_dir="specs"),
        "cells": cells,
        "comparisons": list(comparisons),
        "seeds": Seeds(looks=(5, 10, 20)),
        "gate": Gate(),
        "timing": Timing(),
        "limits": Limits(),
        "device": "cpu",
        "quality_threads": 1,
        "timing_threads": 2,
        "runs_min": 5,
        "runs_max": 20,
    }
    return Plan(**(content | changes))


def skipped(variant: str, reason: str) -> Skipped:
    return Skipped(variant=variant, reason=reason, patch={"aggregation": "spmm"})


def runs_of(metrics: list[float | str | None], prefix: str, best_epoch: int | None = 7) -> list[SeedRun]:
    """Runs of seeds 0, 1, …: a fraction, the status of a failed run, or None for an undefined metric."""
    return [
        SeedRun(seed=seed, run_id=f"{prefix}-{seed}", status=value, message=f"{value} in epoch 3")  # type: ignore[arg-type]
        if isinstance(value, str)
        else SeedRun(
            seed=seed,
            run_id=f"{prefix}-{seed}",
            status="ok",
            metric=value,
            predictions_sha256=f"{prefix}-{seed}-{value}",
            best_epoch=best_epoch,
            epochs=12,
        )
        for seed, value in enumerate(metrics)
    ]


def quality_of(
    variant: str,
    d_pp: list[float] | None = None,
    *,
    metrics: list[float | str | None] | None = None,
    reference: list[float | str | None] | None = None,
    best_epoch: int | None = 7,
    **changes: Any,
) -> VariantResult:
    """Quality results of a variant that differs from a baseline of .70 by these percentage points."""
    d_pp = PASSING if d_pp is None else d_pp
    metrics = [0.70 + d / 100.0 for d in d_pp] if metrics is None else metrics
    reference = [0.70] * len(metrics) if reference is None else reference
    content: dict[str, Any] = {
        "variant": variant,
        "cell_id": f"cell-{variant}",
        "reference": "baseline",
        "reference_cell_id": "cell-baseline",
        "runs": runs_of(metrics, variant, best_epoch),
        "reference_runs": runs_of(reference, "baseline"),
        "test_nodes": 10_000,
        "fingerprint": "f",
        "threads": 1,
        "device": "cpu",
        "environment": ENVIRONMENT,
    }
    return VariantResult(**(content | changes))


def baseline_of(best_epoch: int | None = 7, **changes: Any) -> VariantResult:
    """The baseline's own results."""
    return quality_of(
        "baseline", [0.0] * 5, best_epoch=best_epoch, **({"reference": None, "reference_cell_id": None} | changes)
    ).model_copy(update={"reference": None, "reference_runs": []})


def timing_of(
    variant: str, ratios: list[float] | None = None, *, memory: list[float] | None = None, **changes: Any
) -> TimingResult:
    """Timing results with these ratios, in blocks as a timing job makes them."""
    ratios, memory = FAST if ratios is None else ratios, SAME if memory is None else memory
    content: dict[str, Any] = {
        "variant": variant,
        "reference": "baseline",
        "status": "ok",
        "blocks": [_block(i, ratios[2 * i], ratios[2 * i + 1]) for i in range(len(ratios) // 2)],
        "log_ratios": [math.log(r) for r in ratios],
        "memory_log_ratios": [math.log(r) for r in memory],
        "threads": 2,
        "device": "cpu",
        "environment": ENVIRONMENT,
    }
    return TimingResult(**(content | changes))


def _block(index: int, first: float, second: float) -> Block:
    def process(arm: str, position: int, epoch_s: float) -> TimedProcess:
        return TimedProcess(
            arm=arm,  # type: ignore[arg-type]
            run_id=f"t-{index}-{position}",
            status="ok",
            epoch_s=[epoch_s] * 3,
            peak_bytes=1_000_000,
        )

    processes = [
        process("reference", 0, 1.0),
        process("variant", 1, 1.0 / first),
        process("variant", 2, 1.0 / second),
        process("reference", 3, 1.0),
    ]
    return Block(index=index, processes=processes, other_load=0.0)
