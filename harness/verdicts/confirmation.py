"""Is what is recommended good as a whole, does each part earn its place, and how does the stack grow?

The whole is judged by the same rule as any variant, on seeds that nobody chose by. Its parts and floors are described:
intervals without a gate, each by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from harness.plan.confirmation import RECOMMENDED, Part
from harness.plan.confirmed import Confirmed
from harness.plan.model import CONTROL, Comparison, Plan
from harness.records.results import TimingResult, VariantResult
from harness.verdicts.disturbed import disturbed
from harness.verdicts.means import interval_of, mean_of
from harness.verdicts.model import (
    ComparisonVerdict,
    Confirmation,
    Control,
    GainState,
    MemoryUse,
    PartVerdict,
    Place,
    Speed,
    StackHeight,
)
from harness.verdicts.non_inferiority import paired_differences
from harness.verdicts.recommend import Recommendation
from harness.verdicts.rule import gain_objections
from harness.verdicts.speed import Speedup, judge_control, speedup
from harness.verdicts.wording import METRICS, interval_pp, interval_text, places_apart, plural, ratio_text, signed

NOT_RUN = "not confirmed yet: accepted alone does not mean accepted together, and they have not been run as one"
PART_LEVEL = 0.95  # of the interval of a part's accuracy


class Compare(Protocol):
    """What judges one comparison of a plan by its results, the control's timing among them."""

    def __call__(
        self,
        comparison: Comparison,
        plan: Plan,
        variants: Mapping[str, VariantResult],
        timings: Mapping[str, TimingResult],
        /,
    ) -> ComparisonVerdict: ...


def confirmation_of(
    plan: Plan,
    recommended: Recommendation,
    confirmed: Confirmed | None,
    control: TimingResult | None,
    noise: Control,
    compare: Compare,
) -> Confirmation | None:
    """What came of a confirmation; None where the spec does not ask for one.

    Args:
        plan: the grid's.
        recommended: of the grid's verdicts as they are now; a confirmation of another one counts as not run.
        confirmed: the confirmation's results.
        control: timing of the baseline against itself, which says how small a gain the machine can show.
        noise: what it says.
        compare: judges one comparison.
    """
    if plan.confirm == "none":
        return None
    asked = Confirmation(
        names=list(recommended.names),
        patch=recommended.patch,
        note=NOT_RUN if recommended.names else "no variant was accepted: there is nothing to confirm",
        left_out=list(recommended.left_out),
    )
    if confirmed is None or not recommended.names or not confirmed.confirms(recommended.names, recommended.patch):
        return asked
    frozen = confirmed.confirmation.plan
    if frozen is None:
        why = "; ".join(s.reason for s in confirmed.confirmation.skipped)
        return asked.model_copy(update={"note": f"not confirmed: the variants cannot run together here: {why}"})
    timings = confirmed.timings | ({CONTROL: control} if control is not None else {})
    judged = {c.variant: compare(c, frozen, confirmed.variants, timings) for c in frozen.comparisons}
    if RECOMMENDED not in confirmed.variants:
        return asked
    stack = judged[RECOMMENDED].model_copy(update={"patch": recommended.patch})
    parts = confirmed.confirmation.parts
    return asked.model_copy(
        update={
            "note": _note(stack),
            "seeds": [run.seed for run in confirmed.variants[RECOMMENDED].runs],
            "comparison": stack,
            "parts": [_part(p, confirmed, judged, frozen, noise) for p in parts if p.without],
            "heights": [_height(p, confirmed, judged, frozen) for p in parts],
        }
    )


def _note(stack: ComparisonVerdict) -> str:
    if stack.exploratory:
        return f"not confirmed, {stack.verdict} but exploratory: {stack.exploratory_reason}"
    if stack.verdict == "accept":
        return f"confirmed on fresh seeds: {stack.reason}"
    return f"not confirmed, {stack.verdict} on fresh seeds: {stack.reason}"


def described(log_ratios: list[float], plan: Plan, exact: bool = False) -> Speedup | None:
    """A ratio that is shown and not judged: at the look where its interval left 1 or was narrow enough, else the last.

    Args:
        exact: an allocator's bytes that never vary: the ratio itself.
    """
    if exact and log_ratios:
        ratio = speedup(log_ratios[:1]).ratio
        return Speedup(ratio, ratio, ratio, 1.0, len(log_ratios))
    return judge_control(log_ratios, plan.timing.looks, plan.gate.min_speedup).interval


def _speed(measured: Speed, timing: TimingResult | None, plan: Plan) -> Speed:
    interval = None if timing is None else described(timing.log_ratios, plan)
    if interval is None:
        return measured.model_copy(update={"ratio": None, "ci": None, "level": None, "state": "unknown"})
    assert timing is not None  # an interval is of its ratios
    blocks = interval.n // 2
    return measured.model_copy(update={**_shown(interval), "blocks": blocks, **disturbed(timing.blocks[:blocks])})


def _memory(measured: MemoryUse, timing: TimingResult | None, plan: Plan) -> MemoryUse:
    interval = None if timing is None else described(timing.memory_log_ratios, plan, timing.memory_exact)
    if interval is None:
        return measured.model_copy(update={"ratio": None, "ci": None, "level": None, "state": "unknown"})
    return measured.model_copy(update=_shown(interval))


def _shown(interval: Speedup) -> dict[str, object]:
    state: GainState = "gain" if interval.lower > 1.0 else "loss" if interval.upper < 1.0 else "unknown"
    return {
        "ratio": interval.ratio,
        "ci": (interval.lower, interval.upper),
        "level": interval.confidence,
        "state": state,
    }


def _height(part: Part, confirmed: Confirmed, judged: Mapping[str, ComparisonVerdict], plan: Plan) -> StackHeight:
    found, timing = judged.get(part.height), confirmed.timings.get(part.height)
    if found is None:
        skipped = next((s.reason for s in confirmed.confirmation.skipped if s.variant == part.height), "not planned")
        return _no_height(part, skipped)
    useless = _useless(found, timing)
    if useless:
        return _no_height(part, useless)
    if part.height == RECOMMENDED:
        speed, memory = found.speed, found.memory
    else:
        speed, memory = _speed(found.speed, timing, plan), _memory(found.memory, timing, plan)
    missing = "" if speed.ratio is not None else "too few timing blocks for the first look"
    return StackHeight(adds=part.variant, speed=speed, memory=memory, missing=missing)


def _no_height(part: Part, why: str) -> StackHeight:
    return StackHeight(adds=part.variant, speed=Speed(state="unknown"), memory=MemoryUse(state="unknown"), missing=why)


def _useless(found: ComparisonVerdict, timing: TimingResult | None) -> str:
    """Why a timing says nothing at all; empty where it says something."""
    if timing is None:
        return "there is no timing"
    if timing.status != "ok":
        return timing.reason or f"timing ended as {timing.status}"
    return found.not_comparable


def _part(
    part: Part, confirmed: Confirmed, judged: Mapping[str, ComparisonVerdict], plan: Plan, noise: Control
) -> PartVerdict:
    found, timing = judged.get(part.without), confirmed.timings.get(part.without)
    quality = confirmed.variants.get(part.without)
    if found is None:
        why = next((s.reason for s in confirmed.confirmation.skipped if s.variant == part.without), "not planned")
        return _unknown(part, f"cannot be left out: {why}")
    useless = _useless(found, timing)
    speed, memory = (
        (Speed(state="unknown"), MemoryUse(state="unknown"))
        if useless
        else (_speed(found.speed, timing, plan), _memory(found.memory, timing, plan))
    )
    differences = [] if quality is None or found.not_comparable else _differences(quality)
    delta, interval = t_interval(differences)
    state, words = _place(part, speed, memory, useless, gain_objections(part.goal, speed, memory, noise))
    accuracy = confirmed.reasons.get(part.without, "")
    if delta is not None and interval is not None:
        accuracy = f"{METRICS[plan.gate.metric]} without it {signed(delta)} pp {interval_pp(*interval)}"
    failed = sum(run.arm == "variant" and run.purpose == "quality" for run in found.failed)
    if failed and quality is not None:
        accuracy += f"{'; ' if accuracy else ''}it failed on {failed} of {plural(len(quality.runs), 'seed')} without it"
    return PartVerdict(
        variant=part.variant,
        goal=part.goal,
        state=state,
        words=words + (f"; {accuracy}" if accuracy else ""),
        n_pairs=len(differences),
        delta_pp=delta,
        ci_pp=interval,
        speed=speed,
        memory=memory,
        failed=found.failed,
    )


def _unknown(part: Part, words: str) -> PartVerdict:
    return PartVerdict(
        variant=part.variant,
        goal=part.goal,
        state="unknown",
        words=words,
        speed=Speed(state="unknown"),
        memory=MemoryUse(state="unknown"),
    )


def _place(part: Part, speed: Speed, memory: MemoryUse, useless: str, objections: Sequence[str]) -> tuple[Place, str]:
    """Whether the stack is worse without a part, by the part's goal; what noise may explain shows nothing.

    Args:
        useless: why the timing says nothing at all, if so.
        objections: why its ratio is not to be believed.
    """
    measured = memory if part.goal == "memory" else speed
    if measured.ratio is None or measured.ci is None:
        short = "no peak was recorded" if part.goal == "memory" else "too few timing blocks for the first look"
        return "unknown", f"what leaving out {part.variant} does is not known: {useless or short}"
    lower, upper = measured.ci
    worse, better = ("larger", "smaller") if part.goal == "memory" else ("slower", "faster")
    what = "its peak memory" if part.goal == "memory" else "it"
    ratio, interval, change = measured.ratio, (lower, upper), better
    if measured.ratio <= 1.0:
        ratio, interval, change = 1.0 / measured.ratio, (1.0 / upper, 1.0 / lower), worse
    places = places_apart(interval, 1.0)
    shown = f"{ratio_text(ratio, places)} times {change} {interval_text(*interval, places)}"
    text = f"leaving out {part.variant} makes {what} {shown}"
    if lower <= 1.0 <= upper:
        return "not shown", f"{text}: not shown to earn its place"
    if objections:
        what = "earn its place" if upper < 1.0 else "cost anything"
        return "not shown", f"{text}: not shown to {what}; {'; '.join(objections)}"
    if upper < 1.0:
        return "earns its place", f"{text}: earns its place"
    return "drop", f"{text}: drop it"


def _differences(quality: VariantResult) -> list[float]:
    """Without the part minus the stack, in pp, over the seeds that both ran well."""
    stack, rest = (
        {r.seed: r.metric for r in runs if r.status == "ok"} for runs in (quality.reference_runs, quality.runs)
    )
    pairs = [(stack[s], rest[s]) for s in sorted(stack.keys() & rest.keys())]
    complete = [(a, b) for a, b in pairs if a is not None and b is not None]
    return paired_differences([a for a, _ in complete], [b for _, b in complete])


def t_interval(d_pp: list[float]) -> tuple[float | None, tuple[float, float] | None]:
    """Mean of paired differences with its two-sided t interval at 95 %; no interval of fewer than two."""
    if not d_pp:
        return None, None
    found = mean_of(d_pp)
    return found.mean, interval_of([found], PART_LEVEL)
