"""One cell of a plan: a patch on the baseline, checked to change nothing that it does not declare, with its id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from harness.plan.capabilities import Candidate, cannot_run
from harness.plan.designs import Planned
from harness.plan.estimate import estimate
from harness.plan.ids import canonical, cell_id, dataset_section
from harness.plan.machine import Machine
from harness.plan.model import Cell, Skipped
from harness.plan.no_effect import without_effect
from harness.plan.sizes import Sizes, known_edge_features, known_sizes
from harness.spec.dataset import Dataset
from harness.spec.errors import InputError, Problem
from harness.spec.load import position
from harness.spec.model_source import SourceError, source_sha256
from harness.spec.option_paths import Settings, Tree, flat, patched, settings_of, tree_of
from harness.spec.options import Sampling
from harness.spec.places import find_file
from harness.spec.variant_checks import check_settings
from harness.spec.wording import explain

MAX_NAME = 200  # characters of a joined name; a file's name has 255 at most, and gets a suffix
_ABSENT = object()  # a leaf that only one of two cells has, e.g. a key of model.args


class UndeclaredDifference(AssertionError):
    """A cell differs from the baseline in something it does not declare: a fault of the planner."""


@dataclass(frozen=True)
class CellContext:
    """What all cells of one plan share."""

    spec_path: Path
    spec_dir: Path
    machine: Machine
    wish: str  # the spec's word for the device: it enters ids
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


def cell_context(
    base: Settings, dataset: Dataset, wish: Literal["auto", "cpu", "cuda"], spec_path: Path, spec_dir: Path, on: Machine
) -> CellContext:
    """What the cells that depart from one baseline share; relative paths of data start at ``spec_dir``."""
    sections = tree_of(base)
    return CellContext(
        spec_path=spec_path,
        spec_dir=spec_dir,
        machine=on,
        wish=wish,
        device=on.device(wish),
        base=base,
        sections=sections,
        leaves=flat(sections),
        dataset=dataset_section(dataset),
        sizes=known_sizes(dataset),
        edge_features=known_edge_features(dataset, spec_dir),
        sources={},
    )


def settings_with(context: CellContext, name: str, patch: dict[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """The baseline with a patch, and its leaves by dotted path; made from a deep copy and checked against it."""
    try:
        made = settings_of(patched(context.sections, patch))
    except ValidationError as error:
        message = explain(error.errors()[0], None).message
        raise context.problem(f"cell `{name}`: {message}", "variants") from None
    leaves = flat(tree_of(made))
    assert_only_declared(context.leaves, leaves, patch, name)
    return made, leaves


def _covers(declared: str, path: str) -> bool:
    return path == declared or path.startswith(declared + ".")


def assert_only_declared(base: dict[str, Any], cell: dict[str, Any], patch: dict[str, Any], name: str) -> None:
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


def _differing(context: CellContext, leaves: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The part of a patch that is not the baseline's value anyway."""
    changed = [
        path for path in {**context.leaves, **leaves} if context.leaves.get(path, _ABSENT) != leaves.get(path, _ABSENT)
    ]
    return {declared: value for declared, value in patch.items() if any(_covers(declared, p) for p in changed)}


def planned_cell(context: CellContext, planned: Planned, reference: Cell) -> Cell | Skipped:
    """A cell, or why it is skipped."""
    if len(planned.name) > MAX_NAME:
        length = f"has {len(planned.name)} characters, at most {MAX_NAME} are allowed"
        message = f"the cell's name {planned.name[:60]}… {length}; shorten the variants' names"
        raise context.problem(message, "variants")
    if planned.conflict is not None:
        return Skipped(variant=planned.name, reason=planned.conflict, patch=planned.patch)
    try:
        settings, leaves = settings_with(context, planned.name, planned.patch)
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


def cell_of(context: CellContext, name: str, patch: dict[str, Any]) -> Cell:
    """A cell that is known to run."""
    settings, leaves = settings_with(context, name, patch)
    return _made(context, name, settings, _differing(context, leaves, patch))


def _made(context: CellContext, name: str, settings: Settings, patch: dict[str, Any]) -> Cell:
    return Cell(
        name=name,
        cell_id=cell_id(
            dataset=context.dataset,
            model=settings.model,
            training=settings.training,
            options=settings.options,
            device=context.wish,
            model_source=_source(context, settings.model.class_path),
            weights_source=_weights_source(context, settings.options.sampling),
        ),
        model=settings.model,
        training=settings.training,
        options=settings.options,
        patch=patch,
        estimate=estimate(settings, context.sizes, context.device),
    )


def _source(context: CellContext, class_path: str | None) -> str:
    if class_path is None:
        return ""
    if class_path not in context.sources:
        try:
            context.sources[class_path] = source_sha256(class_path, context.spec_dir)
        except (SourceError, OSError) as error:
            raise context.problem(f"{class_path}: {error}", "model", "class") from None
    return context.sources[class_path]


def _weights_source(context: CellContext, sampling: Sampling) -> str:
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
