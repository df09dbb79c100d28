"""What a child process is asked to do, and what it gives back."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.records.record import DeviceTimes, Memory, Metrics, StageProfile, Stages
from harness.spec.options import Frozen, Model, Options, Training


class RunRequest(Frozen):
    """One training, fully resolved."""

    run_id: str
    cell_id: str
    purpose: Literal["quality", "timing"]
    seed: int
    model: Model
    training: Training
    options: Options
    graph_path: str = Field(description="Folder of the prepared graph.")
    spec_dir: str = Field(description="Put on sys.path, for a model given by import path.")
    device: str = Field(description="cpu or cuda:<i>")
    threads: int
    warmup_epochs: int = Field(0, description="Timing: epochs before any can count; see `harness.runs.settled`.")
    timed_epochs: int = Field(0, description="Timing: epochs on the clock; no evaluation at all.")


class Outcome(Frozen):
    """What a child gives back, one that diverged without metrics; the supervisor completes it to a `Record`."""

    metrics: Metrics | None = Field(None, description="None for timing.")
    stages: Stages | None = None
    profile: StageProfile | None = None
    epoch_s: list[float] = []
    warmup_s: list[float] = []
    settled: bool | None = None
    device_times: DeviceTimes | None = None
    memory: Memory | None = None
    counters: dict[str, Any] = {}
    data: dict[str, Any] = {}
    environment: dict[str, Any] = {}


class Diverged(Exception):
    """The loss is not finite; the message says in which epoch and batch.

    Attributes:
        outcome: what was counted until then, for the record; None where nothing was.
    """

    def __init__(self, message: str, outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome


class Unsupported(Exception):
    """This library or hardware cannot do what the options ask; the message says why."""
