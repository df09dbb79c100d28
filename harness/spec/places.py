"""Where data is looked for, and where prepared things are kept."""

from __future__ import annotations

import os
from pathlib import Path


def data_root() -> Path:
    """``$HARNESS_DATA``, default ``data``, absolute: before any download; may be read-only or missing."""
    return Path(os.environ.get("HARNESS_DATA") or "data").expanduser().absolute()


def cache_root() -> Path:
    """``$HARNESS_CACHE``, default ``.cache``, absolute: prepared graphs, partitions, downloads, the probe's answers."""
    return Path(os.environ.get("HARNESS_CACHE") or ".cache").expanduser().absolute()


def candidates(path: str, spec_dir: Path) -> list[Path]:
    """The places of a path in a spec, in the order they are tried: the spec's folder, the data root, its `files/`."""
    given = Path(path).expanduser()
    if given.is_absolute():
        return [given]
    return [spec_dir / given, data_root() / given, data_root() / "files" / given]


def find_file(path: str, spec_dir: Path) -> Path | None:
    """The first of ``candidates`` that is a file."""
    return next((place for place in candidates(path, spec_dir) if place.is_file()), None)
