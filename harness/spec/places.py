"""Where data is looked for, and where prepared things are kept."""

from __future__ import annotations

import os
from pathlib import Path


def data_root() -> Path:
    """``$HARNESS_DATA``, default ``data``, absolute: before any download; may be read-only or missing."""
    return _path(os.environ.get("HARNESS_DATA") or "data").absolute()


def cache_root() -> Path:
    """``$HARNESS_CACHE``, default ``.cache``, absolute: prepared graphs, partitions, downloads, the probe's answers."""
    return _path(os.environ.get("HARNESS_CACHE") or ".cache").absolute()


def _path(text: str) -> Path:
    """With the home of ``~`` or ``~name``, which is a folder like any other where nobody has that name."""
    return Path(os.path.expanduser(text))


def candidates(path: str, spec_dir: Path) -> list[Path]:
    """The places of a path in a spec, in the order they are tried: the spec's folder, the data root, its `files/`."""
    given = _path(path)
    if given.is_absolute():
        return [given]
    return [spec_dir / given, data_root() / given, data_root() / "files" / given]


def find_file(path: str, spec_dir: Path) -> Path | None:
    """The first of ``candidates`` that is a file; one in a folder that may not be looked into is none."""
    return next((place for place in candidates(path, spec_dir) if os.path.isfile(place)), None)
