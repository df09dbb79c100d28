"""From a spec to its plan: cells with ids, comparisons, skips with reasons, warnings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.plan.capabilities import Candidate, cannot_run
from harness.plan.designs import DesignError, Layout, Planned, lay_out
from harness.plan.estimate import estimate
from harness.plan.ids import canonical, cell_id, dataset_id, dataset_section
from harness.plan.machine import Machine, usable_cpus
from harness.plan.model import BASELINE, QUALITY_THREADS, Cell, Comparison, DatasetPlan, Plan, Skipped
from harness.plan.no_effect import without_effect
from harness.plan.sizes import Sizes, known_edge_features, known_sizes
from harness.plan.version import BUILDER_VERSION, versions_of
from harness.spec.dataset import Ogb
from harness.spec.errors import InputError, Problem
from harness.spec.load import position
from harness.spec.model_source import SourceError, source_sha256
from harness.spec.option_paths import Settings, Tree, flat, patched, settings_of, tree_of
from harness.spec.options import Sampling
from harness.spec.places import find_file
from harness.spec.schema import Spec
from harness.spec.variant_checks import check_settings
from harness.spec.wording import explain

MAX_NAME = 200  # characters of a joined name; a file's name has 255 at most, and gets a suffix
_ABSENT = object()  # a leaf that only one of two cells has, e.g. a key of model.args


class UndeclaredDifference(AssertionError):
    """A cell differs from the baseline in something it does not declare: a fault of the planner."""


@dataclass(frozen=True)
class _Context:
    """What all cells of one plan share."""

    spec: Spec
    spec_path: Path
    spec_dir: Path
    machine: Machine
    device: str
    base: Settings
    sections: dict[str, Tree]  # the baseline as nested dicts
    leaves: dict[str, Any]  # the baseline, flat
    dataset: dict[str, Any]
    sizes: Sizes | None
    edge_features: int | None  # attributes of an edge; None where only preparation can tell
    sources: dict[str, str]  # class path, or file of weights, to SHA-256 of its content

    def candidate(self, settings: Settings, changed: tuple[str, ...] = ()) -> Candidate:
        return Candidate(settings, self.device, changed, self.edge_features, self.base)

    def problem(self, message: str, *keys: str) -> InputError:
        line, column = position(self.spec_path, *keys)
        return InputError(Problem(str(self.spec_path), message, line, column, ".".join(keys)))


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
    context = _context(spec, Path(spec_path), capabilities)
    layout = _layout(context)
    _refuse_what_the_spec_needs(context, layout)
    reference = _cell(context, layout.reference, layout.reference_patch)
    cells, comparisons, skipped = {reference.name: reference}, [], []
    warnings = _warnings_of_reference(context, layout, reference)
    for planned in layout.cells:
        made = _planned_cell(context, planned, reference)
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


def _relative(path: Path) -> Path:
    """Relative to the present folder where it lies below it, so that plan files are the same on every machine."""
    resolved, here = path.resolve(), Path.cwd().resolve()
    return resolved.relative_to(here) if resolved.is_relative_to(here) else resolved


def _context(spec: Spec, spec_path: Path, machine: Machine) -> _Context:
    base = Settings(spec.model, spec.training, spec.baseline)
    sections = tree_of(base)
    device = machine.device(spec.device)
    return _Context(
        spec=spec,
        spec_path=spec_path,
        spec_dir=spec_path.parent,
        machine=machine,
        device=device,
        base=base,
        sections=sections,
        leaves=flat(sections),
        dataset=dataset_section(spec.dataset),
        sizes=known_sizes(spec.dataset),
        edge_features=known_edge_features(spec.dataset, spec_path.parent),
        sources={},
    )


def _layout(context: _Context) -> Layout:
    try:
        return lay_out(context.spec)
    except DesignError as error:
        keys = ("variants", error.variant) if error.variant else ("design", "kind")
        raise context.problem(str(error), *keys) from None


def _refuse_what_the_spec_needs(context: _Context, layout: Layout) -> None:
    """What no cell can do without: the device, the data's library, and a reference that runs."""
    spec, machine = context.spec, context.machine
    if spec.device == "cuda" and not machine.cuda:
        raise context.problem("cuda: no CUDA device can be used here; write `device: auto` or `cpu`", "device")
    if isinstance(spec.dataset, Ogb) and machine.libraries.get("ogb") is None:
        raise context.problem("ogb: the package is not installed; install it: pip install ogb", "dataset", "source")
    settings, _ = _settings(context, layout.reference, layout.reference_patch)
    contradictions = check_settings(settings, layout.reference_patch or None)
    reason = contradictions[0][1] if contradictions else cannot_run(context.candidate(settings), machine)
    if reason is not None:
        joined = " (all variants at once)" if layout.reference != BASELINE else ""
        key = "baseline" if layout.reference == BASELINE else "variants"
        message = f"the reference `{layout.reference}`{joined} cannot run: {reason}; nothing could be compared"
        raise context.problem(message, key)


def _settings(context: _Context, name: str, patch: dict[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """The baseline with a patch, and its leaves by dotted path; made from a deep copy and checked against it."""
    try:
        made = settings_of(patched(context.sections, patch))
    except ValidationError as error:
        message = explain(error.errors()[0], None).message
        raise context.problem(f"cell `{name}`: {message}", "variants") from None
    leaves = flat(tree_of(made))
    _assert_only_declared(context.leaves, leaves, patch, name)
    return made, leaves


def _covers(declared: str, path: str) -> bool:
    return path == declared or path.startswith(declared + ".")


def _assert_only_declared(base: dict[str, Any], cell: dict[str, Any], patch: dict[str, Any], name: str) -> None:
    """Check that a cell differs from the baseline in nothing but what it declares, and has all that it declares.

    Raises:
        UndeclaredDifference: otherwise.
    """
    undeclared = [
        path
        for path in {**base, **cell}
        if base.get(path, _ABSENT) != cell.get(path, _ABSENT) and not any(_covers(declared, path) for declared in patch)
    ]
    missed = [path for path, value in patch.items() if not isinstance(value, dict) and not _same(cell.get(path), value)]
    if undeclared or missed:
        raise UndeclaredDifference(f"{name}: undeclared {undeclared}, declared and not there {missed}")


def _same(left: Any, right: Any) -> bool:
    return left == right or canonical(left) == canonical(right)


def _differing(context: _Context, leaves: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The part of a patch that is not the baseline's value anyway."""
    changed = [
        path for path in {**context.leaves, **leaves} if context.leaves.get(path, _ABSENT) != leaves.get(path, _ABSENT)
    ]
    return {declared: value for declared, value in patch.items() if any(_covers(declared, p) for p in changed)}


def _planned_cell(context: _Context, planned: Planned, reference: Cell) -> Cell | Skipped:
    """A cell, or why it is skipped."""
    if len(planned.name) > MAX_NAME:
        length = f"has {len(planned.name)} characters, at most {MAX_NAME} are allowed"
        message = f"the cell's name {planned.name[:60]}… {length}; shorten the variants' names"
        raise context.problem(message, "variants")
    if planned.conflict is not None:
        return Skipped(variant=planned.name, reason=planned.conflict, patch=planned.patch)
    try:
        settings, leaves = _settings(context, planned.name, planned.patch)
    except InputError as error:
        # each variant alone is valid (load_spec has checked it), so the combination is at fault
        return Skipped(variant=planned.name, reason=error.problems[0].message, patch=planned.patch)
    differing = _differing(context, leaves, planned.patch)
    contradictions = check_settings(settings, planned.patch)
    claimed = tuple(path for path in planned.claimed if path in differing)
    reason = contradictions[0][1] if contradictions else None
    reason = reason or cannot_run(context.candidate(settings, claimed), context.machine)
    reason = reason or _leaves_nothing_out(planned, settings, reference)
    if reason is not None:
        return Skipped(variant=planned.name, reason=reason, patch=planned.patch)
    return _made(context, planned.name, settings, differing)


def _leaves_nothing_out(planned: Planned, settings: Settings, reference: Cell) -> str | None:
    """Leave-one-out: the options left out must have an effect in one of the two cells."""
    if planned.left_out is None:
        return None
    whole = Settings(reference.model, reference.training, reference.options)
    full, rest = flat(tree_of(whole)), flat(tree_of(settings))
    paths = [path for path in {**full, **rest} if full.get(path, _ABSENT) != rest.get(path, _ABSENT)]
    if not paths:
        return f"leaving out {planned.left_out} changes nothing: the other variants set the same"
    reasons = [without_effect(path, whole) for path in paths if without_effect(path, settings) is not None]
    if len(reasons) == len(paths) and all(reasons):
        return f"leaving out {planned.left_out} changes nothing: {'; '.join(str(reason) for reason in reasons)}"
    return None


def _cell(context: _Context, name: str, patch: dict[str, Any]) -> Cell:
    settings, leaves = _settings(context, name, patch)
    return _made(context, name, settings, _differing(context, leaves, patch))


def _made(context: _Context, name: str, settings: Settings, patch: dict[str, Any]) -> Cell:
    return Cell(
        name=name,
        cell_id=cell_id(
            dataset=context.dataset,
            model=settings.model,
            training=settings.training,
            options=settings.options,
            device=context.spec.device,
            model_source=_source(context, settings.model.class_path),
            weights_source=_weights_source(context, settings.options.sampling),
        ),
        model=settings.model,
        training=settings.training,
        options=settings.options,
        patch=patch,
        estimate=estimate(settings, context.sizes, context.device),
    )


def _source(context: _Context, class_path: str | None) -> str:
    if class_path is None:
        return ""
    if class_path not in context.sources:
        try:
            context.sources[class_path] = source_sha256(class_path, context.spec_dir)
        except (SourceError, OSError) as error:
            raise context.problem(f"{class_path}: {error}", "model", "class") from None
    return context.sources[class_path]


def _weights_source(context: _Context, sampling: Sampling) -> str:
    """Of the file of weights, where one is drawn by."""
    if sampling.method != "importance" or not sampling.weights.endswith(".npy"):
        return ""
    if sampling.weights not in context.sources:
        path = find_file(sampling.weights, context.spec_dir) or context.spec_dir / sampling.weights
        try:
            with path.open("rb") as file:
                context.sources[sampling.weights] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise context.problem(f"{path}: {error.strerror}", "baseline", "sampling", "weights") from None
    return context.sources[sampling.weights]


def _idle(paths: Iterable[str], settings: Settings) -> list[str]:
    return [reason for path in paths if (reason := without_effect(path, settings)) is not None]


def _warnings_of_reference(context: _Context, layout: Layout, reference: Cell) -> list[str]:
    settings = Settings(reference.model, reference.training, reference.options)
    return [f"{reference.name}: {reason}" for reason in _idle(reference.patch, settings)]


def _warnings_of_cell(context: _Context, planned: Planned, cell: Cell) -> list[str]:
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
