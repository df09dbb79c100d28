"""Files that are whole or absent: written beside their place, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from harness.spec.errors import InputError, Problem

Model = TypeVar("Model", bound=BaseModel)

_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run the same command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the same command again",
    errno.EFBIG: "it would exceed the size that a file may have here; raise the limit (`ulimit -f`) and run it again",
    errno.EACCES: "the permission is missing; give it or work in another folder",
    errno.EPERM: "the permission is missing; give it or work in another folder",
    errno.EROFS: "the disk is read-only; work in another folder",
    errno.EISDIR: "a folder has this name; move it away or name another file",
    errno.EEXIST: "a file stands where a folder should be; move it away or name another folder",
    errno.ENOTDIR: "a file stands where a folder should be; move it away or name another folder",
    errno.ENAMETOOLONG: "the name is too long; give a shorter one",
    errno.ELOOP: "the links there lead in a circle; remove them",
}


def read_model(path: Path, model: type[Model], remedy: str = "delete it and run `snakemake` again") -> Model:
    """A file of ours as its model.

    Args:
        path: the file.
        model: what it holds.
        remedy: what to do about a file that is there and is no such model.

    Raises:
        InputError: the file is not there, or is damaged, or of another version.
    """
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(Problem(str(path), "no such file; run `snakemake` first, it makes it")) from None
    except IsADirectoryError:
        why = "a folder, and no file"
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = f"{place}: {first['msg']}" if place else first["msg"]
    except OSError as error:  # a link in a circle, no permission, a disk that fails
        raise InputError(Problem(str(path), f"cannot be read: {error.strerror}; put that right, or {remedy}")) from None
    message = f"not a {model.__name__} of this version ({why}); {remedy}"
    raise InputError(Problem(str(path), message))


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old content or the new, never half of it.

    A device or a pipe, such as `/dev/stdout`, is written to and stays what it is.

    Raises:
        InputError: the disk is full or the place cannot be written; what was there before is untouched.
    """
    with told_where(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
            return
        temporary = None
        try:
            with tempfile.NamedTemporaryFile(
                "w", dir=path.parent, prefix=f".{path.name[:40]}.", encoding="utf-8", delete=False
            ) as file:
                temporary = Path(file.name)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        except BaseException:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def told_where(path: Path | str) -> Iterator[None]:
    """What the disk refuses inside becomes one message on this place, with the remedy.

    Raises:
        InputError: in place of an OSError, whatever it is.
    """
    try:
        yield
    except BrokenPipeError:  # whoever read the pipe has enough
        raise
    except OSError as error:
        remedy = remedy_of(error) or f"{error.strerror or error}; put that right and run it again"
        raise InputError(Problem(str(path), f"could not be written: {remedy}")) from error


def remedy_of(error: OSError) -> str | None:
    """What is wrong with the disk or with a name, and what to do; None where the error is of another kind."""
    return _REMEDIES.get(error.errno or 0)
