"""A spec in the making: keys with their values and with why each has its value."""

from __future__ import annotations

from dataclasses import dataclass, replace
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

    def keys(self, offered: bool = False) -> list[str]:
        """Of the entries that count, or of those that are only offered."""
        return [entry.key for entry in self.entries if entry.offered == offered]


@dataclass(frozen=True)
class Draft:
    """A spec from top to bottom.

    Attributes:
        heading: lines of comment at the top.
        parts: its keys in order.
    """

    heading: tuple[str, ...]
    parts: tuple[Entry | Block, ...]

    def block(self, key: str) -> Block:
        """The block of that key."""
        return next(part for part in self.parts if isinstance(part, Block) and part.key == key)

    def adding(self, *entries: Entry) -> Draft:
        """The draft with entries at its end."""
        return replace(self, parts=(*self.parts, *entries))

    def offering(self, block: str, key: str, why: str) -> Draft:
        """The draft with one entry of a block only offered, and why."""
        old = self.block(block)
        entries = tuple(replace(e, offered=True, why=why) if e.key == key else e for e in old.entries)
        new = replace(old, entries=entries)
        return replace(self, parts=tuple(new if part is old else part for part in self.parts))

    def plain(self) -> dict[str, Any]:
        """What the YAML holds, without comments and without what is only offered."""
        found: dict[str, Any] = {}
        for part in self.parts:
            if isinstance(part, Block):
                found[part.key] = {entry.key: entry.value for entry in part.entries if not entry.offered}
            elif not part.offered:
                found[part.key] = part.value
        return found
