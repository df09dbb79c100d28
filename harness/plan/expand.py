"""From a spec to its plan: cells with ids, comparisons, skips with reasons, warnings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.plan.capabilities import cannot_run
from harness.plan.cells import CellContext, cell_context, cell_of, planned_cell, settings_with
from harness.plan.designs import DesignError, Layout, Planned, lay_out
from harness.plan.ids import dataset_id
from harness.plan.machine import Machine, usable_cpus
from harness.plan.model import BASELINE, QUALITY_THREADS, Cell, Comparison, DatasetPlan, Plan, Skipped
from harness.plan.no_effect import without_effect
from harness.plan.version import BUILDER_VERSION, versions_of
from harness.spec.cells import named_patches
from harness.spec.dataset import Ogb
from harness.spec.option_paths import Settings
from harness.spec.schema import Spec
from harness.spec.variant_checks import check_settings


def make_plan(spec: Spec, spec_path: Path, capabilities: Machine, cores: int | None = None) -> Plan:
    """Expand a spec.

    Args:
        spec: what `load_spec` gave.
        spec_path: its file; relative data paths start at its folder.
        capabilities: the probe's answer, which decides what is skipped.
        cores: threads of a timing job where the spec does not say; default: all that this process may use.

    Returns:
        The plan; it depends on the spec, the machine and the data files' stamps alone, not on what is prepared or done.

    Raises:
        InputError: the baseline cannot run here, the device is missing, variants do not fit the design, too many cells.
        UndeclaredDifference: the planner itself is wrong.
    """
    spec_path = Path(spec_path)
    base = Settings(spec.model, spec.training, spec.baseline)
    context = cell_context(base, spec.dataset, spec.device, spec_path, spec_path.parent, capabilities)
    layout = _layout(spec, context)
    _refuse_what_the_spec_needs(spec, context, layout)
    reference = cell_of(context, layout.reference, layout.reference_patch)
    cells, comparisons, skipped = {reference.name: reference}, [], []
    warnings = _warnings_of_reference(context, layout, reference)
    for planned in layout.cells:
        made = planned_cell(context, planned, reference)
        if isinstance(made, Skipped):
            skipped.append(made)
            continue
        if made.name in cells:
            raise context.problem(f"two cells are named `{made.name}`; rename a variant", "variants")
        cells[made.name] = made
        comparisons.append(
            Comparison(variant=made.name, reference=reference.name, exact=planned.exact, goal=planned.goal)
        )
        warnings += _warnings_of_cell(context, planned, made)
    warnings += _warnings_of_plan(spec, cells, comparisons)
    distinct = len({cell.cell_id for cell in cells.values()})
    return Plan(
        spec=spec.name,
        spec_path=str(_relative(context.spec_path)),
        description=spec.description,
        design=spec.design.kind,
        confirm=spec.design.confirm,
        most_parts=_most_parts(spec, cells) if spec.design.confirm == "recommended" else 0,
        dataset=DatasetPlan(
            dataset=spec.dataset,
            dataset_id=dataset_id(spec.dataset, context.spec_dir),
            spec_dir=str(_relative(context.spec_dir)),
            builder_version=BUILDER_VERSION,
        ),
        cells=cells,
        comparisons=comparisons,
        skipped=skipped,
        warnings=list(dict.fromkeys(warnings)),
        seeds=spec.seeds,
        gate=spec.gate,
        timing=spec.timing,
        limits=spec.limits,
        device=spec.device,
        quality_threads=QUALITY_THREADS,
        timing_threads=spec.timing.threads or cores or len(usable_cpus()),
        versions=versions_of(capabilities),
        runs_min=distinct * spec.seeds.looks[0],
        runs_max=distinct * spec.seeds.looks[-1],
    )


def _most_parts(spec: Spec, cells: dict[str, Cell]) -> int:
    """Variants that can be recommended together: of one key's grid there is one at most, since they contradict."""
    keys = [key for key, variant in spec.variants.items() if any(n.name in cells for n in named_patches(key, variant))]
    return len(keys)


def _relative(path: Path) -> Path:
    """Relative to the present folder where it lies below it, so that plan files are the same on every machine."""
    resolved, here = path.resolve(), Path.cwd().resolve()
    return resolved.relative_to(here) if resolved.is_relative_to(here) else resolved


def _layout(spec: Spec, context: CellContext) -> Layout:
    try:
        return lay_out(spec)
    except DesignError as error:
        keys = ("variants", error.variant) if error.variant else ("design", "kind")
        raise context.problem(str(error), *keys) from None


def _refuse_what_the_spec_needs(spec: Spec, context: CellContext, layout: Layout) -> None:
    """What no cell can do without: the device, the data's library, and a reference that runs."""
    machine = context.machine
    if spec.device == "cuda" and not machine.cuda:
        raise context.problem("cuda: no CUDA device can be used here; write `device: auto` or `cpu`", "device")
    if isinstance(spec.dataset, Ogb) and machine.libraries.get("ogb") is None:
        raise context.problem("ogb: the package is not installed; install it: pip install ogb", "dataset", "source")
    settings, _ = settings_with(context, layout.reference, layout.reference_patch)
    contradictions = check_settings(settings, layout.reference_patch or None)
    reason = contradictions[0][1] if contradictions else cannot_run(context.candidate(settings), machine)
    if reason is not None:
        joined = " (all variants at once)" if layout.reference != BASELINE else ""
        key = "baseline" if layout.reference == BASELINE else "variants"
        message = f"the reference `{layout.reference}`{joined} cannot run: {reason}; nothing could be compared"
        raise context.problem(message, key)


def _idle(paths: Iterable[str], settings: Settings) -> list[str]:
    return [reason for path in paths if (reason := without_effect(path, settings)) is not None]


def _warnings_of_reference(context: CellContext, layout: Layout, reference: Cell) -> list[str]:
    settings = Settings(reference.model, reference.training, reference.options)
    return [f"{reference.name}: {reason}" for reason in _idle(reference.patch, settings)]


def _warnings_of_cell(context: CellContext, planned: Planned, cell: Cell) -> list[str]:
    found = []
    if planned.left_out is None and len(planned.claimed) < len(planned.patch):  # a stack's lower floors
        settings = Settings(cell.model, cell.training, cell.options)
        found = [f"{cell.name}: {reason}" for reason in _idle(cell.patch, settings)]
    return found


def _warnings_of_plan(spec: Spec, cells: dict[str, Cell], comparisons: list[Comparison]) -> list[str]:
    found = []
    if not comparisons:
        found.append("every variant is skipped: only the control is left")
    names: dict[str, str] = {}
    for name, cell in cells.items():
        other = names.setdefault(cell.cell_id, name)
        if other != name:
            found.append(f"{other} and {name} are the same options under two names")
    last = spec.seeds.looks[-1]
    if last < 5:
        found.append(
            f"at most {last} pairs: a variant as accurate as the baseline will often stay inconclusive; "
            "looks of [5, 10, 20] decide most"
        )
    if spec.training.patience is not None and spec.training.patience >= spec.training.epochs:
        found.append(
            f"training.patience ({spec.training.patience}) is not below training.epochs ({spec.training.epochs}): "
            "early stopping never happens"
        )
    return found
