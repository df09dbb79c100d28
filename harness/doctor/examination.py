"""All questions, in the order in which a person reads the answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from harness.doctor.accelerator import accelerator
from harness.doctor.backends import optional_libraries, precisions
from harness.doctor.cgroup import cgroup_limits
from harness.doctor.driver import read_driver
from harness.doctor.finding import Finding, Section, problem
from harness.doctor.load import load
from harness.doctor.memory import allocator, memory
from harness.doctor.places import places
from harness.doctor.threads import threads
from harness.doctor.trial import trials
from harness.doctor.versions import versions
from harness.plan.machine import Machine, ask, keep
from harness.runs.lease import driver_present
from harness.spec.errors import InputError
from harness.spec.places import cache_root


def examine() -> Iterator[Section]:
    """The sections, each as soon as it is known; about ten seconds, most of them torch's imports."""
    limits = cgroup_limits()
    yield _section("Versions", versions)
    yield _section("Folders", places)
    yield _section("Threads", lambda: threads(limits))
    yield _section("Memory", lambda: [*memory(limits), *allocator()])
    yield _section("Load", load)
    machine = machine_or_fault()
    if isinstance(machine, Finding):
        yield Section(title="Accelerator and libraries", findings=(machine,))
        return
    driver = read_driver()
    other = driver is None and driver_present()
    yield _section("Accelerator", lambda: accelerator(machine, driver, other_driver=other))
    yield _section("Optional libraries", lambda: optional_libraries(machine))
    yield _section("Precision and aggregation", lambda: precisions(machine))
    yield _section("One second of computing", lambda: trials(machine))


def machine_or_fault() -> Machine | Finding:
    """What torch can do here, asked anew, so that the planner, too, sees what was mended since it asked."""
    try:
        machine = ask()
    except InputError as error:
        text, _, remedy = error.problems[0].message.rpartition("; ")
        return problem(text, remedy, fatal=True)
    with contextlib.suppress(InputError):  # a cache that cannot be written is a finding of its own
        keep(machine, cache_root())
    return machine


def _section(title: str, ask: Callable[[], list[Finding]]) -> Section:
    """The answers; a machine that hides what is asked for, /proc in a container say, is an answer too."""
    try:
        findings = ask()
    except OSError as error:
        text = f"cannot be told: {error.filename or 'a file of the system'}: {error.strerror or error}"
        findings = [problem(text, "grant access to it; in a container, mount /proc: runs read it too")]
    return Section(title=title, findings=tuple(findings))
