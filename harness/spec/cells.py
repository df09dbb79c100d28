"""From a variant as written to its named patches: `grid` is a product, `set` a fixed patch, `zip` parallel lists."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any

from harness.spec.schema import NAME, Variant

RESERVED = ("all", "baseline", "control", "dataset", "recommended")
MAX_CELLS = 10_000
_SAFE = re.compile(NAME)


@dataclass(frozen=True)
class NamedPatch:
    """One cell of a variant.

    Attributes:
        name: the variant's key, and the values of its grid and zip.
        variant: the key under `variants`.
        patch: dotted path to value, as written.
        positions: index of each grid or zip value in its list, by dotted path.
    """

    name: str
    variant: str
    patch: dict[str, Any]
    positions: dict[str, int]


def count(variant: Variant) -> int:
    """How many cells a variant makes, without making them."""
    parallel = min((len(values) for values in variant.zip.values()), default=1)
    return math.prod(len(values) for values in variant.grid.values()) * parallel


def value_name(path: str, value: Any) -> str:
    """A value as the part of a cell's name: `15-10`, `0.1`, `fp16-linear`; all neighbours are `all`."""
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return "-".join(value_name(path, item) for item in value)
    if path == "sampling.fanout" and value == -1:
        return "all"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value).replace(":", ".") if path == "model.class" else str(value)


def is_safe(name: str) -> bool:
    """Whether a cell's name is safe as a file's name, and at most 80 characters."""
    return _SAFE.fullmatch(name) is not None and not name.endswith(".")


def named_patches(key: str, variant: Variant) -> list[NamedPatch]:
    """The variant's cells, in the order written: the last grid key varies fastest, `zip` inside it."""
    grid_paths, zip_paths = list(variant.grid), list(variant.zip)
    zipped = list(zip(*(enumerate(variant.zip[path]) for path in zip_paths), strict=False)) if zip_paths else [()]
    cells = []
    for product in itertools.product(*(enumerate(variant.grid[path]) for path in grid_paths)):
        for parallel in zipped:
            chosen = dict(zip([*grid_paths, *zip_paths], [*product, *parallel], strict=True))
            varying = {path: value for path, (_, value) in chosen.items()}
            name = "-".join([key, *(value_name(path, value) for path, value in varying.items())])
            positions = {path: index for path, (index, _) in chosen.items()}
            cells.append(NamedPatch(name, key, {**variant.set, **varying}, positions))
    return cells
