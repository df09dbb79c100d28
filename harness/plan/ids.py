"""Ids: hashes of everything that can change time, memory or accuracy, and of nothing else.

Names, descriptions and owners stay out, so that a variant may be renamed. The planner makes cell ids and data set
ids; a job completes a cell id to run ids, once the data's fingerprint, the device and the versions are known.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from harness.plan.version import TABLES_VERSION
from harness.spec.dataset import Dataset, Files
from harness.spec.options import Model, Options, Training
from harness.spec.places import find_file

ID_CHARS = 20  # hex characters: 80 bits
ID_VERSION = 1  # raise it when the same section would have to get another id


def _normal(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no canonical form; ids are made of finite numbers")
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {str(key): _normal(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(inner) for inner in value]
    raise TypeError(f"{type(value).__name__} has no canonical form")


def canonical(obj: Any) -> str:
    """JSON with sorted keys and no spaces, in which 1 and 1.0, and a tuple and a list, are the same.

    Floats are written by their shortest repr, the same on every platform.

    Raises:
        ValueError: a float that is not finite.
        TypeError: a value that JSON does not know.
    """
    return json.dumps(_normal(obj), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(kind: str, obj: Any) -> str:
    """The first 80 bits of the SHA-256 of a canonical form, as 20 hex characters; ``kind`` keeps ids of different
    things apart."""
    text = f"{kind}/{ID_VERSION}\n{canonical(obj)}"
    return hashlib.sha256(text.encode()).hexdigest()[:ID_CHARS]


def dataset_section(dataset: Dataset) -> dict[str, Any]:
    """The data set's section with its defaults written out."""
    return dataset.model_dump(mode="json")


def cell_id(
    *,
    dataset: Dataset | dict[str, Any],
    model: Model,
    training: Training,
    options: Options,
    device: str,
    model_source: str = "",
    weights_source: str = "",
) -> str:
    """Id of one full set of options.

    Args:
        dataset: the section, or its ``dataset_section``; no machine's paths.
        device: the wish of the spec (auto, cpu, cuda); the device itself enters the run id.
        model_source: SHA-256 of a custom model's source files; empty for our models.
        weights_source: SHA-256 of the file that `sampling.weights` names; empty where it names none.
    """
    section = dataset if isinstance(dataset, dict) else dataset_section(dataset)
    return digest(
        "cell",
        {
            "dataset": section,
            "model": model.model_dump(by_alias=True),
            "training": training.model_dump(),
            "options": options.model_dump(),
            "device": device,
            "model_source": model_source,
            "weights_source": weights_source,
        },
    )


def dataset_files(dataset: Dataset, spec_dir: Path) -> dict[str, Path]:
    """The files that a section names, by their key, where they were found."""
    named: dict[str, str | None] = {}
    if isinstance(dataset, Files):
        named = {key: getattr(dataset, key) for key in ("path", "edges", "features", "edge_features", "labels")}
    if dataset.split is not None:
        named["split.path"] = dataset.split.path
    found = {key: find_file(path, spec_dir) for key, path in named.items() if path is not None}
    return {key: path for key, path in found.items() if path is not None}


def dataset_id(dataset: Dataset, spec_dir: Path) -> str:
    """Id of a prepared graph: the section, and for files their resolved path, size and time of change.

    A changed file is prepared anew under another id; runs hold the fingerprint of the content, so that touching a
    file repeats the preparation and no run. So does a new way of reading tables.
    """
    files = {}
    for key, path in dataset_files(dataset, spec_dir).items():
        stat = path.stat()
        files[key] = [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
    content: dict[str, Any] = {"dataset": dataset_section(dataset), "files": files}
    if "edges" in files:
        content["tables"] = TABLES_VERSION
    return digest("dataset", content)


def run_id(
    cell_id: str,
    *,
    purpose: str,
    seed: int,
    fingerprint: str,
    device_kind: str,
    threads: int,
    torch_version: str,
    engine_version: str,
    pyg_version: str,
    pymetis_version: str = "",
    extra: str = "",
) -> str:
    """Id of one run: a cell with its seed, on this data, device, thread count and these versions.

    Args:
        purpose: quality or timing.
        fingerprint: SHA-256 of the prepared graph's arrays.
        device_kind: cpu, or the GPU's name; not the index of one of several alike.
        pymetis_version: where METIS cuts the graph; empty elsewhere.
        extra: what else sets a run apart, e.g. a timing block and arm.
    """
    return digest(
        "run",
        {
            "cell_id": cell_id,
            "purpose": purpose,
            "seed": seed,
            "fingerprint": fingerprint,
            "device_kind": device_kind,
            "threads": threads,
            "torch_version": torch_version,
            "engine_version": engine_version,
            "pyg_version": pyg_version,
            "pymetis_version": pymetis_version,
            "extra": extra,
        },
    )
