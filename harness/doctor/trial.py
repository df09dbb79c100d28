"""A second of the harness's own sampler and convolution on each device: the shortest whole path of a run."""

from __future__ import annotations

import os
import sys

from pydantic import ValidationError

from harness.doctor.child import Answer, answer_of
from harness.doctor.finding import Finding, note, ok, problem
from harness.plan.machine import Machine, usable_cpus
from harness.runs.lease import CPU, Device
from harness.runs.load import OtherLoad, too_loaded
from harness.runs.supervisor import child_environment
from harness.runs.trial import Trial

LIMIT_S = 120.0  # imports and compiling take 5 to 30 s on a cold disk
PROGRAM = (sys.executable, "-m", "harness.runs.trial_convolution")


def trials(machine: Machine) -> list[Finding]:
    """Of the CPU, and of the first GPU where torch can use one."""
    first_gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
    devices = [CPU, *([Device("cuda:0", "cuda", first_gpu)] if machine.cuda else [])]
    watch = OtherLoad()
    answers = {device.name: ask(device) for device in devices}
    return [*judged(answers), *disturbed(watch.read())]


def ask(device: Device) -> Answer:
    """In a process of its own, with the threads that a timing job has."""
    return answer_of([*PROGRAM, device.name], LIMIT_S, child_environment(len(usable_cpus()), device))


def judged(answers: dict[str, Answer]) -> list[Finding]:
    """A device that fails; no run is possible where all do."""
    read = {device: _trial(answer) for device, answer in answers.items()}
    works = any(isinstance(found, Trial) for found in read.values())
    findings = []
    for device, found in read.items():
        if isinstance(found, Trial):
            findings.append(_speed(device, found))
        else:
            text = f"{device}: a convolution gave nothing: {found}"
            remedy = f"run `python -m harness.runs.trial_convolution {device}` for more; install torch and numba again"
            findings.append(problem(text, remedy, fatal=not works, device=device))
    return findings


def disturbed(others: float) -> list[Finding]:
    """Whether the figures above are those of a machine that others used."""
    if not too_loaded(others, len(usable_cpus())):
        return []
    return [note(f"others kept {others:.1f} CPUs busy meanwhile, which makes the figures above too low")]


def _trial(answer: Answer) -> Trial | str:
    """What was measured, or what went wrong."""
    if answer.fault:
        return answer.fault
    try:
        return Trial.model_validate_json(answer.output.strip().splitlines()[-1])
    except (ValidationError, IndexError):
        return f"its answer cannot be read: {answer.output[-100:]!r}"


def _speed(device: str, found: Trial) -> Finding:
    threads = f", {found.threads} thread{'s' if found.threads != 1 else ''}" if device == "cpu" else ""
    facts = {"device": device, **found.model_dump()}
    text = (
        f"{device}{threads}: {found.convolved / 1e6:.1f} M edges/s forward and backward through a layer "
        f"of sage, {found.width} wide; its sampler draws {found.sampled / 1e6:.1f} M edges/s on one thread"
    )
    if not found.finite:
        return note(f"{text}; but its result is not finite", "do not trust results of this device", **facts)
    return ok(text, **facts)
