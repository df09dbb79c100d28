"""What a person writes: one YAML file, checked against these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, ValidationInfo, field_validator, model_validator

from harness.spec.dataset import Dataset
from harness.spec.options import Frozen, Model, Options, Training

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"


class Variant(Frozen):
    """A named patch on the baseline; a grid makes several."""

    set: dict[str, Any] = Field(default_factory=dict, description="Options fixed in this variant.")
    grid: dict[str, list[Any]] = Field(default_factory=dict, description="Product of values, one variant each.")
    zip: dict[str, list[Any]] = Field(default_factory=dict, description="Parallel lists, one variant a position.")
    exact: bool = Field(
        False,
        description="Equal to the baseline but for rounding, which is checked: aggregation, checkpointing, "
        "retain, features.*, loader.*, sampling.backend.",
    )
    goal: Literal["speed", "memory"] = Field("speed", description="Which gain an accept needs.")
    description: str = Field("", description="For readers; changes nothing.")

    @model_validator(mode="after")
    def _changes_something(self) -> Variant:
        if not (self.set or self.grid or self.zip):
            raise ValueError("a variant needs `set`, `grid` or `zip`")
        return self


class Design(Frozen):
    """Which combinations of the variants run."""

    kind: Literal["one-at-a-time", "stack", "factorial", "leave-one-out"] = Field(
        "one-at-a-time",
        description="Each variant alone; one after the other on top of the last; every combination; or all at once, "
        "each left out in turn and compared with all.",
    )
    confirm: Literal["none", "recommended"] = Field(
        "none",
        description="`recommended`: all accepted variants at once, on fresh seeds against a new baseline; then each "
        "left out, and their stack floor by floor. With `kind: one-at-a-time`.",
    )

    @field_validator("confirm")
    @classmethod
    def _of_variants_alone(cls, value: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind", "one-at-a-time")
        if value == "recommended" and kind != "one-at-a-time":
            raise ValueError(
                f"recommended joins variants that were accepted alone, which design {kind} does not run; "
                "write `confirm: none`, or `kind: one-at-a-time`"
            )
        return value


def _increasing(looks: tuple[int, ...]) -> tuple[int, ...]:
    if list(looks) != sorted(set(looks)):
        raise ValueError(f"looks must increase, e.g. [5, 10, 20]; got {list(looks)}")
    return looks


class Seeds(Frozen):
    """How many seeds, decided look by look."""

    looks: Annotated[tuple[Annotated[StrictInt, Field(ge=3, le=200)], ...], Field(strict=False, min_length=1)] = (
        5,
        10,
        20,
    )
    first: int = Field(0, ge=0, le=10**9, description="First seed; fresh seeds start elsewhere.")

    _check = field_validator("looks")(classmethod(lambda cls, v: _increasing(v)))


class Gate(Frozen):
    """The rule that a speed-up must pass."""

    metric: Literal["accuracy", "roc_auc", "macro_f1"] = Field("accuracy", description="On the test split.")
    max_drop_pp: float = Field(0.5, ge=0.0, le=100.0, description="Allowed drop, percentage points.")
    alpha: float = Field(0.05, gt=0.0, lt=0.5, description="One-sided error over all looks.")
    min_speedup: float = Field(1.05, ge=1.0, description="A gain must exceed this ratio.")
    min_memory_saving: float = Field(1.05, ge=1.0, description="Likewise for `goal: memory`.")


class Timing(Frozen):
    """The timing job: blocks of baseline, variant, variant, baseline; two log ratios a block."""

    looks: Annotated[
        tuple[Annotated[StrictInt, Field(ge=4, le=100, multiple_of=2)], ...],
        Field(strict=False, min_length=1),
    ] = (4, 6, 8, 12)
    warmup_epochs: int = Field(2, ge=1, le=1_000_000, description="Epochs before the clock starts.")
    epochs: int = Field(5, ge=2, le=1_000_000, description="Steady-state epochs timed in each process.")
    threads: int | None = Field(None, ge=1, le=10_000, description="Default: all that the machine grants.")
    max_repeats: int = Field(3, ge=0, le=10_000, description="Blocks repeated because the machine was loaded, at most.")

    _check = field_validator("looks")(classmethod(lambda cls, v: _increasing(v)))


class Limits(Frozen):
    """What one run may take before it is stopped and recorded."""

    time_s: float = Field(3600.0, gt=0.0, le=10**8, description="Seconds a run may take.")
    memory_mb: float | None = Field(
        None, gt=0.0, le=10**9, description="Megabytes a run may add to its process; CPU only."
    )


class Spec(Frozen):
    """One file under specs/."""

    version: Literal[1]
    name: str = Field(pattern=NAME, description="Names the folder under results/.")
    description: str = Field("", description="The question, for readers; changes nothing.")
    owner: str = Field("", description="For readers; changes nothing.")
    dataset: Dataset
    model: Model
    training: Training = Training()
    baseline: Options = Options()
    variants: dict[Annotated[str, Field(pattern=NAME)], Variant] = Field(min_length=1)
    design: Design = Design()
    seeds: Seeds = Seeds()
    gate: Gate = Gate()
    timing: Timing = Timing()
    limits: Limits = Limits()
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="`auto` is a GPU where torch finds one.")
