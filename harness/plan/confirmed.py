"""What of a confirmation is done: its results that are there and belong to the plan as it is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.plan.confirmation import Confirmation, confirmation_jobs, job_id, plan_id, timed, trained
from harness.plan.model import Plan
from harness.records.confirmed import (
    RECOMMENDED_FILE,
    TIMED_FILE,
    TIMED_FOLDER,
    TRAINED_FOLDER,
    ConfirmedQuality,
    ConfirmedTiming,
)
from harness.records.files import read_model
from harness.records.results import TimingResult, VariantResult
from harness.spec.errors import InputError


@dataclass(frozen=True)
class Confirmed:
    """A confirmation with its results by name.

    Attributes:
        reasons: why a cell was not trained.
    """

    confirmation: Confirmation
    variants: dict[str, VariantResult] = field(default_factory=dict)
    timings: dict[str, TimingResult] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def confirms(self, names: Sequence[str], patch: dict[str, Any]) -> bool:
        """Whether it is of this recommendation."""
        return (self.confirmation.names, self.confirmation.patch) == (list(names), dict(patch))


def read_confirmed(folder: Path, plan: Plan) -> Confirmed | None:
    """The confirmation below ``results/<spec>``; None where the spec wants none, or there is none of this plan.

    Results of another job (other options, seeds, versions) do not belong and are left out.

    Raises:
        InputError: a file is there and not of this version.
    """
    path = folder / RECOMMENDED_FILE
    if plan.confirm == "none" or not path.is_file():
        return None
    confirmation = read_model(path, Confirmation)
    if confirmation.plan_id != plan_id(plan):
        return None
    found = Confirmed(confirmation)
    for name, job in confirmation_jobs(confirmation).items():
        quality = quality_of(folder, name)
        if quality is not None and quality.result is not None and quality.job_id == job_id(job):
            found.variants[name] = quality.result
        elif quality is not None and quality.reason:
            found.reasons[name] = quality.reason
        timing = timing_of(folder, name)
        if timing is not None and timing.job_id == job_id(job):
            found.timings[name] = timing.result
    return found


def quality_of(folder: Path, name: str) -> ConfirmedQuality | None:
    """What a quality job left, of whatever plan."""
    path = folder / TRAINED_FOLDER / f"{name}.json"
    return read_model(path, ConfirmedQuality) if path.is_file() else None


def timing_of(folder: Path, name: str) -> ConfirmedTiming | None:
    """What timing a cell left, of whatever plan."""
    path = folder / TIMED_FOLDER / f"{name}.json"
    return read_model(path, ConfirmedTiming) if path.is_file() else None


def confirmation_left(results_dir: Path, plan: Plan) -> str:
    """What is left of a plan's confirmation, in words; empty where nothing is, or none is wanted."""
    folder = Path(results_dir) / plan.spec
    if plan.confirm == "none":
        return ""
    try:
        found = read_confirmed(folder, plan)
    except InputError:
        return "a file of the confirmation is damaged, and is made again"
    if found is None:
        return "the confirmation waits for the verdicts"
    waiting = [name for name in trained(plan) if not (folder / TRAINED_FOLDER / f"{name}.json").is_file()]
    cells = [] if found.confirmation.plan is None else list(found.confirmation.plan.cells)
    runs = [n for n in cells if n in waiting]
    times = [n for n in timed(found.confirmation) if n not in found.timings]
    if not waiting and (folder / TIMED_FILE).is_file():
        return ""
    words = [f"{kind} {', '.join(names)}" for kind, names in (("run", runs), ("time", times)) if names]
    return f"to confirm: {'; '.join(words)}" if words else "the confirmation is nearly done"
