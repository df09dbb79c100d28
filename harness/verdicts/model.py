"""`verdicts.json`: what the analyser hands to reports, and to anyone else."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from harness.records.data_version import DataVersion
from harness.records.record import Bytes, Seconds, Stages, Status
from harness.records.results import Parity
from harness.spec.options import Frozen
from harness.spec.schema import Gate, Timing
from harness.verdicts.diagnosis_model import Diagnosis
from harness.verdicts.total_cost import TotalCost

Verdict = Literal["skipped", "dnf", "enables", "reject", "no-gain", "inconclusive", "accept"]
Place = Literal["earns its place", "not shown", "drop", "unknown"]
GainState = Literal["gain", "no-gain", "loss", "unknown"]
Ratio = Annotated[float, Field(gt=0.0)]
Interval = Annotated[tuple[float, float], Field(strict=False)]


class SeedDifference(Frozen):
    """One pair: variant minus reference on the same seed."""

    seed: int
    reference: float = Field(description="The gate's metric, a fraction.")
    variant: float
    delta_pp: float
    counted: bool = Field(description="Whether it belongs to the look that counts.")


class Accuracy(Frozen):
    """The gate's metric on the test set, over the pairs of the look that counts."""

    baseline: float | None = Field(None, description="Mean of the reference's runs, a fraction.")
    variant: float | None = Field(None, description="Mean of the variant's runs, a fraction.")
    delta_pp: float | None = Field(None, description="Variant minus baseline, percentage points.")
    ci_pp: Interval | None = Field(None, description="LB and UB of the one-sided tests.")
    level: float = Field(description="Confidence of ci_pp, two-sided: each bound alone holds at 1 − alpha.")
    alpha: float = Field(description="One-sided level of this look.")
    look: int | None = Field(None, description="Pairs at the look that counts.")
    state: Literal["pass", "fail", "inconclusive", "invalid", "dnf"]
    more_seeds: int | None = Field(None, description="Rough; only when inconclusive. None: over 200, or on the line.")
    identical: bool = Field(False, description="All predictions of all pairs are equal, and the metric with them.")
    seeds: list[SeedDifference] = []
    collapse_rate_below: float | None = Field(
        None, description="No collapse in the variant's n runs: 95 % bound on its rate, 1 − 0.05^(1/n)."
    )


class Speed(Frozen):
    """Seconds an epoch, reference over variant: above 1 is faster."""

    ratio: Ratio | None = None
    ci: Interval | None = None
    level: float | None = Field(None, description="Confidence of ci at this look, two-sided.")
    blocks: int = Field(0, description="Blocks behind ratio and ci: two ratios each.")
    state: GainState
    narrow: bool = Field(False, description="Timing stopped because the interval was narrow enough.")
    disturbed_blocks: int = Field(0, description="Of these, blocks that something outside disturbed, and were kept.")
    disturbed_by: list[str] = Field([], description="What by, in words, each once.")
    unsettled_processes: int = Field(0, description="Of these blocks, processes whose epochs never settled.")
    reference_epoch_s: Seconds | None = Field(
        None, description="Median seconds of a steady-state epoch, of undisturbed blocks where there are any."
    )
    variant_epoch_s: Seconds | None = None
    epochs_disturbed: bool = Field(False, description="Both are of disturbed blocks, since there are no others.")


class OrderEffect(Frozen):
    """Whether it matters when in a block a process ran; by `harness.verdicts.order_effect`."""

    ratio: float = Field(description="A block's first ratio (A B) over its second (B A): 1 where order is nothing.")
    ci: Interval
    drift: float = Field(description="A block's last reference over its first, in time: above 1, it got slower.")
    drift_ci: Interval
    level: float = Field(description="Confidence of both intervals.")
    blocks: int

    @property
    def matters(self) -> bool:
        """Whether an interval excludes 1."""
        return any(lower > 1.0 or upper < 1.0 for lower, upper in (self.ci, self.drift_ci))


class MemoryUse(Frozen):
    """Peak bytes over the base, reference over variant: above 1 is smaller."""

    ratio: Ratio | None = None
    ci: Interval | None = None
    level: float | None = None
    state: GainState
    exact: bool = Field(False, description="Allocator bytes that never vary: no interval is needed.")
    reference_bytes: Bytes | None = Field(None, description="Median peak of the timing processes.")
    variant_bytes: Bytes | None = None
    estimated_bytes: int | None = Field(None, description="Expected for the variant before the run.")
    measured_over_estimated: float | None = None
    estimate_off: bool = Field(False, description="The measured peak is over 1.5 times the estimate, or under half.")
    warnings: list[str] = Field([], description="What the variant's runs said of their memory.")


class FailedRun(Frozen):
    """A run that did not finish, and why."""

    arm: Literal["reference", "variant"]
    purpose: Literal["quality", "timing"]
    seed: int | None = None
    run_id: str
    status: Status
    message: str = ""


class Costs(Frozen):
    """What stands beside the gain: one-off costs, and the most that the option could give."""

    preprocess_s: dict[str, float] = Field({}, description="One-off costs of the variant, seconds.")
    reference_preprocess_s: dict[str, float] = Field({}, description="Likewise of the reference.")
    payoff_epochs: float | None = Field(
        None, description="Epochs until what exceeds the reference's is earned back; None: never, or nothing does."
    )
    targets: list[str] = Field([], description="Stages that the patch can shorten; empty where it changes them all.")
    ceiling: float | None = Field(None, description="Amdahl: the speed-up if those stages took no time at all.")
    reference_stages: Stages | None = None
    variant_stages: Stages | None = None
    stages_disturbed: bool = Field(False, description="Both are of disturbed blocks, since there are no others.")
    total: TotalCost | None = Field(None, description="Of a whole training; None where epochs were not timed.")


class TimeToReference(Frozen):
    """Training until the validation accuracy that the reference has at its chosen epoch; medians over pairs."""

    epochs: float | None = Field(None, description="First epoch of the variant that reaches it; None: no pair did.")
    reference_epochs: float | None = Field(None, description="Likewise of the reference, in the pairs that reached it.")
    seconds: float | None = Field(None, description="Epochs times the median timed epoch; None: not timed.")
    reference_seconds: float | None = None
    epochs_ratio: float | None = Field(
        None, description="Reference over variant, geometric mean over the pairs that reached it: above 1 is sooner."
    )
    epochs_ci: Interval | None = Field(None, description="t interval at 95 %; None for fewer than two such pairs.")
    ratio: float | None = Field(None, description="Likewise in seconds: `epochs_ratio` times the speed-up.")
    ci: Interval | None = None
    reached: int = Field(description="Pairs in which the variant reached it.")
    pairs: int = Field(description="Pairs with both validation curves.")


class ComparisonVerdict(Frozen):
    """A variant against its reference, over all pairs and blocks."""

    variant: str
    reference: str
    patch: dict[str, Any] = Field({}, description="Dotted path to value: what the variant changes.")
    goal: Literal["speed", "memory"] = "speed"
    exact: bool = False
    parity: Parity | None = None
    n_pairs: int = Field(0, description="Complete pairs that were looked at.")
    accuracy: Accuracy | None = None
    speed: Speed
    order: OrderEffect | None = Field(None, description="None with fewer than four blocks.")
    memory: MemoryUse
    verdict: Verdict
    reason: str = Field(description="One plain sentence with its numbers.")
    costs: Costs = Costs()
    time_to_reference: TimeToReference | None = Field(None, description="None where no validation curves are known.")
    failed: list[FailedRun] = []
    counters: dict[str, Any] = Field({}, description="Proof that the option was on: what one run really did.")
    counters_run: str = Field("", description="That run's id: of the last timing process, else of a quality run.")
    notes: list[str] = Field([], description="Shorter remarks that change no verdict.")
    exploratory: bool = Field(False, description="Not by the looks and the gate that were declared beforehand.")
    exploratory_reason: str = Field("", description="Why, in words; empty where it is not exploratory.")
    not_comparable: str = Field("", description="Why its results, or its timing and the control, are unlike.")


class Control(Frozen):
    """The baseline timed against itself: the noise floor."""

    ratio: Ratio | None = None
    ci: Interval | None = None
    level: float | None = None
    blocks: int = 0
    state: Literal["quiet", "noisy", "missing"]
    reason: str
    smallest_gain: float | None = Field(None, description="Upper over lower: smaller gains drown in the noise.")
    memory_ratio: Ratio | None = None
    memory_ci: Interval | None = None
    disturbed_blocks: int = Field(0, description="As for a comparison's speed.")
    disturbed_by: list[str] = []
    unsettled_processes: int = 0
    order: OrderEffect | None = None


class ReferenceSummary(Frozen):
    """The baseline (or another reference) by itself."""

    name: str
    n: int = Field(description="Runs that ended well.")
    mean: float | None = None
    sd_pp: float | None = Field(None, description="Standard deviation over seeds, percentage points.")
    epoch_s: float | None = Field(
        None,
        description="Median seconds of a steady-state epoch, over the undisturbed blocks of all timings it is in.",
    )
    epoch_disturbed: bool = Field(False, description="It is of disturbed blocks, since there are no others.")
    failed: list[FailedRun] = []


class TestSet(Frozen):
    """What the test set can resolve."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    nodes: int
    max_drop_nodes: float = Field(description="The allowed drop in test nodes.")
    sampling_error_pp: Interval = Field(description="Of a difference, where 2 % and 10 % of predictions differ.")


class PartVerdict(Frozen):
    """A part of the recommended stack, from the stack without it. Described, not judged: no gate, no correction."""

    variant: str
    goal: Literal["speed", "memory"] = "speed"
    state: Place
    words: str = Field(description="One plain sentence with its numbers.")
    n_pairs: int = Field(0, description="Seeds that the stack and the stack without the part both ran well.")
    delta_pp: float | None = Field(None, description="Gate's metric without the part minus the stack's, in pp.")
    ci_pp: Interval | None = Field(None, description="Its t interval at 95 %.")
    speed: Speed = Field(description="The stack's seconds over those without the part: below 1, the part is faster.")
    memory: MemoryUse = Field(description="The stack's peak over that without the part: below 1, the part is smaller.")
    failed: list[FailedRun] = []


class StackHeight(Frozen):
    """The baseline with the stack's parts up to one of them, in the order of the spec, timed against the baseline."""

    adds: str = Field(description="The part that completes this height.")
    speed: Speed
    memory: MemoryUse
    missing: str = Field("", description="Why it has no ratio.")


class Confirmation(Frozen):
    """What is recommended, run as one on fresh seeds against a new baseline."""

    names: list[str] = Field([], description="The parts, in the order of the spec.")
    patch: dict[str, Any] = {}
    note: str = Field(description="Whether it is confirmed, in one plain sentence.")
    left_out: list[str] = Field([], description="Accepted variants that do not fit the others, and why.")
    seeds: list[int] = Field([], description="That the stack ran; none of them was run before.")
    comparison: ComparisonVerdict | None = Field(None, description="The stack against the new baseline.")
    parts: list[PartVerdict] = Field([], description="Each left out of the stack; empty where there is one part.")
    heights: list[StackHeight] = Field([], description="From the first part up to the whole stack.")

    @property
    def accepted(self) -> bool:
        """Whether the stack passed the gate by the looks declared for it, and its gain is real."""
        found = self.comparison
        return found is not None and found.verdict == "accept" and not found.exploratory


class Verdicts(Frozen):
    """`verdicts.json`."""

    version: Literal[1] = 1
    spec: str
    plan_id: str = Field("", description="Of the plan that was judged; empty in files from before it was kept.")
    description: str = ""
    dataset: str = Field("", description="The data set in a few words; empty in files from before it was kept.")
    design: Literal["one-at-a-time", "stack", "factorial", "leave-one-out"]
    gate: Gate
    looks: list[int] = Field(description="Numbers of pairs at which a decision may be made.")
    alpha_per_look: float
    timing: Timing
    device: str = ""
    test_set: TestSet | None = None
    references: list[ReferenceSummary] = []
    control: Control
    comparisons: list[ComparisonVerdict]
    diagnosis: Diagnosis = Diagnosis()
    recommended: list[str] = Field([], description="Accepted variants that can be switched on together.")
    recommended_patch: dict[str, Any] = Field({}, description="Their patches joined.")
    recommended_note: str = ""
    confirmation: Confirmation | None = Field(None, description="None where the spec does not ask for it.")
    warnings: list[str] = []
    data: DataVersion | None = Field(None, description="Of the reference's runs, else of any; None if not recorded.")
    measured: list[str] = Field(
        [], description="First and last end of a run or timing, UTC, ISO 8601; empty in files from before it was kept."
    )
    environment: dict[str, Any] = {}

    def of_another(self, plan_id: str) -> bool:
        """Whether another plan was judged than the one of this id, as far as the file says."""
        return self.plan_id not in ("", plan_id)
