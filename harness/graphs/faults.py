"""The one form of complaint about data: file, key, value, remedy."""

from __future__ import annotations

from pathlib import Path

from harness.spec.errors import InputError, Problem


def data_fault(file: Path | str, key: str, message: str) -> InputError:
    """An `InputError` about `file`, which the spec names under the dotted path `key`."""
    return InputError(Problem(file=str(file), path=key, message=message))
