"""The plan on disk: `plan.json` for the report, `plan/<variant>.json` for each job, rewritten only where changed.

So a new variant runs alone, and touching the spec runs nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.plan.model import CONTROL, Cell, Plan, VariantPlan
from harness.plan.version import versions_for
from harness.records.files import write_atomically
from harness.spec.errors import InputError, Problem
from harness.spec.options import Frozen
from harness.spec.yaml_tree import name_in

DATASET = "dataset"


def variant_plans(plan: Plan) -> dict[str, VariantPlan]:
    """What each job needs, by name: the reference's own job, the control, then the comparisons in order."""
    reference = plan.cells[reference_name(plan)]
    plans = {reference.name: _variant_plan(plan, reference, None)}
    plans[CONTROL] = _variant_plan(plan, reference, reference)
    for comparison in plan.comparisons:
        made = _variant_plan(plan, plan.cells[comparison.variant], plan.cells[comparison.reference])
        plans[comparison.variant] = made.model_copy(update={"exact": comparison.exact, "goal": comparison.goal})
    return plans


def reference_name(plan: Plan) -> str:
    """The cell that the others are compared with: `baseline`, or `all` for leave-one-out."""
    return next(iter(plan.cells))


def _variant_plan(plan: Plan, cell: Cell, reference: Cell | None) -> VariantPlan:
    return VariantPlan(
        spec=plan.spec,
        dataset_id=plan.dataset.dataset_id,
        spec_dir=plan.dataset.spec_dir,
        cell=cell,
        reference=reference,
        seeds=plan.seeds,
        gate=plan.gate,
        timing=plan.timing,
        limits=plan.limits,
        device=plan.device,
        quality_threads=plan.quality_threads,
        timing_threads=plan.timing_threads,
        versions=versions_for(plan.versions, cell, reference),
    )


def write_plan(plan: Plan, results_dir: Path) -> list[str]:
    """Write the files of a plan below ``<results_dir>/<spec's name>/``.

    Args:
        plan: what `make_plan` gave.
        results_dir: folder of all results, e.g. ``results``.

    Returns:
        Paths of the files that were written or deleted since their content changed; empty when nothing did.

    Raises:
        InputError: another spec of the same name has been planned there, or the folder cannot be written.
    """
    folder = Path(results_dir) / plan.spec
    _refuse_other_spec(folder / "plan.json", plan)
    texts = {folder / "plan" / f"{DATASET}.json": _text(plan.dataset)}
    texts |= {folder / "plan" / f"{name}.json": _text(made) for name, made in variant_plans(plan).items()}
    texts[folder / "plan.json"] = _text(plan)
    try:
        (folder / "plan").mkdir(parents=True, exist_ok=True)
        stale = sorted(path for path in (folder / "plan").glob("*.json") if path not in texts)
        for path in stale:
            path.unlink()
        return [str(path) for path, text in texts.items() if _write_if_changed(path, text)] + [str(p) for p in stale]
    except OSError as error:
        place = error.filename or folder
        raise InputError(Problem(str(place), f"cannot be written: {error.strerror}; the plan goes there")) from None


def _text(model: Frozen) -> str:
    return model.model_dump_json(indent=2, by_alias=True) + "\n"


def _write_if_changed(path: Path, text: str) -> bool:
    try:
        if path.read_bytes() == text.encode():
            return False
    except FileNotFoundError:
        pass
    write_atomically(path, text)
    return True


def _refuse_other_spec(path: Path, plan: Plan) -> None:
    """Two specs of one name would overwrite each other's results.

    Raises:
        InputError: the plan there came from another file, which still exists and still has this name.
    """
    try:
        other = Path(json.loads(path.read_bytes())["spec_path"])
    except (OSError, ValueError, KeyError, TypeError):
        return  # no plan yet, or one that cannot be read: it is ours to rewrite
    mine = Path(plan.spec_path)
    if not other.is_file() or other.resolve() == mine.resolve() or name_in(other) != plan.spec:
        return
    message = f"the name `{plan.spec}` is taken: {other} has it too, and both would write {path.parent}/; rename one"
    raise InputError(Problem(str(mine), message, path="name"))
