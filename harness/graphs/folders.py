"""Files that a spec names, and faults of the disk they lie on."""

from __future__ import annotations

import errno
from pathlib import Path

from harness.graphs.faults import data_fault
from harness.spec.places import candidates

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def find_file(name: str, spec_dir: Path, key: str) -> Path:
    """The file that a spec names: beside the spec, else under `$HARNESS_DATA`, else under its `files/`.

    Raises:
        InputError: it is in none of them, or is not a file; the message names every place looked at.
    """
    places = candidates(name, spec_dir)
    for place in places:
        if place.is_file():
            return place.resolve()
    if any(place.is_dir() for place in places):
        raise data_fault(name, key, "is a folder; name one file")
    looked = ", ".join(str(place.absolute()) for place in places)
    raise data_fault(name, key, f"no such file; looked at {looked}. Put it there, correct `{key}`, or set HARNESS_DATA")


def is_disk_fault(error: BaseException) -> bool:
    """The disk is full or may not be written: a fault of the place, not of the data."""
    return isinstance(error, OSError) and error.errno in FULL | CLOSED
