"""Files that a spec names, and faults of the disk they lie on."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.graphs.faults import data_fault
from harness.spec.errors import InputError
from harness.spec.places import candidates

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})  # the last: a limit on the size of files
CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def find_file(name: str, spec_dir: Path, key: str) -> Path:
    """The file that a spec names: beside the spec, else under `$HARNESS_DATA`, else under its `files/`.

    Raises:
        InputError: it is in none of them, is not a file, or may not be looked at; the message names every place
            looked at.
    """
    places = candidates(name, spec_dir)
    for place in places:
        try:
            if place.is_file():
                return place.resolve()
        except OSError as error:  # a closed folder, or a name too long
            remedy = f"grant access, correct `{key}`, or set HARNESS_DATA"
            raise data_fault(place, key, f"cannot be looked at ({error.strerror}); {remedy}") from None
    if any(place.is_dir() for place in places):
        raise data_fault(name, key, "is a folder; name one file")
    looked = ", ".join(str(place.absolute()) for place in places)
    raise data_fault(name, key, f"no such file; looked at {looked}. Put it there, correct `{key}`, or set HARNESS_DATA")


def is_disk_fault(error: BaseException) -> bool:
    """The disk is full or may not be written: a fault of the place, not of the data."""
    return isinstance(error, OSError) and error.errno in FULL | CLOSED


@contextmanager
def clear_disk_messages(folder: Path) -> Iterator[None]:
    """A full or read-only disk is a fault of the environment that a person can mend: say how.

    Args:
        folder: in the cache, that is written to.

    Raises:
        InputError: in place of an OSError of that kind.
    """
    try:
        yield
    except (OSError, InputError) as error:
        refused = error if isinstance(error, OSError) else error.__cause__  # of a file that was written atomically
        if isinstance(refused, OSError) and refused.errno in FULL:
            full = (
                "the disk is full" if refused.errno != errno.EFBIG else f"the disk takes no more ({refused.strerror})"
            )
            raise data_fault(
                folder,
                "HARNESS_CACHE",
                f"{full}; free space there, or set HARNESS_CACHE to a folder on another disk",
            ) from error
        if isinstance(refused, OSError) and refused.errno in CLOSED:
            raise data_fault(
                refused.filename or folder,
                "HARNESS_CACHE",
                f"cannot be used ({refused.strerror}); grant access, or set HARNESS_CACHE to a folder you may write to",
            ) from error
        raise
