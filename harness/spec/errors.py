"""Errors in what a person wrote: they carry the place and the remedy, and leave formatting to the CLI."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what is wrong, what to do."""

    file: str
    message: str  # what is wrong, the value, what is allowed, did you mean
    line: int | None = None
    column: int | None = None
    path: str = ""  # dotted path of the key

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line, self.column) if p is not None)
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class InputError(Exception):
    """Bad input of any kind (spec, data file, environment): the CLI prints it and exits with 2."""

    def __init__(self, problems: list[Problem] | Problem) -> None:
        self.problems = [problems] if isinstance(problems, Problem) else problems
        super().__init__("\n".join(str(p) for p in self.problems))
