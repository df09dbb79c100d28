"""Folders: results, cache and data; whether they can be used, and what is in them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from harness.doctor.finding import Finding, note, ok, problem
from harness.doctor.sizes import in_words
from harness.spec.places import cache_root, data_root

LITTLE = 10**9
CLOSED = "grant access to it, or set HARNESS_DATA to another folder"


def places(results: Path = Path("results")) -> list[Finding]:
    """Where things lie."""
    return [
        written("results", results.absolute(), "run from a folder that you may write to"),
        written("HARNESS_CACHE", cache_root(), "set HARNESS_CACHE to a folder that you may write to"),
        *prepared(cache_root()),
        *data(data_root()),
    ]


def written(name: str, folder: Path, remedy: str) -> Finding:
    """A folder that runs write to: without it none is possible."""
    try:
        there = nearest(folder)
    except OSError as error:
        return problem(
            f"{name}: {folder}: cannot be looked at ({error.strerror})", remedy, fatal=True, path=str(folder)
        )
    state = "" if folder.is_dir() else ", to be made"
    why = _cannot_write(there)
    if why:
        return problem(f"{name}: {folder}{state}: cannot be written ({why})", remedy, fatal=True, path=str(folder))
    free = shutil.disk_usage(there).free
    text = f"{name}: {folder}{state}, {in_words(free)} free"
    facts = {"path": str(folder), "exists": folder.is_dir(), "free_bytes": free}
    if free < LITTLE:
        return note(text, "free space there, or use another disk", **facts)
    return ok(text, **facts)


def nearest(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def _cannot_write(folder: Path) -> str:
    """Why not; empty where it can. A file is made and taken away: permissions do not tell of a full disk."""
    if not folder.is_dir():
        return f"{folder} is not a folder"
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".harness-doctor-") as file:
            file.write(b"\0" * 4096)
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def prepared(cache: Path) -> list[Finding]:
    """Graphs that need not be made again."""
    graphs = len(list(cache.glob("graphs/*/graph.json")))
    return [ok(f"{graphs} prepared graph{'s' if graphs != 1 else ''} in the cache", prepared_graphs=graphs)]


def data(root: Path) -> list[Finding]:
    """Data sets under ``$HARNESS_DATA``; it may be absent, and read-only."""
    said = f"HARNESS_DATA: {root}" if os.environ.get("HARNESS_DATA") else f"HARNESS_DATA is not set: {root}"
    try:
        there = root.is_dir()
    except OSError as error:
        return [problem(f"{said}, which cannot be looked at ({error.strerror})", CLOSED, path=str(root))]
    if not there:
        absent = "is not a folder" if root.exists() else "is not there"
        text = f"{said}, which {absent}; data sets of PyG and OGB are downloaded to the cache"
        remedy = "without a network, set HARNESS_DATA to a folder with pyg/, ogb/ and files/ (docs/adding-a-dataset.md)"
        return [note(text, remedy, path=str(root), exists=False)]
    if not os.access(root, os.R_OK | os.X_OK):
        return [problem(f"{said}, which cannot be read", CLOSED, path=str(root), exists=True)]
    found = data_sets(root)
    writable = "" if os.access(root, os.W_OK) else ", read-only, which is fine"
    listed = ", ".join(found) if found else "no data set"
    return [ok(f"{said}{writable}: {listed}", path=str(root), exists=True, data_sets=found)]


def data_sets(root: Path) -> list[str]:
    """``pyg/<Class>[/<name>]``, ``ogb/<name>``, ``files/<name>``: what a spec can name without a download."""
    names = [f"pyg/{folder.name}" + _members(folder) for folder in _folders(root / "pyg")]
    names += [f"ogb/{folder.name}" for folder in _folders(root / "ogb")]
    files = root / "files"
    wanted = (".npz", ".npy", ".csv", ".tsv", ".parquet")
    if files.is_dir() and os.access(files, os.R_OK | os.X_OK):
        names += [f"files/{file.name}" for file in sorted(files.iterdir()) if file.suffix in wanted]
    return names


def _members(folder: Path) -> str:
    """The names within a class of PyG that has several; ``raw`` and ``processed`` are its own."""
    names = [inner.name for inner in _folders(folder) if inner.name not in ("raw", "processed")]
    return f" ({', '.join(names)})" if names else ""


def _folders(place: Path) -> list[Path]:
    if not place.is_dir() or not os.access(place, os.R_OK | os.X_OK):
        return []
    return sorted(inner for inner in place.iterdir() if inner.is_dir())
