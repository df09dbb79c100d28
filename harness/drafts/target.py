"""From the words of the command line to a dataset section: which source, which files."""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from harness.plan.sizes import known_names
from harness.spec.dataset import Dataset
from harness.spec.errors import InputError, Problem
from harness.spec.places import candidates, find_file

FORMS = (
    "give wordnet, wordnet:verb, synthetic, synthetic:100000, pyg:Planetoid/Cora, ogb:ogbn-arxiv, "
    "or a file of edges or of plain arrays (csv, tsv, parquet, npz, npy, mtx)"
)
SYNTHETIC: dict[str, Any] = {
    "nodes": 20_000,
    "mean_degree": 14.0,
    "classes": 10,
    "features": 64,
    "homophily": 0.7,
    "signal": 0.5,
    "seed": 0,
}
STRUCTURAL = {"transform": {"structural": ["degree", "random-walk"]}}  # for a graph without features
_DATASET: TypeAdapter[Dataset] = TypeAdapter(Dataset)
_PYG_NAME = re.compile(r"[A-Za-z_]\w*(/[\w.+-]+)?")
_FILES = (".csv", ".tsv", ".parquet", ".npz", ".npy", ".mtx", ".gz")
_LONGEST = 60  # of a name made here; a spec allows 80 characters
_BESIDE = ("labels", "label", "y", "classes")  # names that files of labels have


@dataclass(frozen=True)
class GivenFiles:
    """What the options of `harness init` name, beside its argument; paths as typed."""

    features: str | None = None
    labels: str | None = None
    edge_features: str | None = None
    split: str | None = None


def dataset_section(target: str, files: GivenFiles, spec_dir: Path) -> dict[str, Any]:
    """The section's keys that say where the graph comes from; the rest is chosen after a look at it.

    Args:
        target: a name of the spec's language with its source before a colon, or a file.
        files: further files; only beside a file of edges, but for the split.
        spec_dir: folder that the spec will lie in: its paths are relative to that.

    Raises:
        InputError: no such data set or file, or files are missing; says what to give.
    """
    section = None if os.path.isfile(target) and _has_suffix(target) else _named(target)
    if section is None:
        section = _of_files(target, files, spec_dir)
    elif given := [f"--{key.replace('_', '-')}" for key in _file_options(files)]:
        message = f"{', '.join(given)} belong to a file of edges; '{target}' brings its own"
        raise InputError(Problem("init", message))
    if files.split is not None:
        section["split"] = {"kind": "file", "path": _path_in_spec(files.split, "--split", spec_dir)}
    return section


def default_name(target: str) -> str:
    """`my-cora` for pyg:Planetoid/Cora: a name that no shipped spec has."""
    is_file = os.path.isfile(target) or _has_suffix(target)
    stem = re.sub(r"^(builtin:|ogb:|(pyg:)?\w+/|pyg:)", "", target)
    words = re.sub(r"[^a-z0-9]+", "-", (Path(target).name.split(".")[0] if is_file else stem).lower()).strip("-")
    words = words or "graph"
    return (words if words.startswith("my-") else f"my-{words}")[:_LONGEST].rstrip("-")


def _has_suffix(target: str) -> bool:
    return Path(target).suffix.lower() in _FILES


def _named(target: str) -> dict[str, Any] | None:
    """The section of a name; None where it is none and must be a file."""
    source, _, name = target.partition(":")
    if source == "builtin" and name:
        source, _, name = name.partition("/")
    if source == "wordnet":
        return {"source": "builtin", "name": "wordnet"} | ({"subset": _subset(name, target)} if name else {})
    if source == "synthetic":
        return _synthetic(_nodes(name, target) if name else SYNTHETIC["nodes"])
    if source == "ogb" or (target.startswith("ogbn-") and not name):
        return _ogb(name or target)
    if source == "pyg" or (target in known_names("pyg") and not name):
        return _pyg(name or target)
    return None


def _subset(name: str, target: str) -> str:
    if name not in ("noun", "verb", "adj"):
        raise InputError(Problem("init", f"'{target}': WordNet has the subsets noun, verb and adj"))
    return name


def _nodes(name: str, target: str) -> int:
    digits = name.replace("_", "").replace(",", "")
    if not digits.isdigit() or not 100 <= int(digits) <= 50_000_000:
        message = f"'{target}': give the number of nodes, 100 to 50,000,000, e.g. synthetic:100000"
        raise InputError(Problem("init", message))
    return int(digits)


def _synthetic(nodes: int) -> dict[str, Any]:
    """Of so many nodes; a small one has fewer edges, since a class has few pairs of nodes."""
    return {
        "source": "synthetic",
        **SYNTHETIC,
        "nodes": nodes,
        "mean_degree": min(SYNTHETIC["mean_degree"], nodes / 20),
    }


def _ogb(name: str) -> dict[str, Any]:
    if not re.fullmatch(r"ogbn-[a-z0-9]+", name):
        raise InputError(Problem("init", f"'{name}' is no name of OGB's node data sets{_near(name, 'ogb')}"))
    directed = {"undirected": True} if name in known_names("ogb-directed") else {}
    return {"source": "ogb", "name": name, **directed}


def _pyg(name: str) -> dict[str, Any]:
    if not _PYG_NAME.fullmatch(name):
        raise InputError(Problem("init", f"'{name}' is no name of PyG's: Class/Name or Class{_near(name, 'pyg')}"))
    return {"source": "pyg", "name": name}


def _near(name: str, source: Literal["pyg", "ogb"]) -> str:
    """A name that is like it, by the whole or by what stands after the slash, in any case of letters."""
    words = {word.lower(): known for known in reversed(known_names(source)) for word in (known.split("/")[-1], known)}
    near = get_close_matches(name.lower(), words, 1, 0.6)
    return f"; did you mean {source}:{words[near[0]]}?" if near else ""


def _file_options(files: GivenFiles) -> list[str]:
    return [key for key in ("features", "labels", "edge_features") if getattr(files, key) is not None]


def _of_files(target: str, files: GivenFiles, spec_dir: Path) -> dict[str, Any]:
    path = _path_in_spec(target, "init", spec_dir)
    suffixes = Path(target).suffixes
    if ".npz" in suffixes[-1:] and not _file_options(files):
        return {"source": "files", "path": path} | ({} if _has_features(path, spec_dir) else STRUCTURAL)
    if files.labels is None:
        raise InputError(Problem(target, f"edges alone can teach nothing: give --labels FILE{_labels_beside(target)}"))
    section: dict[str, Any] = {"source": "files", "edges": path}
    for key in ("features", "labels", "edge_features"):
        value = getattr(files, key)
        section |= {} if value is None else {key: _path_in_spec(value, f"--{key.replace('_', '-')}", spec_dir)}
    return section | ({} if files.features is not None else STRUCTURAL)


def _has_features(path: str, spec_dir: Path) -> bool:
    """Whether an npz holds features; one that cannot be read is left to the preparation, which says why."""
    found = find_file(path, spec_dir)
    try:
        with zipfile.ZipFile(found or path) as archive:
            return bool({"x.npy", "x_indptr.npy"} & set(archive.namelist()))
    except (OSError, zipfile.BadZipFile):
        return True


def _labels_beside(target: str) -> str:
    """Says which file beside it may be meant."""
    folder = Path(target).parent
    found = sorted(p for p in folder.glob("*") if p.name.split(".")[0].lower() in _BESIDE) if folder.is_dir() else []
    hint = f"; beside it lies {found[0]}" if found else ""
    return f" (csv, tsv, npy, npz, parquet: one label a node){hint}"


def _path_in_spec(given: str, option: str, spec_dir: Path) -> str:
    """A path as the spec shall have it: relative to the spec where both lie below one folder, else absolute.

    Raises:
        InputError: there is no such file, here or under `$HARNESS_DATA`.
    """
    here = Path(os.path.expanduser(given))
    if here.is_file():
        above = Path(os.path.commonpath([here.absolute(), spec_dir.absolute()]))
        relative = Path.cwd().is_relative_to(above) and above != Path(above.anchor)
        return Path(os.path.relpath(here, spec_dir)).as_posix() if relative else here.absolute().as_posix()
    if find_file(given, spec_dir) is not None:  # under $HARNESS_DATA, where the spec finds it too
        return given
    looked = ", ".join(dict.fromkeys(str(place) for place in [here.absolute(), *candidates(given, spec_dir)]))
    folder = next((place for place in (here, *candidates(given, spec_dir)) if place.is_dir()), None)
    if folder is not None:
        raise InputError(Problem(option, f"'{given}' is a folder ({folder.absolute()}); name the file in it"))
    message = f"no such file: '{given}'; looked for {looked}"
    raise InputError(Problem(option, f"{message}; {FORMS}{_near_any(given)}" if option == "init" else message))


def _near_any(given: str) -> str:
    name = given.partition(":")[2] or given
    own = get_close_matches(given.lower(), ("wordnet", "wordnet:verb", "synthetic"), 1, 0.7)
    if own:
        return f"; did you mean {own[0]}?"
    return next((hint for source in ("pyg", "ogb") if (hint := _near(name, source))), "")


def checked(section: dict[str, Any]) -> Dataset:
    """The section as a spec's loader takes it.

    Raises:
        InputError: it is none, e.g. a synthetic graph that cannot be.
    """
    try:
        return _DATASET.validate_python(section)
    except ValidationError as error:
        raise InputError([Problem("init", str(found["msg"])) for found in error.errors()]) from None
