"""What was done to timing blocks from outside, and which of their processes never settled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from harness.records.results import Block

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
    """What disturbed some blocks: the first cause, and how many more there were."""
    if not words:
        return _UNTOLD
    return words[0] if len(words) == 1 else f"{words[0]}, and {len(words) - 1} more"
