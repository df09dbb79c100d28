"""What can be wrong with a model, apart from its training."""

from __future__ import annotations

from harness.spec.errors import InputError, Problem


class Unsupported(ValueError):
    """These options cannot be had with this model, library or hardware; the message is the reason people read."""


class ModelError(InputError):
    """A module given by import path is not what it has to be: not found, not constructible, or of another output."""

    def __init__(self, class_path: str, message: str) -> None:
        super().__init__(Problem(file=class_path, path="model.class", message=message))
