"""Options that hold a comma-separated list of names."""

from __future__ import annotations

from collections.abc import Iterable

from harness.spec.errors import InputError, Problem


def names_in(option: str, text: str, allowed: Iterable[str], what: str) -> list[str]:
    """The names in a comma-separated option, each of which is allowed."""
    names, known = [name.strip() for name in text.split(",") if name.strip()], list(allowed)
    if not names or not set(names) <= set(known):
        raise InputError(Problem(option, f"{text!r} is not a list of {what}; allowed: {', '.join(known)}"))
    return names
