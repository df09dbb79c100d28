"""The control: the baseline timed against itself says how small a gain this machine can show."""

from __future__ import annotations

from harness.records.results import TimingResult
from harness.spec.schema import Gate, Timing
from harness.verdicts.disturbed import Disturbed, causes, disturbed
from harness.verdicts.model import Control
from harness.verdicts.order_effect import order_of
from harness.verdicts.speed import ControlJudgement, Speedup, control_state, judge_control, speedup
from harness.verdicts.wording import interval_text, plural


def summarise_control(timing: TimingResult | None, gate: Gate, design: Timing) -> Control:
    """The control as reports show it.

    One that broke off is missing: its job would have gone on to another look, so that what it has says too little.
    """
    if timing is None:
        return Control(state="missing", reason="the control was not timed, so no gain can be told from noise")
    if timing.status != "ok":
        why = f": {timing.reason}" if timing.reason else ""
        return Control(state="missing", reason=f"the control was not timed to its end{why}; no gain is accepted")
    judged = judge_control(timing.log_ratios, design.looks, gate.min_speedup)
    memory = control_memory(timing, gate, design).interval
    blocks = (judged.interval.n if judged.interval else len(timing.log_ratios)) // 2
    outside = disturbed(timing.blocks[:blocks])
    return Control(
        ratio=judged.interval.ratio if judged.interval else None,
        ci=(judged.interval.lower, judged.interval.upper) if judged.interval else None,
        level=judged.interval.confidence if judged.interval else None,
        blocks=blocks,
        state=judged.state,
        reason=_reason(judged, timing, gate, design) + _disturbed_words(outside, blocks),
        smallest_gain=judged.interval.width if judged.interval else None,
        memory_ratio=memory.ratio if memory else None,
        memory_ci=(memory.lower, memory.upper) if memory else None,
        order=order_of(timing.blocks),
        **outside,
    )


def control_memory(timing: TimingResult | None, gate: Gate, design: Timing) -> ControlJudgement:
    """The baseline's peak memory against itself."""
    if timing is None or timing.status != "ok" or not timing.memory_log_ratios:
        return ControlJudgement("missing", None, decided=False)
    if timing.memory_exact:
        ratio = speedup(timing.memory_log_ratios[:1]).ratio
        return control_state(Speedup(ratio, ratio, ratio, 1.0, len(timing.memory_log_ratios)), gate.min_memory_saving)
    return judge_control(timing.memory_log_ratios, design.looks, gate.min_memory_saving)


def noise_objection(what: str, gain: float, lower: float | None, upper: float | None) -> str | None:
    """Why a gain cannot be accepted on this machine; None where the control leaves room for it.

    Args:
        what: ``time`` or ``peak memory``.
        gain: the measured ratio, baseline over variant.
        lower, upper: interval of the baseline against itself; None where it is missing.
    """
    if lower is None or upper is None:
        return f"the control's {what} is missing, so no gain can be told from noise"
    shown = interval_text(lower, upper)
    if lower > 1.0 or upper < 1.0:
        return f"the machine is too noisy: the baseline's {what} against itself is off 1.00 {shown}"
    if upper / lower > gain:
        return f"the machine is too noisy: the control's interval {shown} is wider than the gain of {gain:.2f}"
    return None


def _disturbed_words(outside: Disturbed, blocks: int) -> str:
    """A control that was disturbed says what the machine was like then, and more than it is when left alone."""
    if not outside["disturbed_blocks"]:
        return ""
    of = f"{outside['disturbed_blocks']} of its {plural(blocks, 'block')}"
    return f"; {of} disturbed ({causes(outside['disturbed_by'])})"


def _reason(judged: ControlJudgement, timing: TimingResult, gate: Gate, design: Timing) -> str:
    if judged.interval is None:
        why = f": {timing.reason}" if timing.reason else ""
        blocks = len(timing.log_ratios) // 2
        return f"the control has {blocks} of the {design.looks[0] // 2} blocks that the first look needs{why}"
    interval = judged.interval
    shown = interval_text(interval.lower, interval.upper)
    if interval.lower > 1.0 or interval.upper < 1.0:
        return f"the machine is too noisy: the baseline against itself gives {shown}, off 1.00; no gain is accepted"
    if judged.state == "noisy":
        return (
            f"the baseline against itself gives {shown}, wider than the smallest gain of {gate.min_speedup:.2f}; "
            f"only gains above {interval.width:.2f} can be accepted"
        )
    return f"the baseline against itself gives {shown}, around 1.00 and narrow enough"
