"""Two results folders as the harness leaves them, of which one place is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.plan.model import Comparison, Plan
from harness.records.results import TimingResult, VariantResult
from harness.spec.options import Options
from harness.verdicts.across.folder import ResultsFolder
from harness.verdicts.analyze import analyze
from tests.verdicts.results import ENVIRONMENT, FAST, SAME, plan_of, quality_of, runs_of, timing_of

A_METRICS = [0.700, 0.704, 0.698, 0.702, 0.701]
OLD = ENVIRONMENT | {"torch": "2.12.0", "numpy": "2.1.0", "engine": "3"}
NEW = OLD | {"torch": "2.13.0"}
NAME = "thin"


def plan(**changes: Any) -> Plan:
    made = plan_of(Comparison(variant=NAME), **changes)
    thin = made.cells[NAME].model_copy(update={"options": Options(checkpointing=True)})
    return made.model_copy(update={"cells": made.cells | {NAME: thin}})


def folder(
    name: str = "a",
    *,
    environment: Mapping[str, Any] = OLD,
    baseline: Sequence[float | str | None] = A_METRICS,
    variant: Sequence[float | str | None] = A_METRICS,
    ratios: Sequence[float] = FAST,
    quality: Mapping[str, Any] | None = None,
    made: Plan | None = None,
) -> ResultsFolder:
    """A baseline and a variant `thin`, with the control.

    Args:
        name: of the folder.
        environment: of all runs.
        baseline, variant: the metric of each seed; a status for a run that failed.
        ratios: of the timing of the variant.
        quality: changes of both quality results.
        made: the plan; by default one comparison.
    """
    made = made or plan()
    common = {"environment": dict(environment)} | dict(quality or {})
    of_baseline = quality_of("baseline", metrics=list(baseline), **common)
    of_variant = quality_of(NAME, metrics=list(variant), reference=list(baseline), **common)
    variants: dict[str, VariantResult] = {
        "baseline": of_baseline.model_copy(update={"reference": None, "reference_runs": []}),
        NAME: of_variant,
    }
    shared = {key: value for key, value in common.items() if key in ("fingerprint", "data", "environment")}
    timings: dict[str, TimingResult] = {
        "control": timing_of("baseline", SAME, **shared),
        NAME: timing_of(NAME, list(ratios), **shared),
    }
    return ResultsFolder(name, made, variants, timings, analyze(made, variants, timings))


def with_hash(found: ResultsFolder, digest: str) -> ResultsFolder:
    """The same with one hash of predictions for all runs."""
    changed = {
        name: result.model_copy(
            update={
                "runs": [run.model_copy(update={"predictions_sha256": digest}) for run in result.runs],
                "reference_runs": [r.model_copy(update={"predictions_sha256": digest}) for r in result.reference_runs],
            }
        )
        for name, result in found.variants.items()
    }
    return ResultsFolder(found.name, found.plan, changed, found.timings, found.verdicts)


def less(metrics: Sequence[float], pp: float) -> list[float]:
    """All of them lower by so many percentage points."""
    return [metric - pp / 100.0 for metric in metrics]


__all__ = ["A_METRICS", "FAST", "NAME", "NEW", "OLD", "folder", "less", "plan", "runs_of", "with_hash"]
