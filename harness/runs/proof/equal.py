"""The plainest proof: what was asked is what was found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def equal(path: str, asked: Any, found: Any) -> Iterator[str]:
    if asked != found:
        yield f"{path} is {asked}, but the run had {found}"
