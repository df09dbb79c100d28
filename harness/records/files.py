"""Files that are whole or absent: written beside their place, then renamed."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from harness.spec.errors import InputError, Problem

Model = TypeVar("Model", bound=BaseModel)


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
    message = f"not a {model.__name__} of this version ({why}); {remedy}"
    raise InputError(Problem(str(path), message))


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old content or the new, never half of it.

    Raises:
        InputError: the disk is full or the folder cannot be written; what was there before is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
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
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        remedy = {
            errno.ENOSPC: "the disk is full; free some space and run the same command again",
            errno.EDQUOT: "the disk quota is used up; free some space and run the same command again",
            errno.EACCES: "no permission to write here; change it or work in another folder",
            errno.EROFS: "the disk is read-only; work in another folder",
        }.get(error.errno or 0)
        if remedy is None:
            raise
        raise InputError(Problem(str(path), f"could not be written: {remedy}")) from error
