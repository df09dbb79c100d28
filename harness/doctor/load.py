"""Whether the machine is quiet enough to time anything now."""

from __future__ import annotations

import time

from harness.doctor.finding import Finding, note, ok
from harness.plan.machine import usable_cpus
from harness.runs.load import PATIENCE_S, OtherLoad, too_loaded

WINDOW_S = 1.0


def load() -> list[Finding]:
    """What others take of the machine's CPUs, over a second."""
    watch = OtherLoad()
    time.sleep(WINDOW_S)
    return [judged(watch.read())]


def judged(others: float) -> Finding:
    """By the rule that timing blocks are repeated by."""
    text = f"others keep {others:.1f} of {len(usable_cpus())} CPUs busy"
    if not too_loaded(others, len(usable_cpus())):
        return ok(f"{text}: quiet enough to time", other_load=round(others, 2))
    return note(
        f"{text}: too much to time now; a timing job waits {PATIENCE_S:g} s at most and marks what was disturbed",
        "end what else runs (`top` shows it); trainings for accuracy are not concerned",
        other_load=round(others, 2),
    )
