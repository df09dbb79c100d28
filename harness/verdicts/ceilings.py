"""What each toggle of the harness could give the baseline at most (Amdahl 1967), beside what it gave."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from harness.plan.capabilities import model_cannot
from harness.plan.model import BASELINE, Plan
from harness.plan.no_effect import change_without_effect
from harness.records.record import Stages
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.verdicts.costs import bound
from harness.verdicts.diagnosis_model import ToggleCeiling
from harness.verdicts.model import ComparisonVerdict
from harness.verdicts.targets import TOGGLES, Toggle, share, toggle_of
from harness.verdicts.wording import plural

_RANK = {"no-gain": 0, "undecided": 1, "gain": 2}  # of the trials that may stand for a toggle


def toggle_ceilings(
    stages: Stages,
    plan: Plan,
    comparisons: Sequence[ComparisonVerdict],
    device: str,
    half_instructions: Collection[str] | None = None,
) -> list[ToggleCeiling]:
    """One row a toggle, the largest ceiling first, those without one last.

    Args:
        stages: of the baseline's epoch.
        comparisons: a variant counts as a trial of a toggle where it changes nothing but that toggle's options.
        device: kind of the timed device.
        half_instructions: half precisions that its processor has instructions for; None where that was not recorded.
    """
    rows = [_row(toggle, stages, plan, comparisons, device) for toggle in TOGGLES]
    rows = [row.model_copy(update={"doubt": _doubt(row, device, half_instructions)}) for row in rows]
    return sorted(rows, key=lambda row: -(row.ceiling or 0.0))


def _row(
    toggle: Toggle, stages: Stages, plan: Plan, comparisons: Sequence[ComparisonVerdict], device: str
) -> ToggleCeiling:
    of_toggle = [c for c in comparisons if _is_trial(c, toggle)]
    timed = [c for c in of_toggle if c.speed.ratio is not None]
    best = max(timed, key=lambda c: (_RANK[_state(c)], c.speed.ratio or 0.0), default=None)
    targeted = share(stages, toggle.targets)
    return ToggleCeiling(
        toggle=toggle.name,
        option=toggle.option,
        targets=list(toggle.targets),
        share=targeted,
        ceiling=bound(targeted) if toggle.bounded else None,
        closed="" if timed else _closed(toggle, plan, of_toggle, device),
        tried=[c.variant for c in timed],
        best=best.variant if best else None,
        reached=best.speed.ratio if best else None,
        reached_ci=best.speed.ci if best else None,
        state=_state(best) if best else None,
        undecided=_undecided(best, plan) if best else "",
    )


def _is_trial(comparison: ComparisonVerdict, toggle: Toggle) -> bool:
    patch = comparison.patch
    return comparison.reference == BASELINE and bool(patch) and all(toggle_of(p, v) is toggle for p, v in patch.items())


def _state(trial: ComparisonVerdict) -> Literal["gain", "no-gain", "undecided"]:
    """A toggle is shown not to gain only where a trial's interval lies below the smallest gain, on a quiet machine."""
    if trial.not_comparable or trial.speed.disturbed_blocks or trial.speed.state == "unknown":
        return "undecided"
    return "gain" if trial.speed.state == "gain" else "no-gain"


def _undecided(trial: ComparisonVerdict, plan: Plan) -> str:
    """What would decide a trial; empty where it is decided."""
    if _state(trial) != "undecided":
        return ""
    speed = trial.speed
    if trial.not_comparable:
        return "its timing cannot be compared"
    if speed.disturbed_blocks:
        of = f"{speed.disturbed_blocks} of {plural(speed.blocks, 'block')}"
        return f"{of} disturbed, so that it takes a quiet machine"
    if speed.narrow:
        return f"it sits on the line of {plan.gate.min_speedup:g} times, and more blocks would not move it"
    return "more timing blocks decide"


def _doubt(row: ToggleCeiling, device: str, half_instructions: Collection[str] | None) -> str:
    """Half precision on a processor without instructions for it."""
    if row.option != "precision" or device != "cpu" or row.closed or row.tried:
        return ""
    half = "bf16" if "compute" in row.targets else "fp16"
    if half_instructions is None:
        return f"often slower on a CPU without {half} instructions, and only a timing tells"
    return "" if half in half_instructions else f"often slower on a CPU that has no {half} instructions, as this one"


def _closed(toggle: Toggle, plan: Plan, of_toggle: Sequence[ComparisonVerdict], device: str) -> str:
    """Why there is nothing to try; empty where there is."""
    cell = plan.cells[BASELINE]
    base = Settings(cell.model, cell.training, cell.options)
    if toggle.is_on(base):
        return "on in the baseline"
    if of_toggle and all(c.verdict == "skipped" for c in of_toggle):
        return of_toggle[0].reason
    if toggle.option == "features.home" and device == "cpu":
        return "the device's memory is the host's on the CPU"
    wanted = settings_of(patched(tree_of(base), dict(toggle.example)))
    idle = change_without_effect(toggle.option, wanted, base)
    return idle or model_cannot(wanted.model, wanted.options) or ""
