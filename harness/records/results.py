"""What a variant's jobs leave: its runs by seed, its parity check, its timing blocks."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field

from harness.records.data_version import DataVersion
from harness.records.drawn_batch import DrawnBatch
from harness.records.record import Bytes, DeviceTimes, Seconds, StageProfile, Stages, Status
from harness.spec.options import Frozen
from harness.spec.schema import Gate, Seeds

LogRatio = Annotated[float, Field(ge=-100.0, le=100.0)]  # a ratio of 1e43 is none that anyone measured


class SeedRun(Frozen):
    """One seed of a variant, or of its reference."""

    seed: int
    run_id: str
    status: Status
    metric: float | None = Field(None, description="The gate's metric on the test split, a fraction.")
    predictions_sha256: str | None = None
    best_epoch: int | None = Field(None, description="Epoch that validation chose, from 1.")
    epochs: int | None = Field(None, description="Epochs trained.")
    val_accuracy: list[float] = Field([], description="On the validation split at each evaluation, fractions.")
    train_loss: list[float] = Field([], description="Mean over the targets of each training epoch.")
    gradient_norm: list[float | None] = Field([], description="Of each training epoch, as in the record.")
    memory_warnings: list[str] = Field([], description="As in the record.")
    embedding_spread: float | None = Field(
        None,
        description="Of the narrowest hidden layer, or with jumping of the widest.",
    )
    spread_by_layer: list[float | None] = Field([], description="`embedding_spread` of the record's counters.")
    over_smoothed: bool | None = Field(None, description="By `harness.records.spread`; None where not looked at.")
    message: str = Field("", description="What a failed run said, in one line.")
    ended_at: str = Field("", description="UTC, ISO 8601, as in the record; empty in older files.")
    environment: dict[str, Any] = Field(
        {}, description="What of the record's environment is other than in the result's `environment`."
    )


class Parity(Frozen):
    """An exact variant against its reference: same weights, same batch, dropout off, float32."""

    state: Literal["equal", "differs", "not-checked"] = Field(
        description="equal: relative difference at most 1e-4 and cosine at least 0.9999; not-checked: see the note."
    )
    max_abs_logit: float = Field(description="Largest |logit|: the scale of the difference; 0 if nothing was measured.")
    max_abs_difference: float = Field(description="max |difference of logits|.")
    gradient_cosine: float
    note: str = Field("", description="Why it differs or was not checked, where no number says so.")

    @property
    def ok(self) -> bool:
        """Whether the check was made and found no difference."""
        return self.state == "equal"


class DecisionRule(Frozen):
    """By what the seeds of a variant were looked at and stopped."""

    metric: Literal["accuracy", "roc_auc", "macro_f1"]
    max_drop_pp: float
    alpha: float = Field(description="One-sided error over all looks.")
    looks: Annotated[tuple[int, ...], Field(strict=False)]
    first: int = Field(description="First seed.")

    @classmethod
    def of(cls, gate: Gate, seeds: Seeds) -> Self:
        """The part of a gate and of its seeds that decides when seeds stop."""
        return cls(
            metric=gate.metric, max_drop_pp=gate.max_drop_pp, alpha=gate.alpha, looks=seeds.looks, first=seeds.first
        )


class VariantResult(Frozen):
    """`variants/<variant>.json`: the quality runs of one variant and of its reference."""

    variant: str
    cell_id: str
    reference: str | None = Field(None, description="None for the baseline itself.")
    reference_cell_id: str | None = None
    runs: list[SeedRun]
    reference_runs: list[SeedRun] = []
    parity: Parity | None = None
    test_nodes: int | None = None
    fingerprint: str = ""
    threads: int
    device: str
    data: DataVersion | None = Field(None, description="Builder and fingerprints of its parts; None if not recorded.")
    environment: dict[str, Any] = Field({}, description="As in the record of the first run that ended well.")
    counters: dict[str, Any] = Field({}, description="Of the first run that ended well; where none did, of the first.")
    drawn_batch: DrawnBatch | None = Field(None, description="Of the baseline alone, by its first run's options.")
    not_drawn: str = Field("", description="Why the baseline has no `drawn_batch`; empty in older files.")
    decided_by: DecisionRule | None = Field(None, description="None for the baseline itself, and in older files.")
    looked_before: list[DecisionRule] = Field(
        [], description="Other rules by which some of these runs were looked at earlier, in this results folder."
    )


class TimedProcess(Frozen):
    """One fresh process of a block."""

    arm: Literal["reference", "variant"]
    run_id: str
    status: Status
    epoch_s: list[Seconds] = Field([], description="Steady-state epochs, seconds each.")
    warmup_s: list[Seconds] = Field([], description="Epochs before them, as in the record.")
    settled: bool | None = Field(None, description="As in the record.")
    device_times: DeviceTimes | None = None
    peak_bytes: Bytes | None = None
    reserved_bytes: Bytes | None = Field(None, description="CUDA: peak of what the allocator reserved.")
    profile: StageProfile | None = Field(None, description="Of one more epoch, with a clock at each stage.")
    disk_reads: str | None = Field(None, description="As in the record's counters; None without features on a disk.")
    message: str = ""


class Block(Frozen):
    """Reference, variant, variant, reference: two log ratios."""

    index: int
    processes: list[TimedProcess]
    other_load: float = Field(description="CPUs that other processes kept busy, on average, during the block.")
    steal_share: float | None = Field(None, description="Of our CPUs' time, what a hypervisor gave to others.")
    throttled_share: float | None = Field(None, description="Of its time, what a quota held it back, over all CPUs.")
    clock_mhz: tuple[float, float] | None = Field(
        None, strict=False, description="Clock rate of the slowest and of the fastest process; None: not readable."
    )
    repeats: int = Field(0, description="Times this block was repeated because it was disturbed.")
    disturbed: bool = Field(False, description="Still disturbed when repeats ran out; kept, and reported.")
    disturbed_by: list[str] = Field([], description="What by, in words: load, steal, quota, clock rate.")


class TimingResult(Frozen):
    """`timing/<variant>.json`. Ratios are reference over variant: above 1 is faster, or smaller."""

    variant: str
    cell_id: str = ""
    reference: str
    reference_cell_id: str = ""
    fingerprint: str = Field("", description="Of the prepared graph's arrays.")
    timing_version: int = Field(1, description="Of the way of timing; ratios of different ones are not compared.")
    status: Literal["ok", "dnf", "skipped"]
    reason: str = ""
    blocks: list[Block] = []
    log_ratios: list[LogRatio] = Field([], description="log(reference / variant) of median epoch seconds, in order.")
    memory_log_ratios: list[LogRatio] = []
    memory_exact: bool = Field(False, description="Allocator bytes that did not vary within an arm.")
    reference_stages: Stages | None = None
    variant_stages: Stages | None = None
    preprocess_s: dict[str, Seconds] = Field(
        {}, description="One-off costs of the variant, e.g. partition_s, cache_fill_s."
    )
    reference_preprocess_s: dict[str, Seconds] = Field({}, description="Likewise of the reference.")
    estimated_bytes: int | None = None
    memory_warnings: list[str] = Field([], description="As in the record of the variant's last process.")
    counters: dict[str, Any] = {}
    ended_at: str = Field("", description="UTC, ISO 8601, of the last process; empty in older files.")
    threads: int
    device: str
    data: DataVersion | None = Field(None, description="As in `VariantResult`.")
    environment: dict[str, Any] = {}
