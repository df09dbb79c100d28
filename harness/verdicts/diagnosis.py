"""Where a step's time goes, in words: the bottleneck, what to try first, when more machines would wait as well."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness.plan.model import BASELINE, Plan
from harness.records.results import TimingResult
from harness.verdicts.ceilings import toggle_ceilings
from harness.verdicts.costs import HIGHEST_CEILING
from harness.verdicts.diagnosis_model import ArmProfile, Diagnosis, Gain, Saving, Side, ToggleCeiling
from harness.verdicts.model import ComparisonVerdict
from harness.verdicts.profiles import arm_profile, arms_of, gain_of, stages_of
from harness.verdicts.targets import DATA, share
from harness.verdicts.wording import interval_text, percent, ratio_text, seconds_text

CLOCK_MATTERS = 0.10  # a profile epoch that is off a timed one by more is told, so that nobody reads it as one
LEAST_TOLD = 0.05  # of what all stages together changed by: a smaller part explains nothing
DATA_DOMINATES = 0.5  # of a step: more devices then wait for the data side as well


def diagnose(
    plan: Plan, timings: Mapping[str, TimingResult], comparisons: Sequence[ComparisonVerdict], device: str
) -> Diagnosis:
    """The stages of the baseline and of every variant, as numbers and as sentences.

    Args:
        timings: by variant, the control's under `control`, both arms of which are the baseline.
        comparisons: judged; skipped ones too.
        device: kind of the timed device.
    """
    gains = [gain for c in comparisons if (gain := _gain(c, timings.get(c.variant))) is not None]
    baseline = arm_profile(BASELINE, arms_of(BASELINE, timings))
    if baseline is None:
        return Diagnosis(gains=gains)
    stages = stages_of(baseline)
    recorded = [t.environment.get("half_instructions") for t in timings.values() if t.environment]
    toggles = toggle_ceilings(stages, plan, comparisons, device, next(iter(recorded), None))
    threads = plan.cells[BASELINE].options.loader.threads
    data = share(stages, DATA)
    shares: dict[Side, float] = {
        "data": data,
        "compute": share(stages, ("compute",)),
        "update": share(stages, ("update",)),
    }
    side = max(shares, key=lambda name: shares[name])
    return Diagnosis(
        baseline=baseline,
        bottleneck=side,
        data_share=data,
        toggles=toggles,
        more_machines="open" if data <= DATA_DOMINATES else ("loader-behind" if threads else "not-yet"),
        sentences=[
            bottleneck_sentence(baseline, side, data),
            *disturbed_sentences(baseline),
            *clock_sentences(baseline),
            try_first_sentence(toggles, plan.gate.min_speedup),
            machines_sentence(data, threads),
        ],
        gains=gains,
    )


def bottleneck_sentence(profile: ArmProfile, side: Side, data: float) -> str:
    """Which side takes most of a step, with all shares."""
    parts = ", ".join(f"{_stage_name(t.stage, profile.wait_s)} {percent(t.share)}" for t in profile.stages)
    names: dict[Side, str] = {"data": "the data side", "compute": "compute", "update": "the update"}
    taken = data if side == "data" else next(t.share for t in profile.stages if t.stage == side)
    text = f"The bottleneck of {profile.name} is {names[side]}, {percent(taken)} of a step ({parts})"
    return text + "." if side == "data" else f"{text}; the data side takes {percent(data)}."


def disturbed_sentences(profile: ArmProfile) -> list[str]:
    """A warning where no undisturbed block is there to take the shares from."""
    if not profile.disturbed:
        return []
    return ["Something outside disturbed the timing blocks that these shares are of: they may be off."]


def clock_sentences(profile: ArmProfile) -> list[str]:
    """A warning where the epoch in which stages were looked at is not like the timed ones."""
    if profile.slower is None or abs(profile.slower - 1.0) <= CLOCK_MATTERS:
        return []
    return [
        f"The epoch in which stages were looked at took {ratio_text(profile.slower)} times a timed one: read shares as "
        f"shares of that epoch, not as a timed step's."
    ]


def try_first_sentence(toggles: Sequence[ToggleCeiling], min_speedup: float) -> str:
    """The toggle with the most room first, then what else has room: the next one, one not tried, the undecided."""
    open_ones = sorted((t for t in toggles if _room(t) >= min_speedup), key=lambda t: (bool(t.doubt), -_room(t)))
    if not open_ones:
        return (
            f"No toggle is left with room for {min_speedup:g} times: what remains is less work in a step (fewer "
            "neighbours, another way of batching, a smaller model)."
        )
    first, *others = open_ones
    if first.state is None:
        able = _able(first)
        told = [
            f"Try first: {_named(first)}. {able[0].upper()}{able[1:]}; nothing here tried it{_unless_doubted(first)}."
        ]
    else:
        told = [f"Most room is left to {_named(first)}: {_able(first)}; {_given(first)}."]
        if first.state == "undecided" and others and others[0].state is not None:
            following = others.pop(0)
            told.append(f"Then to {_named(following)}: {_able(following)}; {_given(following)}.")
        untried = next((t for t in others if t.state is None), None)
        if untried is not None:
            bounded = _bounded(untried.share, untried.ceiling or 1.0)
            told.append(f"Not tried: {_named(untried)}, {bounded}{_unless_doubted(untried)}.")
    undecided = [f"{t.toggle} ({t.best})" for t in others if t.state == "undecided"]
    if undecided:
        told.append(f"Undecided, so still open: {_joined(undecided)}.")
    return " ".join(told)


def _named(row: ToggleCeiling) -> str:
    return f"{row.toggle} ({row.option})"


def _able(row: ToggleCeiling) -> str:
    """Sentence without its capital: what the toggle's stages take, and the bound that follows."""
    verb = "are" if len(row.targets) > 1 else "is"
    return f"{_joined(row.targets)} {verb} {_bounded(row.share, row.ceiling or 1.0)}"


def _given(row: ToggleCeiling) -> str:
    interval = "" if row.reached_ci is None else f" {interval_text(*row.reached_ci)}"
    gave = f"{row.best} gave {ratio_text(row.reached or 0.0)}{interval}"
    return f"{gave}, which is undecided: {row.undecided}" if row.state == "undecided" else gave


def _unless_doubted(row: ToggleCeiling) -> str:
    return f"; {row.doubt}" if row.doubt else ""


def ceiling_text(ceiling: float | None) -> str:
    """Amdahl's ceiling, in no more digits than anyone would come near."""
    if ceiling is None:
        return "–"
    return ratio_text(ceiling) if ceiling <= HIGHEST_CEILING else f"over {HIGHEST_CEILING:g}"


def _bounded(taken: float, ceiling: float) -> str:
    of_a_step = f"{percent(taken)} of a step"
    if ceiling > HIGHEST_CEILING:
        return f"{of_a_step}, which sets no useful ceiling"
    return f"{of_a_step}: at most {ratio_text(ceiling)} times if that took no time at all"


def machines_sentence(data: float, loader_threads: int) -> str:
    """Whether more devices would help, by the rule: not while the data side, unoverlapped, takes most of a step."""
    if data <= DATA_DOMINATES:
        return (
            f"The stages do not speak against more machines: the data side takes {percent(data)} of a step, not over "
            "half. What they would spend on communication is not measured here."
        )
    if loader_threads == 0:
        return (
            f"More machines make no sense yet: the data side takes {percent(data)} of a step (over half) and no loader "
            "overlaps it (loader.threads: 0), so that more devices would wait as well."
        )
    return (
        f"The loader does not keep up: the model waits for data in {percent(data)} of a step although "
        f"loader.threads is {loader_threads}; more devices would wait as well unless each brings its own processors."
    )


def gain_sentences(gain: Gain, comparison: ComparisonVerdict) -> list[str]:
    """Where a variant's gain came from, and which stage it was to shorten and did not."""
    if gain.disturbed:
        warning = "Something outside disturbed its timing blocks: its stages may be off."
        return [warning, *_stage_sentences(gain, comparison)]
    return _stage_sentences(gain, comparison)


def _stage_sentences(gain: Gain, comparison: ComparisonVerdict) -> list[str]:
    if not gain.savings:
        why = "of other batches, though it changes none" if gain.same_epoch else "of another epoch"
        return [f"Its stages are not compared with {gain.reference}'s: they are {why}."]
    found = [_where_from(gain, comparison)]
    missed = [s.stage for s in gain.savings if s.expected and not _shorter(s)]
    if missed:
        found.append(f"It is to shorten {_joined(_expected(gain))}; {_joined(missed)} did not get shorter.")
    if gain.same_batches is False and gain.nodes_ratio is not None and gain.edges_ratio is not None:
        found.append(
            f"Its batches are others by design: {ratio_text(gain.nodes_ratio)} times the nodes and "
            f"{ratio_text(gain.edges_ratio)} times the edges."
        )
    if gain.wait_s is not None:
        found.append(f"Its sample is the wait for the loader's next batch: {seconds_text(gain.wait_s)} of an epoch.")
    return found


def _gain(comparison: ComparisonVerdict, timing: TimingResult | None) -> Gain | None:
    gain = gain_of(timing, comparison.patch) if timing is not None else None
    return None if gain is None else gain.model_copy(update={"sentences": gain_sentences(gain, comparison)})


def _where_from(gain: Gain, comparison: ComparisonVerdict) -> str:
    total = math.fsum(s.seconds for s in gain.savings)
    change = f"{seconds_text(abs(total))} an epoch {'less' if total >= 0.0 else 'more'} than {gain.reference}"
    listed = ", ".join(_changes(gain.savings, total)) or "no stage clearly changed"
    if comparison.speed.state == "gain" and comparison.speed.ratio is not None:
        return f"The gain ({ratio_text(comparison.speed.ratio)} times) is {change}: {listed}."
    return f"No gain is shown; its stages take {change}: {listed}."


def _changes(savings: Sequence[Saving], total: float) -> list[str]:
    """What makes up a sum, largest first: the stages that clearly changed, and the largest one even if it did not."""
    told = []
    for place, saving in enumerate(sorted(savings, key=lambda s: -abs(s.seconds))):
        clear = _shorter(saving) or _longer(saving)
        if saving.seconds == 0.0 or abs(saving.seconds) < LEAST_TOLD * abs(total) or not (clear or place == 0):
            continue
        text = f"{saving.stage} {seconds_text(abs(saving.seconds))} {'shorter' if saving.seconds > 0.0 else 'longer'}"
        told.append(text if clear else f"{text} (its interval contains zero)")
    return told


def _shorter(saving: Saving) -> bool:
    return (saving.ci[0] if saving.ci is not None else saving.seconds) > 0.0


def _longer(saving: Saving) -> bool:
    return (saving.ci[1] if saving.ci is not None else saving.seconds) < 0.0


def _expected(gain: Gain) -> list[str]:
    return [s.stage for s in gain.savings if s.expected]


def _room(row: ToggleCeiling) -> float:
    """How much faster it could still make the baseline: nothing where it was tried and is shown not to gain."""
    if row.closed or row.ceiling is None or row.state == "no-gain":
        return 0.0
    return row.ceiling / max(row.reached or 1.0, 1.0)  # what an undecided trial lost is nothing to win back


def _stage_name(stage: str, wait_s: float | None) -> str:
    return "waiting for the loader" if stage == "sample" and wait_s is not None else stage


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
