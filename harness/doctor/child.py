"""Programs that may crash or hang: asked with a time limit, and left behind where even a kill does not end them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.runs.process import signal_name

GRACE_S = 2.0  # for a killed process to go; one that waits for a driver never does


@dataclass(frozen=True)
class Answer:
    """What a program wrote, or how it failed.

    Attributes:
        output: its stdout; empty where it failed.
        fault: one line; empty where it ended well.
    """

    output: str
    fault: str = ""


def answer_of(command: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> Answer:
    """Run a program and wait for it, at most as long as the limit and the grace."""
    try:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment
        )
    except OSError as error:
        return Answer("", f"it could not be started: {error.strerror}")
    try:
        output, errors = child.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=GRACE_S)
        return Answer("", f"no answer within {limit_s:g} s")
    if child.returncode < 0:
        return Answer("", f"it crashed ({signal_name(-child.returncode)})")
    if child.returncode > 0:
        said = [line.strip() for line in (errors or output).splitlines() if line.strip()]
        return Answer("", said[-1][:300] if said else f"exit code {child.returncode}, no message")
    return Answer(output)
