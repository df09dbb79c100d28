"""What of a plan is done: the states of its jobs, from the files they leave."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from harness.plan.files import variant_plans
from harness.plan.model import Plan, VariantPlan
from harness.records.results import TimingResult, VariantResult
from harness.spec.options import Frozen

Result = TypeVar("Result", bound=Frozen)


@dataclass(frozen=True)
class JobStatus:
    """One variant's jobs.

    Attributes:
        variant: name in the plan.
        runs: quality runs by status; empty where the job has not finished.
        quality: done, or missing (not run yet, or of other options).
        timing: likewise, or none for the reference, which is timed by the control.
        reason: of a timing without figures.
    """

    variant: str
    runs: dict[str, int]
    quality: str
    timing: str
    reason: str = ""


def statuses(results_dir: Path, plan: Plan) -> list[JobStatus]:
    """States of all jobs of a plan, in its order.

    Args:
        results_dir: folder of all results.
        plan: the plan as it is now; results of a variant whose options have changed since count as missing.
    """
    qualities, timings = results_there(Path(results_dir) / plan.spec, plan)
    found = []
    for name, job in variant_plans(plan).items():
        quality, timing = qualities.get(name), timings.get(name)
        has_quality = name in plan.cells
        runs = Counter[str](run.status for run in quality.runs) if quality is not None else Counter[str]()
        found.append(
            JobStatus(
                variant=name,
                runs=dict(runs),
                quality=("missing" if quality is None else "done") if has_quality else "none",
                timing=("missing" if timing is None else "done") if job.reference is not None else "none",
                reason=timing.reason if timing is not None else "",
            )
        )
    return found


def results_there(folder: Path, plan: Plan) -> tuple[dict[str, VariantResult], dict[str, TimingResult]]:
    """Quality and timing results below ``results/<spec>`` that can be read and belong to the plan, by job."""
    qualities, timings = {}, {}
    for name, job in variant_plans(plan).items():
        quality = _read(folder / "variants" / f"{name}.json", VariantResult)
        timing = _read(folder / "timing" / f"{name}.json", TimingResult)
        if quality is not None and belongs(quality, job):
            qualities[name] = quality
        if timing is not None and belongs(timing, job):
            timings[name] = timing
    return qualities, timings


def jobs_left(jobs: list[JobStatus]) -> tuple[int, dict[str, list[str]]]:
    """How many jobs are done, and the variants of those left by kind (`run`, `time`)."""
    left = {
        "run": [job.variant for job in jobs if job.quality == "missing"],
        "time": [job.variant for job in jobs if job.timing == "missing"],
    }
    total = sum((job.quality != "none") + (job.timing != "none") for job in jobs)
    return total - sum(len(names) for names in left.values()), left


def belongs(result: VariantResult | TimingResult, job: VariantPlan) -> bool:
    """Whether a result is of the options, and of the reference's options, that the plan has now."""
    reference = None if job.reference is None else job.reference.cell_id
    return (result.cell_id, result.reference_cell_id) == (job.cell.cell_id, reference)


def _read(path: Path, model: type[Result]) -> Result | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
