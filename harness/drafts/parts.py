"""A spec in the making: keys with their values and with why each has its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """One key.

    Attributes:
        key: at the top of the spec, or in a block.
        value: plain YAML: text, numbers, lists, mappings; written on one line.
        why: what a comment says of it; empty for nothing.
        offered: written as a comment, for a person to take the # away.
    """

    key: str
    value: Any
    why: str = ""
    offered: bool = False


@dataclass(frozen=True)
class Block:
    """A key with entries of its own, each on a line."""

    key: str
    entries: tuple[Entry, ...]
    why: str = ""


@dataclass(frozen=True)
class Draft:
    """A spec from top to bottom.

    Attributes:
        heading: lines of comment at the top.
        parts: its keys in order.
    """

    heading: tuple[str, ...]
    parts: tuple[Entry | Block, ...]

    def plain(self) -> dict[str, Any]:
        """What the YAML holds, without comments and without what is only offered."""
        found: dict[str, Any] = {}
        for part in self.parts:
            if isinstance(part, Block):
                found[part.key] = {entry.key: entry.value for entry in part.entries if not entry.offered}
            elif not part.offered:
                found[part.key] = part.value
        return found
