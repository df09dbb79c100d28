"""The jobs of a confirmation: what is accepted together is trained on fresh seeds, and timed, as one."""

from __future__ import annotations

from pathlib import Path

from harness.plan.confirmation import RECOMMENDED, Confirmation, confirmation_jobs, job_id, make_confirmation, timed
from harness.plan.confirmed import quality_of, timing_of
from harness.plan.model import BASELINE, Plan, VariantPlan
from harness.records.confirmed import (
    RECOMMENDED_FILE,
    TIMED_FOLDER,
    ConfirmedQuality,
    ConfirmedTiming,
    ConfirmedTimings,
)
from harness.records.files import read_model, write_atomically
from harness.records.results import TimingResult, VariantResult
from harness.spec.errors import InputError, Problem
from harness.spec.options import Frozen
from harness.spec.places import cache_root

FEWEST_SEEDS = 3  # of the stack: fewer leave nothing to compare its parts on


def write_recommendation(
    plan: Plan, variants: dict[str, VariantResult], timings: dict[str, TimingResult], output: Path
) -> Confirmation:
    """Judge the grid and freeze what confirms what is recommended."""
    from harness.plan.machine import probe
    from harness.verdicts.analyze import analyze

    judged = analyze(plan, variants, timings)
    first = first_fresh_seed(plan, variants)
    made = make_confirmation(plan, judged.recommended, judged.recommended_patch, first, probe(cache_root()))
    _write(output, made)
    return made


def first_fresh_seed(plan: Plan, variants: dict[str, VariantResult]) -> int:
    """After the grid's last seed: of its last look, or beyond where seeds replaced those that the reference failed."""
    planned = plan.seeds.first + plan.seeds.looks[-1]
    ran = [run.seed for v in variants.values() for run in (*v.runs, *v.reference_runs)]
    return max([planned, *(seed + 1 for seed in ran)])


def train(file: Path, name: str, output: Path) -> None:
    """Train one cell of a confirmation, or write at once why there is nothing to train.

    The new baseline and the stack run as any variant does, look by look. A part left out runs on the seeds that the
    stack has run, and no decision ends it sooner: it is described, not judged.
    """
    from harness.prepared import graph_folder, refined
    from harness.records.looked import remember_looks
    from harness.reports.progress import Reporter
    from harness.runs.job import run_variant
    from harness.verdicts.decide import accuracy_decided

    folder = file.parent
    confirmation = _confirmation(file)
    jobs = confirmation_jobs(confirmation)
    job = jobs.get(name)
    reason = _not_trained(confirmation, name)
    stack = None
    if job is not None and not reason and name not in (BASELINE, RECOMMENDED):
        stack = _stack(folder, jobs[RECOMMENDED])
        reason = _stack_too_small(stack)
    if job is None or reason:
        _write(output, ConfirmedQuality(name=name, reason=reason))
        return
    todo, decide = refined(job), accuracy_decided(job.gate, job.seeds.looks)
    if stack is not None:
        todo = todo.model_copy(update={"seeds": todo.seeds.model_copy(update={"looks": (len(stack.runs),)})})
        decide = accuracy_decided(job.gate, todo.seeds.looks)
    reporter = Reporter(folder, "confirm-run", name)
    result = run_variant(todo, graph_folder(folder), folder.parent, decide=decide, progress=reporter)
    reporter.finished()
    if name == RECOMMENDED:
        result = remember_looks(folder / "confirmed" / "looked.json", result)
    _write(output, ConfirmedQuality(name=name, job_id=job_id(job), result=result))


def time_all(file: Path, output: Path) -> None:
    """Time the stack, each part left out, and the stack's floors, one after the other; each keeps a file of its own.

    A cell whose file is there, of the same job, is not timed again, so that a kill loses the cell being timed alone.
    """
    from harness.prepared import graph_folder, refined
    from harness.reports.progress import Reporter
    from harness.runs.timing import not_worth_timing, time_variant
    from harness.verdicts.decide import speed_decided

    folder = file.parent
    confirmation = _confirmation(file)
    jobs = confirmation_jobs(confirmation)
    for name in timed(confirmation):
        job, before = jobs[name], timing_of(folder, name)
        if before is not None and before.job_id == job_id(job):
            continue
        known = _known(folder, name, jobs)
        result = None if known is None else not_worth_timing(job, known)
        if result is None:
            # what is only described stops where its interval leaves 1, or is as narrow as the gate needs
            decide = speed_decided(job.gate, job.timing, job.goal if name == RECOMMENDED else "control")
            reporter = Reporter(folder, "confirm-time", name)
            result = time_variant(refined(job), graph_folder(folder), folder.parent, decide=decide, progress=reporter)
            reporter.finished()
        _write(folder / TIMED_FOLDER / f"{name}.json", ConfirmedTiming(name=name, job_id=job_id(job), result=result))
    reason = "" if jobs else _nothing(confirmation)
    _write(output, ConfirmedTimings(timed=timed(confirmation), reason=reason))


def _confirmation(file: Path) -> Confirmation:
    if file.name != RECOMMENDED_FILE:
        raise InputError(Problem(str(file), f"give the {RECOMMENDED_FILE} that `harness recommend` wrote"))
    return read_model(file, Confirmation)


def _known(folder: Path, name: str, jobs: dict[str, VariantPlan]) -> VariantResult | None:
    """The quality runs that say whether a cell, or what it is timed against, can train at all."""
    own = quality_of(folder, name)
    if own is not None and own.result is not None and own.job_id == job_id(jobs[name]):
        return own.result
    stack, reference = _stack(folder, jobs[RECOMMENDED]), jobs[name].reference
    if stack is None or reference is None:
        return None
    runs = stack.runs if reference.name == RECOMMENDED else stack.reference_runs
    return stack.model_copy(update={"runs": [], "reference_runs": runs})


def _nothing(confirmation: Confirmation) -> str:
    if confirmation.skipped:
        return f"the stack cannot run here: {confirmation.skipped[0].reason}"
    return "nothing was accepted: there is nothing to confirm"


def _not_trained(confirmation: Confirmation, name: str) -> str:
    """Why a cell is none of this confirmation; empty where it is one."""
    if confirmation.plan is None:
        return _nothing(confirmation)
    if name in confirmation.plan.cells:
        return ""
    skipped = next((s.reason for s in confirmation.skipped if s.variant == name), None)
    if skipped is not None:
        return skipped
    if len(confirmation.names) == 1:
        return "the stack has one part: nothing is left out of it"
    return "this variant is no part of what is recommended"


def _stack(folder: Path, job: VariantPlan) -> VariantResult | None:
    found = quality_of(folder, RECOMMENDED)
    return found.result if found is not None and found.job_id == job_id(job) else None


def _stack_too_small(stack: VariantResult | None) -> str:
    if stack is None:
        return "the stack itself has not been trained"
    if sum(run.status == "ok" for run in stack.runs) < FEWEST_SEEDS:
        return f"the stack ran well on fewer than {FEWEST_SEEDS} seeds, so that no part of it can be looked at"
    return ""


def _write(path: Path, content: Frozen) -> None:
    write_atomically(path, content.model_dump_json(indent=2, by_alias=True) + "\n")
