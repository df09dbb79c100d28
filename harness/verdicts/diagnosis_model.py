"""`diagnosis` in `verdicts.json`: where a step's time goes, in numbers and in words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.spec.options import Frozen
from harness.spec.stages import Stage

Interval = Annotated[tuple[float, float], Field(strict=False)]
Side = Literal["data", "compute", "update"]


class StageTime(Frozen):
    """One stage of an epoch, over the profile epochs of all timing processes of an arm."""

    stage: Stage
    seconds: float = Field(description="Mean of an epoch.")
    share: float = Field(description="Of the mean epoch, a fraction.")
    lowest: float = Field(description="Least share in one process, a fraction.")
    highest: float


class ArmProfile(Frozen):
    """Where an epoch of one cell goes. Its seconds are of profile epochs, which wait at each change of stage."""

    name: str
    processes: int = Field(description="With a profile of their own; 0 where only means over them are known.")
    left_out: int = Field(0, description="Processes of disturbed blocks that are not among them.")
    disturbed: bool = Field(False, description="They are of disturbed blocks, since there are no others.")
    stages: list[StageTime]
    wait_s: float | None = Field(None, description="Of `sample`: waiting for the loader; None without one.")
    slower: float | None = Field(
        None, description="A profile epoch's seconds over the same process's median timed epoch: what the clock costs."
    )


class ToggleCeiling(Frozen):
    """What one of the harness's toggles could give the baseline, and what it gave."""

    toggle: str
    option: str
    targets: list[str]
    share: float = Field(description="Of the baseline's epoch in those stages, a fraction.")
    ceiling: float | None = Field(
        None, description="Amdahl (1967): 1 / (1 - share); None where every stage has less to do, or all is targeted."
    )
    closed: str = Field(
        "", description="Why it is not there to be tried: on already, without effect, skipped, not for this device."
    )
    doubt: str = Field("", description="Why it is less of a hint than others, where it was not tried.")
    tried: list[str] = Field([], description="Timed variants that change nothing else.")
    best: str | None = Field(
        None, description="Of these, the fastest that is shown to gain; else that is undecided; else the fastest."
    )
    state: Literal["gain", "no-gain", "undecided"] | None = Field(None, description="Of the best; None: not tried.")
    undecided: str = Field("", description="What would decide it, or why nothing does.")
    reached: float | None = Field(None, description="Its speed-up.")
    reached_ci: Interval | None = None


class Saving(Frozen):
    """Seconds of an epoch that a variant saves in one stage: reference minus variant."""

    stage: Stage
    seconds: float
    ci: Interval | None = Field(None, description="t interval at 95 % over pairs of processes; None for fewer than 2.")
    expected: bool = Field(description="Whether the option is to shorten this stage.")


class Gain(Frozen):
    """Where a variant's time went, stage by stage, against its reference."""

    variant: str
    reference: str
    savings: list[Saving] = Field([], description="Empty where the two profiles are not of comparable epochs.")
    disturbed: bool = Field(False, description="Of disturbed blocks, since there are no others.")
    wait_s: float | None = Field(None, description="Seconds of an epoch that the variant waits for its loader.")
    slower: float | None = Field(None, description="The variant's profile epoch over its median timed epoch.")
    same_epoch: bool | None = Field(None, description="By number, in every pair; None where it was not recorded.")
    same_batches: bool | None = Field(None, description="By checksum, in every pair; None where it was not recorded.")
    nodes_ratio: float | None = Field(None, description="Nodes of the profiled batches, variant over reference.")
    edges_ratio: float | None = None
    sentences: list[str] = []


class Diagnosis(Frozen):
    """Which side of a step is the bottleneck, what could widen it, and what did."""

    baseline: ArmProfile | None = Field(None, description="None where no timing process recorded its stages.")
    bottleneck: Side | None = None
    data_share: float | None = Field(None, description="Of sample and fetch, a fraction.")
    toggles: list[ToggleCeiling] = []
    more_machines: Literal["not-yet", "loader-behind", "open"] | None = Field(
        None, description="not-yet: data side above half of a step, and no loader overlaps it."
    )
    sentences: list[str] = []
    gains: list[Gain] = []
