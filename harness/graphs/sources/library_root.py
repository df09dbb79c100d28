"""A folder that a library may write to, filled with what lies ready under `$HARNESS_DATA`.

PyG and OGB write processed copies beside the raw files, which may be on a read-only disk. So they get a root under
`$HARNESS_CACHE` with links to the raw files; what they download stays there, their processed copies are removed
(the prepared graph replaces them, and a copy could outlive a change of the raw files).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from harness.graphs.faults import data_fault
from harness.spec.places import cache_root, data_root

TIMEOUT_S = 60.0


@contextmanager
def library_root(*parts: str) -> Iterator[Path]:
    """The root `$HARNESS_CACHE/<parts>` with links to all raw files of `$HARNESS_DATA/<parts>`, under a lock."""
    ready, root = data_root().joinpath(*parts), cache_root().joinpath(*parts)
    root.mkdir(parents=True, exist_ok=True)
    before = socket.getdefaulttimeout()
    with FileLock(root.with_name(f"{root.name}.lock")):
        socket.setdefaulttimeout(TIMEOUT_S)  # a dead network is an answer within a minute
        try:
            _remove_processed(root)
            if _is_ready(ready) and ready.resolve() != root.resolve():
                _link(ready, root)
            yield root
        finally:
            socket.setdefaulttimeout(before)
            _remove_processed(root)


def _is_ready(ready: Path) -> bool:
    """Whether there is such a folder.

    Raises:
        InputError: it may not be looked into.
    """
    try:
        return ready.is_dir()
    except OSError as error:
        message = f"cannot be looked at ({error.strerror}); grant access, or set HARNESS_DATA to another folder"
        raise data_fault(ready, "HARNESS_DATA", message) from None


def _link(ready: Path, root: Path) -> None:
    for folder, _, names in os.walk(root):
        for path in (Path(folder) / name for name in names):
            if path.is_symlink():
                path.unlink()  # of another $HARNESS_DATA, perhaps
    for folder, below, names in os.walk(ready):
        below[:] = [name for name in below if name != "processed"]
        own = root / Path(folder).relative_to(ready)
        own.mkdir(exist_ok=True)
        for name in names:
            if not (own / name).exists():
                try:
                    (own / name).symlink_to(Path(folder).resolve() / name)
                except OSError:  # a file system without links
                    shutil.copy2(Path(folder) / name, own / name)


def _remove_processed(root: Path) -> None:
    for folder, below, _ in os.walk(root):
        if "processed" in below:
            below.remove("processed")
            with contextlib.suppress(OSError):
                shutil.rmtree(Path(folder) / "processed")
