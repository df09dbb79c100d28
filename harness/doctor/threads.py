"""Processors and threads: what there is, what may be used, what the harness will set."""

from __future__ import annotations

import os

from harness.doctor.cgroup import Limits
from harness.doctor.finding import Finding, note, ok
from harness.plan.machine import usable_cpus
from harness.plan.model import QUALITY_THREADS
from harness.runs.environment import cpu_model
from harness.runs.supervisor import THREAD_VARIABLES

# These decide how the threads of OpenMP lie and wait, and the harness leaves them as they are.
PLACEMENT = ("OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY")


def threads(limits: Limits) -> list[Finding]:
    """Of this process and of the jobs to come."""
    usable, there = usable_cpus(), os.cpu_count() or len(usable_cpus())
    kept = f"{len(usable)} of {there} CPUs may be used" if len(usable) < there else f"{there} CPUs"
    facts = {"cpu": cpu_model(), "cpus": there, "usable_cpus": len(usable), "cgroup_cpus": limits.cpus}
    findings = [ok(f"{cpu_model()}, {kept}", **facts)]
    if limits.cpus is not None and limits.cpus < len(usable):
        findings.append(
            note(
                f"the container may use {limits.cpus:g} CPUs' time and sees {len(usable)}: a timing job with a thread "
                "on each would be stopped again and again",
                f"write `timing: {{threads: {max(1, int(limits.cpus))}}}` in the spec, or start the container with "
                "--cpuset-cpus",
            )
        )
    set_here = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    said = ", ".join(f"{name}={value}" for name, value in set_here.items()) or "OMP_NUM_THREADS is not set"
    findings.append(
        ok(
            f"{said}; the harness sets it for its jobs: {QUALITY_THREADS} thread a training for accuracy, "
            f"{len(usable)} while timing (`timing.threads`)",
            **set_here,
        )
    )
    placed = [f"{name}={os.environ[name]}" for name in PLACEMENT if name in os.environ]
    if placed:
        findings.append(note(f"{', '.join(placed)} reaches the jobs and can slow them", "unset what is not meant"))
    return findings
