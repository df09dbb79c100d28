"""Which combinations of the variants run: one at a time, stacked, each left out, or all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.plan.ids import canonical
from harness.plan.model import BASELINE
from harness.spec.cells import MAX_CELLS, NamedPatch, count, named_patches
from harness.spec.schema import Spec

ALL = "all"
Goal = Literal["speed", "memory"]


class DesignError(ValueError):
    """The variants do not fit the design; `variant` names the one at fault, if one is."""

    def __init__(self, message: str, variant: str | None = None) -> None:
        super().__init__(message)
        self.variant = variant


@dataclass(frozen=True)
class Planned:
    """One cell of a design.

    Attributes:
        name: its name, safe as a file's.
        patch: dotted path to value, against the baseline of the spec.
        claimed: paths whose effect the comparison is about; they must have one.
        exact, goal: of the comparison.
        conflict: why the combination makes no sense; it is skipped.
        left_out: leave-one-out: the variant that is missing.
    """

    name: str
    patch: dict[str, Any]
    claimed: tuple[str, ...]
    exact: bool
    goal: Goal
    conflict: str | None = None
    left_out: str | None = None


@dataclass(frozen=True)
class Layout:
    """A design: the reference's name and patch, and its cells in order."""

    reference: str
    reference_patch: dict[str, Any] = field(default_factory=dict)
    cells: tuple[Planned, ...] = ()


def lay_out(spec: Spec) -> Layout:
    """The cells of the spec's design.

    Raises:
        DesignError: a variant with several cells where one is needed, contradicting variants, or too many cells.
    """
    kind = spec.design.kind
    if kind == "one-at-a-time":
        return Layout(BASELINE, {}, tuple(_one_at_a_time(spec)))
    if kind == "factorial":
        return Layout(BASELINE, {}, tuple(_factorial(spec)))
    single = _single_cells(spec)
    _refuse_contradictions(single, kind)
    if kind == "stack":
        return Layout(BASELINE, {}, tuple(_stack(spec, single)))
    merged = {path: value for cell in single for path, value in cell.patch.items()}
    return Layout(ALL, merged, tuple(_leave_one_out(spec, single)))


def _one_at_a_time(spec: Spec) -> Iterator[Planned]:
    total = sum(count(variant) for variant in spec.variants.values())
    _refuse_too_many(total)
    for key, variant in spec.variants.items():
        for cell in named_patches(key, variant):
            yield Planned(cell.name, cell.patch, tuple(cell.patch), variant.exact, variant.goal)


def _factorial(spec: Spec) -> Iterator[Planned]:
    """Every choice of at most one cell from each variant, fewer variants first."""
    total = math.prod(count(variant) + 1 for variant in spec.variants.values()) - 1
    _refuse_too_many(total)
    factors = [named_patches(key, variant) for key, variant in spec.variants.items()]
    for size in range(1, len(factors) + 1):
        for chosen_factors in itertools.combinations(factors, size):
            for cells in itertools.product(*chosen_factors):
                yield _joined(spec, cells)


def _joined(spec: Spec, cells: tuple[NamedPatch, ...]) -> Planned:
    variants = [spec.variants[cell.variant] for cell in cells]
    merged: dict[str, Any] = {}
    for cell in cells:
        merged.update(cell.patch)
    return Planned(
        name="+".join(cell.name for cell in cells),
        patch=merged,
        claimed=tuple(merged),
        exact=all(variant.exact for variant in variants),
        goal="memory" if all(variant.goal == "memory" for variant in variants) else "speed",
        conflict=_contradiction(cells),
    )


def _contradiction(cells: tuple[NamedPatch, ...] | list[NamedPatch]) -> str | None:
    """Two cells that give one path different values; the same value is no contradiction."""
    given: dict[str, tuple[str, str]] = {}
    for cell in cells:
        for path, value in cell.patch.items():
            text = canonical(value)
            name, other = given.setdefault(path, (cell.name, text))
            if other != text:
                return f"{name} and {cell.name} both set {path}, to {other} and {text}"
    return None


def _single_cells(spec: Spec) -> list[NamedPatch]:
    single = []
    for key, variant in spec.variants.items():
        made = count(variant)
        if made != 1:
            raise DesignError(
                f"makes {made} cells; design {spec.design.kind} needs one a variant: choose one value, "
                "or use one-at-a-time or factorial",
                key,
            )
        single += named_patches(key, variant)
    return single


def _refuse_contradictions(cells: list[NamedPatch], kind: str) -> None:
    contradiction = _contradiction(cells)
    if contradiction is not None:
        raise DesignError(f"{contradiction}: design {kind} joins all variants, keep one of them")


def _stack(spec: Spec, cells: list[NamedPatch]) -> Iterator[Planned]:
    for height in range(1, len(cells) + 1):
        below = {path: canonical(value) for cell in cells[: height - 1] for path, value in cell.patch.items()}
        joined = _joined(spec, tuple(cells[:height]))
        added = cells[height - 1].patch
        claimed = tuple(path for path, value in added.items() if below.get(path) != canonical(value))
        yield Planned(joined.name, joined.patch, claimed, joined.exact, spec.variants[cells[height - 1].variant].goal)


def _leave_one_out(spec: Spec, cells: list[NamedPatch]) -> Iterator[Planned]:
    for index, cell in enumerate(cells):
        rest = [other for position, other in enumerate(cells) if position != index]
        merged = {path: value for other in rest for path, value in other.patch.items()}
        variant = spec.variants[cell.variant]
        name = f"without-{cell.variant}"
        yield Planned(name, merged, (), variant.exact, variant.goal, left_out=cell.variant)


def _refuse_too_many(total: int) -> None:
    if total > MAX_CELLS:
        raise DesignError(f"{total:,} cells, at most {MAX_CELLS:,} are planned: shorten the grids, or split the spec")
