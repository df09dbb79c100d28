"""The record: the JSON that every run leaves, whatever happened to it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from harness.spec.options import Frozen, Model, Options, Training
from harness.spec.schema import Limits

Status = Literal["ok", "oom", "timeout", "diverged", "error", "unsupported", "killed"]
FAILED: tuple[Status, ...] = ("oom", "timeout", "diverged", "error", "unsupported", "killed")
Seconds = Annotated[float, Field(ge=0.0, le=1e9)]  # no run takes less, and none takes 30 years
Bytes = Annotated[int, Field(ge=0)]
Phase = Literal["start", "load", "prepare", "train", "evaluate", "time", "done"]


class Scores(Frozen):
    """One split's metrics at the selected epoch; fractions, not percentage points."""

    accuracy: float
    macro_f1: float
    roc_auc: float | None = Field(None, description="None where a class is missing from the split.")
    loss: float | None = None


class ClassScores(Frozen):
    """One class on the test split."""

    label: int
    name: str
    support: int
    precision: float
    recall: float
    f1: float


class Metrics(Frozen):
    """What the training reached, at the epoch that validation chose; the test split is read once."""

    val: Scores
    test: Scores
    best_epoch: int = Field(description="Epoch chosen, from 1.")
    epochs: int = Field(description="Epochs trained.")
    per_class: list[ClassScores] = []
    predictions_sha256: str = Field(description="Hash of the predicted classes of all test nodes.")
    train_loss: list[float] = []
    val_loss: list[float] = []
    val_accuracy: list[float] = []
    gradient_norm: list[float | None] = Field(
        [],
        description="Of each training epoch: median of the gradient's global norm, unscaled and before clipping, over "
        "the steps that were looked at; None where none was finite.",
    )


class Stages(Frozen):
    """Seconds per epoch in each stage of a training step."""

    sample_s: Seconds
    fetch_s: Seconds
    compute_s: Seconds
    update_s: Seconds


class StageProfile(Frozen):
    """Where one epoch of a timing process went, and which batches that epoch had.

    Two processes with one seed that number the epoch alike and draw alike have the same `batches_crc32`.
    """

    epoch: int = Field(description="Its number: with the run's seed it decides the batches.")
    batches: int
    nodes: int = Field(description="Sum over its batches, as `edges`.")
    edges: int
    batches_crc32: int = Field(description="CRC-32 of the nodes of its batches, in their order.")
    wait_s: Seconds | None = Field(
        None, description="Seconds that the model waited for the loader, which are its `sample_s`; None without one."
    )
    stages: Stages

    @property
    def seconds(self) -> float:
        """Of the epoch, with the device waited for at each change of stage."""
        return self.stages.sample_s + self.stages.fetch_s + self.stages.compute_s + self.stages.update_s


class DeviceTimes(Frozen):
    """A timing run by CUDA's own clock (events), beside the host's."""

    epoch_s: list[Seconds] = Field([], description="Seconds of the timed epochs; close to the host's, or one is wrong.")
    busy_share: float | None = Field(
        None,
        description="Of the epoch in which stages are looked at: seconds of compute and update on the device over all. "
        "Gaps between its kernels are in it, so it is an upper bound.",
    )


class Memory(Frozen):
    """Peak memory of the run, over the base after imports (`rss`) or from the allocator (`cuda`)."""

    peak_bytes: Bytes
    kind: Literal["rss", "cuda_allocated"]
    base_bytes: int = 0
    reserved_bytes: int | None = Field(None, description="CUDA: reserved by the caching allocator.")
    estimated_bytes: int | None = Field(
        None, description="Expected from the prepared graph's sizes and the options; None for a model given by `class`."
    )
    estimated_parts: dict[str, int] = Field({}, description="`estimated_bytes` by part: features, messages, …")
    growth_bytes_per_epoch: float | None = Field(
        None, description="Theil-Sen slope of what is held at the end of each epoch; None where these are too few."
    )
    warnings: list[str] = Field([], description="Of a peak far over its estimate, and of memory that grows.")


class Record(Frozen):
    """One run. `counters` proves which options were on; keys are documented in docs/counters.md."""

    version: Literal[1] = 1
    run_id: str
    cell_id: str
    purpose: Literal["quality", "timing"]
    seed: int
    model: Model
    training: Training
    options: Options
    status: Status
    phase: Phase
    message: str = ""
    metrics: Metrics | None = None
    stages: Stages | None = None
    profile: StageProfile | None = Field(None, description="Timing: of the epoch that `stages` are of.")
    epoch_s: list[Seconds] = Field(
        [],
        description="Seconds of each training epoch, evaluation excluded. Quality: every epoch, the first included. "
        "Timing: the steady-state epochs after the warm-up.",
    )
    warmup_s: list[Seconds] = Field(
        [], description="Timing: seconds of the epochs before, those in which it had not settled included."
    )
    settled: bool | None = Field(
        None, description="Timing: the timed epochs had settled, by `harness.runs.settled`; None where not looked at."
    )
    device_times: DeviceTimes | None = Field(None, description="Timing on CUDA.")
    memory: Memory | None = None
    counters: dict[str, Any] = {}
    data: dict[str, Any] = {}
    limits: Limits | None = Field(None, description="What the run was held to; None where that is not known.")
    environment: dict[str, Any] = {}
    started_at: str
    ended_at: str
    log_path: str = Field("", description="The run's stderr, relative to the results folder.")

    def holds_under(self, limits: Limits) -> bool:
        """Whether a run held to these limits would end no better: false where it was stopped by a tighter one.

        A run that was out of memory without a limit of ours is the machine's own answer and holds. Where the limits
        of a stopped run are not known it does not hold.
        """
        if self.status not in ("timeout", "oom"):
            return True
        if self.limits is None:
            return False
        if self.status == "timeout":
            return limits.time_s <= self.limits.time_s
        was = self.limits.memory_mb
        return was is None or (limits.memory_mb is not None and limits.memory_mb <= was)
