"""What is not the same in two results folders, and which of it leaves nothing to compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from typing import Any

from harness.spec.errors import InputError, Problem
from harness.verdicts.across.folder import ResultsFolder
from harness.verdicts.across.model import Difference
from harness.verdicts.comparable import data_difference
from harness.verdicts.wording import listed

# What is shown, and what `--allow` takes, to the environment's key.
_ENVIRONMENT = {
    "torch": "torch",
    "torch-geometric": "pyg",
    "numpy": "numpy",
    "numba": "numba",
    "scipy": "scipy",
    "pymetis": "pymetis",
    "engine": "engine",
    "harness": "harness",
    "python": "python",
    "os": "os",
    "cpu": "cpu",
    "cores": "cores_granted",
    "vector-instructions": "cpu_capability",
    "cuda": "cuda",
    "cudnn": "cudnn",
    "gpu": "device_name",
}
_OTHERS: dict[str, Callable[[ResultsFolder], Iterable[Any]]] = {
    "builder": lambda f: [version.builder_version for version in [f.data()] if version is not None],
    "device": lambda f: dict.fromkeys(result.device for result in f.results),
    "threads": lambda f: dict.fromkeys(result.threads for result in f.variants.values()),
    "timing-threads": lambda f: dict.fromkeys(timing.threads for timing in f.timings.values()),
    "timing-version": lambda f: dict.fromkeys(timing.timing_version for timing in f.timings.values()),
    "gate": lambda f: [_settings(f.plan.gate.model_dump(exclude={"metric"}))],
    "looks": lambda f: [", ".join(str(n) for n in f.plan.seeds.looks)],
    "first-seed": lambda f: [f.plan.seeds.first],
    "timing": lambda f: [_settings(f.plan.timing.model_dump(mode="json"))],
    "dataset": lambda f: [json.dumps(f.plan.dataset.dataset.model_dump(mode="json", exclude_defaults=True))],
    "limits": lambda f: [_settings(f.plan.limits.model_dump())],
    "model-source": lambda f: _ids_of_own_models(f),
}
NAMES = (*_ENVIRONMENT, *_OTHERS)


def differences(a: ResultsFolder, b: ResultsFolder) -> tuple[list[Difference], list[str]]:
    """What differs, by `NAMES`, and what of it one folder does not say; pymetis only where it cuts a graph."""
    found, unrecorded = [], []
    for name in NAMES:
        if name == "pymetis" and not (a.cut_by_metis or b.cut_by_metis):
            continue
        one, other = _values(a, name), _values(b, name)
        if not one and not other:
            continue
        if not one or not other:
            unrecorded.append(name)
        elif one != other:
            found.append(Difference(what=name, a=listed(one), b=listed(other)))
    return found, unrecorded


def refuse_incomparable(a: ResultsFolder, b: ResultsFolder) -> None:
    """Accuracies are of one question only where data, split and metric are the same.

    Raises:
        InputError: they are not, or a folder has no results, or results of several graphs; with the difference named.
    """
    for folder in (a, b):
        if not folder.variants:
            raise InputError(Problem(folder.name, "holds no results of its plan; run `snakemake` first"))
        several = folder.fingerprints()
        if len(several) > 1:
            message = f"its own results are of different data ({listed([f[:12] for f in several])}); make them again"
            raise InputError(Problem(folder.name, message))
    where = f"{a.name} and {b.name}"
    metrics = a.plan.gate.metric, b.plan.gate.metric
    if metrics[0] != metrics[1]:
        message = f"the gate's metric is {metrics[0]} in the first and {metrics[1]} in the second; use one of them"
        raise InputError(Problem(where, f"cannot be compared: {message}"))
    fingerprints = [(folder.fingerprints() or [""])[0] for folder in (a, b)]
    clause = data_difference((fingerprints[0], fingerprints[1]), (a.data(), b.data()))
    if clause:
        remedy = "compare results of one data set and one split, which `dataset` in the spec and its files decide"
        raise InputError(Problem(where, f"cannot be compared: {clause}; {remedy}"))


def refuse_unexpected(found: Collection[Difference], allowed: str, where: str) -> None:
    """Hold the differences to those that a person named.

    Args:
        allowed: comma-separated `NAMES`; empty allows all.

    Raises:
        InputError: a name is none of `NAMES`, or something differs that was not named.
    """
    if not allowed.strip():
        return
    names = [name.strip() for name in allowed.split(",") if name.strip()]
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise InputError(Problem("--allow", f"{allowed!r} names nothing that can differ; known: {', '.join(NAMES)}"))
    unexpected = [d for d in found if d.what not in names]
    if unexpected:
        raise InputError([Problem(where, _unexpected(difference)) for difference in unexpected])


def _unexpected(found: Difference) -> str:
    return f"{found.what} is {found.a} in the first and {found.b} in the second, which --allow does not name"


def _values(folder: ResultsFolder, name: str) -> list[str]:
    key = _ENVIRONMENT.get(name)
    values = folder.recorded(key) if key is not None else _OTHERS[name](folder)
    return sorted(str(value) for value in values)


def _settings(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _ids_of_own_models(folder: ResultsFolder) -> list[str]:
    """The ids of cells with a network of one's own, which hold a hash of its source."""
    return [cell.cell_id for cell in folder.plan.cells.values() if cell.model.class_path is not None]
