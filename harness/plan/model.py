"""The plan: the frozen list of cells and comparisons that a spec expands to."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.spec.dataset import Dataset
from harness.spec.options import Frozen, Model, Options, Training
from harness.spec.schema import Gate, Limits, Seeds, Timing

BASELINE = "baseline"
CONTROL = "control"
QUALITY_THREADS = 1  # of a training for accuracy: many of them share the machine


class Estimate(Frozen):
    """What a run is expected to take, before anything runs; None where the data set's size is unknown."""

    memory_bytes: int | None = None
    parts: dict[str, int] = Field({}, description="Bytes by part: features, block, activations, gradients, …")
    epoch_s: float | None = Field(None, description="A rough guess, seconds.")


class Cell(Frozen):
    """One full set of options, without a seed."""

    name: str = Field(description="Variant name, `baseline`, or `all`.")
    cell_id: str
    model: Model
    training: Training
    options: Options
    patch: dict[str, Any] = Field(description="Dotted path to value: exactly what differs from the baseline.")
    estimate: Estimate = Estimate()


class Comparison(Frozen):
    """A variant against its reference, over all pairs."""

    variant: str
    reference: str = BASELINE
    exact: bool = False
    goal: Literal["speed", "memory"] = "speed"


class Skipped(Frozen):
    """A cell that this hardware or library cannot run."""

    variant: str
    reason: str
    patch: dict[str, Any] = {}


class DatasetPlan(Frozen):
    """`plan/dataset.json`: what the preparation needs."""

    dataset: Dataset
    dataset_id: str
    spec_dir: str = Field(description="Relative data paths start here.")
    builder_version: int = Field(0, description="Of the arrays that the preparation writes.")


class VariantPlan(Frozen):
    """`plan/<variant>.json`: all that the jobs of one variant need; rewritten only when it changes."""

    spec: str
    dataset_id: str
    spec_dir: str
    cell: Cell
    reference: Cell | None = Field(None, description="None for the baseline's own job.")
    exact: bool = False
    goal: Literal["speed", "memory"] = "speed"
    seeds: Seeds
    gate: Gate
    timing: Timing
    limits: Limits
    device: Literal["auto", "cpu", "cuda"]
    quality_threads: int
    timing_threads: int
    versions: dict[str, str] = Field({}, description="Of the engine and of the libraries that compute, by name.")


class Plan(Frozen):
    """`plan.json`."""

    version: Literal[1] = 1
    spec: str = Field(description="The spec's name.")
    spec_path: str
    description: str = ""
    design: Literal["one-at-a-time", "stack", "factorial", "leave-one-out"]
    confirm: Literal["none", "recommended"] = "none"
    most_parts: int = Field(0, description="Variants that can be recommended together, and then are confirmed.")
    dataset: DatasetPlan
    cells: dict[str, Cell] = Field(description="By name, references first.")
    comparisons: list[Comparison]
    skipped: list[Skipped] = []
    warnings: list[str] = []
    seeds: Seeds
    gate: Gate
    timing: Timing
    limits: Limits
    device: Literal["auto", "cpu", "cuda"]
    quality_threads: int
    timing_threads: int
    versions: dict[str, str] = Field({}, description="Of the engine and of the libraries that compute, by name.")
    runs_min: int = Field(description="Quality runs if every comparison is decided at the first look.")
    runs_max: int = Field(description="Quality runs if every comparison needs the last look.")
