"""The verdict: the first that applies of skipped, dnf or enables, reject, no-gain, inconclusive, accept; and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.records.results import Parity
from harness.spec.schema import Gate
from harness.verdicts.control import noise_objection
from harness.verdicts.disturbed import causes
from harness.verdicts.model import Accuracy, Control, MemoryUse, Speed, Verdict
from harness.verdicts.pairs import Quality
from harness.verdicts.wording import METRICS, interval_pp, interval_text, places_apart, plural, ratio_text, signed

INCOMPLETE = "timing is not complete"  # what a reason says of one
NOT_RUN = "not run yet: there are no results of it"


@dataclass(frozen=True)
class Findings:
    """Everything that the verdict on one comparison rests on."""

    goal: Literal["speed", "memory"]
    exact: bool
    parity: Parity | None
    quality: Quality | None  # None: there are no results of it yet
    speed: Speed
    memory: MemoryUse
    control: Control
    timing_failed: str | None  # the variant failed while it was timed
    timing_missing: str | None  # no timing, for another reason
    not_comparable: str | None
    looks: tuple[int, ...]


def verdict(f: Findings, gate: Gate) -> tuple[Verdict, str]:
    """The verdict and its reason, one plain sentence with its numbers.

    An exact variant whose parity check contradicts it is a **reject**: what was declared is false, whatever the means
    say. What may not be compared, a ratio of speed timed beside other load, what the control leaves no room for, and an
    exact variant without a parity check are **inconclusive**.
    """
    if f.quality is None:
        return "inconclusive", NOT_RUN
    if f.quality.outcome == "enables" and f.not_comparable is not None:
        return "inconclusive", _sentence(f.not_comparable, f.quality.why)
    if f.quality.outcome != "ran":
        return f.quality.outcome, _sentence(_with_reached(f.quality), f.not_comparable or "")
    if f.timing_failed is not None:
        return "dnf", f"failed while it was timed: {f.timing_failed}"
    if f.not_comparable is not None:
        return "inconclusive", f.not_comparable
    accuracy, gain = accuracy_phrase(f.quality, gate, f.looks), gain_phrase(f, gate)
    if f.quality.accuracy.state == "fail":
        return "reject", _sentence(accuracy, gain)
    if f.exact and f.parity is not None and f.parity.state == "differs":
        return "reject", _sentence(_contradiction(f.parity), accuracy, gain)
    if _goal_state(f) in ("no-gain", "loss") and not (f.goal == "speed" and f.speed.disturbed_blocks):
        return "no-gain", _sentence(gain, accuracy)
    open_questions = _open_questions(f, gate)
    if open_questions:
        settled = [] if f.quality.accuracy.state != "pass" else [accuracy]
        settled += [] if _goal_state(f) == "unknown" else [gain]
        return "inconclusive", _sentence(*open_questions, *settled)
    return "accept", _sentence(accuracy, gain)


def accuracy_phrase(quality: Quality, gate: Gate, looks: tuple[int, ...]) -> str:
    """What the gate says, with its numbers."""
    a, name = quality.accuracy, METRICS[gate.metric]
    if a.state == "invalid" or a.delta_pp is None or a.ci_pp is None:
        known = f" ({'; '.join(quality.notes)})" if quality.notes else ""
        return f"{plural(len(a.seeds), 'complete pair')} of the {looks[0]} that the first look needs{known}"
    same = f"predictions are identical on all {a.look} seeds" if a.identical else ""
    if same and a.state == "pass":
        return same
    places = places_apart(a.ci_pp, -gate.max_drop_pp)
    shown = f"{name} {signed(a.delta_pp, places)} pp {interval_pp(*a.ci_pp, places)}"
    if a.state == "pass":
        return f"{shown} passes"
    if a.state == "fail":
        return f"{shown} fails: the drop is larger than {gate.max_drop_pp:g} pp"
    undecided = f"{shown} is undecided after {a.look} seeds{_more(a, looks)}"
    return f"{undecided}; {same}, which chance alone may do on so few test nodes" if same else undecided


def gain_phrase(f: Findings, gate: Gate) -> str:
    """What the goal's ratio says, with its numbers; empty where nothing was measured."""
    measured = f.memory if f.goal == "memory" else f.speed
    if measured.ratio is None or measured.ci is None:
        return ""
    smallest = gate.min_memory_saving if f.goal == "memory" else gate.min_speedup
    places = places_apart(measured.ci, smallest, 1.0)
    ratio, interval = ratio_text(measured.ratio, places), interval_text(*measured.ci, places)
    shown = f"{ratio} times as fast {interval}"
    if f.goal == "memory":
        if measured.state == "loss":
            return f"peak memory larger than the reference's: {ratio} {interval}"
        shown = f"peak memory {ratio} times smaller {interval}"
    if measured.state == "loss":
        return f"{shown}, slower than the reference"
    if measured.state == "no-gain":
        return f"{shown}, below the smallest gain of {smallest:.2f}"
    return shown


def _open_questions(f: Findings, gate: Gate) -> list[str]:
    """What stands between a variant and an accept, each a phrase."""
    assert f.quality is not None
    found = []
    if f.quality.accuracy.state != "pass":
        found.append(accuracy_phrase(f.quality, gate, f.looks))
    if f.exact and (f.parity is None or f.parity.state == "not-checked"):
        why = f.parity.note if f.parity is not None else ""
        found.append("declared exact, but parity was not checked" + (f": {why}" if why else ""))
    state = _goal_state(f)
    if state == "unknown":
        found.append(_unknown_gain(f, gate))
    elif f.timing_missing is not None:  # decided by the blocks before, which other looks would not have ended at
        found.append(f"{INCOMPLETE}: {f.timing_missing}")
    if state != "unknown":
        found += gain_objections(f.goal, f.speed, f.memory, f.control)
    return found


def gain_objections(goal: Literal["speed", "memory"], speed: Speed, memory: MemoryUse, control: Control) -> list[str]:
    """Why a ratio is not to be believed, whichever way it points: other load, or no room beside the control."""
    found = []
    if goal == "speed" and speed.disturbed_blocks:
        of = f"{speed.disturbed_blocks} of {plural(speed.blocks, 'block')}"
        found.append(f"disturbed while timed in {of} ({causes(speed.disturbed_by)})")
    ratio = memory.ratio if goal == "memory" else speed.ratio
    if ratio is not None:
        objection = _noise(goal, control, max(ratio, 1.0 / ratio))
        found += [objection] if objection else []
    return found


def _unknown_gain(f: Findings, gate: Gate) -> str:
    what = "memory" if f.goal == "memory" else "speed"
    if f.timing_missing is not None:
        return f"{what} unknown: {f.timing_missing}"
    phrase = gain_phrase(f, gate)
    if not phrase:
        return f"{what} unknown: too few timing blocks for the first look"
    measured = f.memory if f.goal == "memory" else f.speed
    smallest = gate.min_memory_saving if f.goal == "memory" else gate.min_speedup
    if measured.ci is not None and measured.ci[0] > smallest:
        return f"{phrase} does not stand out from the control's own spread"
    return f"{phrase} is undecided: the interval straddles {smallest:.2f}"


def _noise(goal: Literal["speed", "memory"], control: Control, gain: float) -> str | None:
    interval, what = (control.memory_ci, "peak memory") if goal == "memory" else (control.ci, "time")
    lower, upper = interval if interval is not None else (None, None)
    return noise_objection(what, gain, lower, upper)


def _goal_state(f: Findings) -> Literal["gain", "no-gain", "loss", "unknown"]:
    return f.memory.state if f.goal == "memory" else f.speed.state


def _more(a: Accuracy, looks: tuple[int, ...]) -> str:
    if a.look is None:
        return ""
    last = a.look >= looks[-1]
    if a.more_seeds is None:
        return ", and 200 would not settle it" if a.delta_pp is not None else ""
    roughly = f", roughly {a.more_seeds} more needed"
    if last or a.look + a.more_seeds > looks[-1]:
        return f"{roughly}, which takes a new spec with fresh seeds"
    return roughly


def _contradiction(parity: Parity) -> str:
    if parity.note:
        return f"declared exact, but {parity.note}"
    share = parity.max_abs_difference / parity.max_abs_logit if parity.max_abs_logit else parity.max_abs_difference
    cosine = parity.gradient_cosine
    return f"declared exact but differs: logits by {share:.1e} of the largest, gradient cosine {cosine:.4f}"


def _with_reached(quality: Quality) -> str:
    reached = quality.accuracy.variant
    if quality.outcome == "enables" and reached is not None:
        return f"{quality.why}, reaching {100.0 * reached:.1f} %"
    return quality.why


def _sentence(*phrases: str) -> str:
    return "; ".join(p for p in phrases if p)
