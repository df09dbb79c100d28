"""What each toggle of the harness could give the baseline at most (Amdahl 1967), beside what it gave."""

from __future__ import annotations

from collections.abc import Sequence

from harness.plan.capabilities import model_cannot
from harness.plan.model import BASELINE, Plan
from harness.plan.no_effect import change_without_effect
from harness.records.record import Stages
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.verdicts.costs import bound
from harness.verdicts.diagnosis_model import ToggleCeiling
from harness.verdicts.model import ComparisonVerdict
from harness.verdicts.targets import TOGGLES, Toggle, share, toggle_of


def toggle_ceilings(
    stages: Stages, plan: Plan, comparisons: Sequence[ComparisonVerdict], device: str
) -> list[ToggleCeiling]:
    """One row a toggle, the largest ceiling first, those without one last.

    Args:
        stages: of the baseline's epoch.
        comparisons: a variant counts as a trial of a toggle where it changes nothing but that toggle's options.
        device: kind of the timed device.
    """
    rows = [_row(toggle, stages, plan, comparisons, device) for toggle in TOGGLES]
    return sorted(rows, key=lambda row: -(row.ceiling or 0.0))


def _row(
    toggle: Toggle, stages: Stages, plan: Plan, comparisons: Sequence[ComparisonVerdict], device: str
) -> ToggleCeiling:
    of_toggle = [c for c in comparisons if _is_trial(c, toggle)]
    timed = [c for c in of_toggle if c.speed.ratio is not None]
    best = max(timed, key=lambda c: c.speed.ratio or 0.0, default=None)
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
    )


def _is_trial(comparison: ComparisonVerdict, toggle: Toggle) -> bool:
    patch = comparison.patch
    return comparison.reference == BASELINE and bool(patch) and all(toggle_of(p, v) is toggle for p, v in patch.items())


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
    if toggle.option == "precision" and device == "cpu":
        return "half precision is often slower on a CPU: only a timing tells"
    wanted = settings_of(patched(tree_of(base), dict(toggle.example)))
    idle = change_without_effect(toggle.option, wanted, base)
    return idle or model_cannot(wanted.model, wanted.options) or ""
