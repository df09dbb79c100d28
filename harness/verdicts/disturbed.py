"""What was done to timing blocks from outside, and which of their processes never settled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

from harness.records.results import Block

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNTOLD = "other load"  # by results that did not yet say what by


class Disturbed(TypedDict):
    """Fields of `Speed` and of `Control`."""

    disturbed_blocks: int
    disturbed_by: list[str]
    unsettled_processes: int


def disturbed(blocks: Sequence[Block]) -> Disturbed:
    """Of these blocks: how many were kept though disturbed, what by, and how many processes never settled."""
    kept = [block for block in blocks if block.disturbed]
    words = [word for block in kept for word in (block.disturbed_by or [_UNTOLD])]
    return Disturbed(
        disturbed_blocks=len(kept),
        disturbed_by=list(dict.fromkeys(words)),
        unsettled_processes=sum(process.settled is False for block in blocks for process in block.processes),
    )


def calm(blocks: Sequence[Block]) -> tuple[list[Block], bool]:
    """The blocks in which to look at stages: those that nothing disturbed, where there are any; else all.

    Returns:
        The blocks, and whether they were disturbed.
    """
    found = [block for block in blocks if not block.disturbed]
    return (found, False) if found else (list(blocks), bool(blocks))


def causes(words: Sequence[str]) -> str:
    """What disturbed some blocks, each kind of cause once: `others kept 0.9 to 1.5 CPUs busy`."""
    kinds: dict[str, list[str]] = {}
    for text in words:
        kinds.setdefault(_NUMBER.sub("#", text), []).append(text)
    return ", ".join(_span(alike) for alike in kinds.values()) or _UNTOLD


def _span(alike: Sequence[str]) -> str:
    """Phrases that differ in one number as one, from the least to the most; else the first of them."""
    found = sorted((match for text in alike for match in _NUMBER.findall(text)), key=float)
    if len(found) != len(alike) or found[0] == found[-1]:
        return alike[0]
    return _NUMBER.sub(f"{found[0]} to {found[-1]}", alike[0])
