"""The record: the JSON that every run leaves, whatever happened to it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.spec.options import Frozen, Model, Options, Training

Status = Literal["ok", "oom", "timeout", "diverged", "error", "unsupported", "killed"]
FAILED: tuple[Status, ...] = ("oom", "timeout", "diverged", "error", "unsupported", "killed")
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


class Stages(Frozen):
    """Seconds per epoch in each stage of a training step."""

    sample_s: float
    fetch_s: float
    compute_s: float
    update_s: float


class Memory(Frozen):
    """Peak memory of the run, over the base after imports (`rss`) or from the allocator (`cuda`)."""

    peak_bytes: int
    kind: Literal["rss", "cuda_allocated"]
    base_bytes: int = 0
    reserved_bytes: int | None = Field(None, description="CUDA: reserved by the caching allocator.")
    estimated_bytes: int | None = None


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
    epoch_s: list[float] = Field([], description="Seconds of each steady-state training epoch, evaluation excluded.")
    memory: Memory | None = None
    counters: dict[str, Any] = {}
    data: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    started_at: str
    ended_at: str
    log_path: str = Field("", description="The run's stderr, relative to the results folder.")
