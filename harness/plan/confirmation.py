"""`recommended.json`: accepted variants joined, and the frozen cells that confirm the whole, its parts and its floors.

Its runs have seeds of their own: what was chosen by lucky runs must not be judged by the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from harness.plan.cells import CellContext, cell_context, planned_cell
from harness.plan.designs import Planned
from harness.plan.files import variant_plans
from harness.plan.ids import digest
from harness.plan.machine import Machine
from harness.plan.model import BASELINE, CONTROL, Cell, Comparison, Plan, Skipped, VariantPlan
from harness.spec.option_paths import Settings
from harness.spec.options import Frozen

RECOMMENDED = "recommended"


class Part(Frozen):
    """An accepted variant of the stack."""

    variant: str
    goal: Literal["speed", "memory"] = "speed"
    without: str = Field(description="Name of the stack's cell without it, if there is one.")
    height: str = Field(description="Name of the cell with it and the parts before it: the stack itself at the last.")


class Confirmation(Frozen):
    """`recommended.json`."""

    version: Literal[1] = 1
    names: list[str] = Field(description="Variants that are recommended together, in the order of the spec.")
    patch: dict[str, Any] = Field(description="Their patches joined.")
    plan_id: str = Field(description="Of the plan whose results were read.")
    parts: list[Part] = []
    skipped: list[Skipped] = Field([], description="Cells of the confirmation that cannot run here.")
    plan: Plan | None = Field(None, description="Cells, comparisons and seeds; None where nothing can be confirmed.")


def without(variant: str) -> str:
    """Name of the stack's cell that lacks a part."""
    return f"without-{variant}"


def up_to(variant: str) -> str:
    """Name of the stack's floor that a part completes."""
    return f"up-to-{variant}"


def make_confirmation(
    plan: Plan, names: Sequence[str], patch: dict[str, Any], first_seed: int, capabilities: Machine
) -> Confirmation:
    """Freeze the cells of a confirmation.

    Args:
        plan: the grid's.
        names: variants whose patches fit together, in the order of the spec; none: there is nothing to confirm.
        patch: their patches joined.
        first_seed: the first that no run of the grid has had.
        capabilities: the probe's answer; what cannot run here is skipped with a reason.

    Raises:
        InputError: a file that ids depend on is gone since the grid was planned.
        UndeclaredDifference: the planner itself is wrong.
    """
    made = Confirmation(names=list(names), patch=patch, plan_id=plan_id(plan))
    if not names:
        return made
    base, context = plan.cells[BASELINE], _context(plan, capabilities)
    parts = _parts(plan, names)
    whole = planned_cell(context, _joined(plan, RECOMMENDED, names), base)
    if isinstance(whole, Skipped):
        return made.model_copy(update={"parts": parts, "skipped": [whole]})
    cells, comparisons, skipped = {BASELINE: base, RECOMMENDED: whole}, [_compared(plan, names)], []
    for planned, comparison in _parts_and_floors(plan, names, parts):
        cell = planned_cell(context, planned, cells[comparison.reference])
        if isinstance(cell, Skipped):
            skipped.append(cell)
            continue
        cells[cell.name] = cell
        comparisons.append(comparison)
    floors = {part.height for part in parts[:-1]}  # timed and not trained
    frozen = _frozen(plan, cells, comparisons, first_seed, trained=len(cells.keys() - floors))
    return made.model_copy(update={"parts": parts, "skipped": skipped, "plan": frozen})


def _context(plan: Plan, capabilities: Machine) -> CellContext:
    base = plan.cells[BASELINE]
    settings = Settings(base.model, base.training, base.options)
    where = Path(plan.spec_path), Path(plan.dataset.spec_dir)
    return cell_context(settings, plan.dataset.dataset, plan.device, *where, capabilities)


def _parts(plan: Plan, names: Sequence[str]) -> list[Part]:
    goals = {c.variant: c.goal for c in plan.comparisons}
    heights = [*(up_to(name) for name in names[:-1]), RECOMMENDED]
    return [
        Part(variant=name, goal=goals[name], without=without(name) if len(names) > 1 else "", height=height)
        for name, height in zip(names, heights, strict=True)
    ]


def _joined(plan: Plan, name: str, parts: Sequence[str], left_out: str | None = None) -> Planned:
    merged = {path: value for part in parts for path, value in plan.cells[part].patch.items()}
    return Planned(name, merged, (), exact=False, goal="speed", left_out=left_out)


def _compared(plan: Plan, names: Sequence[str]) -> Comparison:
    """The stack against the new baseline, by the same rule as any variant."""
    parts = [c for c in plan.comparisons if c.variant in names]
    return Comparison(
        variant=RECOMMENDED,
        reference=BASELINE,
        exact=all(c.exact for c in parts),
        goal="memory" if all(c.goal == "memory" for c in parts) else "speed",
    )


def _parts_and_floors(plan: Plan, names: Sequence[str], parts: list[Part]) -> Iterator[tuple[Planned, Comparison]]:
    if len(parts) < 2:
        return
    for part in parts:
        rest = [name for name in names if name != part.variant]
        planned = _joined(plan, part.without, rest, left_out=part.variant)
        yield planned, Comparison(variant=part.without, reference=RECOMMENDED, goal=part.goal)
    for height, part in enumerate(parts[:-1], 1):
        yield _joined(plan, part.height, names[:height]), Comparison(variant=part.height, reference=BASELINE)


def _frozen(plan: Plan, cells: dict[str, Cell], comparisons: list[Comparison], first_seed: int, trained: int) -> Plan:
    looks = plan.seeds.looks
    return plan.model_copy(
        update={
            "cells": cells,
            "comparisons": comparisons,
            "skipped": [],
            "warnings": [],
            "confirm": "none",
            "most_parts": 0,
            "seeds": plan.seeds.model_copy(update={"first": first_seed}),
            "runs_min": trained * looks[0],
            "runs_max": trained * looks[-1],
        }
    )


def plan_id(plan: Plan) -> str:
    """Of all in a plan that results depend on; estimates, warnings and the spec's place stay out."""
    left_out = {"spec_path", "description", "warnings", "runs_min", "runs_max", "dataset"}
    content = plan.model_dump(mode="json", by_alias=True, exclude=left_out)
    for cell in content["cells"].values():
        del cell["estimate"]
    return digest("plan", content | {"dataset_id": plan.dataset.dataset_id})


def job_id(job: VariantPlan) -> str:
    """Of all in a job that its result depends on: a result of another id does not belong to the plan any more."""
    cells = [job.cell.cell_id, None if job.reference is None else job.reference.cell_id]
    left_out = {"spec", "spec_dir", "cell", "reference"}
    return digest("job", job.model_dump(mode="json", by_alias=True, exclude=left_out) | {"cells": cells})


def confirmation_jobs(confirmation: Confirmation) -> dict[str, VariantPlan]:
    """What each job of a confirmation needs, by name: the new baseline, the stack, each part left out, the floors."""
    if confirmation.plan is None:
        return {}
    return {name: job for name, job in variant_plans(confirmation.plan).items() if name != CONTROL}


def trained(plan: Plan) -> list[str]:
    """Names of the quality jobs that confirm a plan, whatever will be recommended: any variant may be a part."""
    if plan.confirm == "none":
        return []
    return [BASELINE, RECOMMENDED, *(without(c.variant) for c in plan.comparisons)]


def timed(confirmation: Confirmation) -> list[str]:
    """Names of what is timed, in order: the stack, each part left out, the floors below the stack."""
    return [] if confirmation.plan is None else [c.variant for c in confirmation.plan.comparisons]
