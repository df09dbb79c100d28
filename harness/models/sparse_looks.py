"""How often what a step makes is looked at for the record's sake, where a look costs a pass over it."""

from __future__ import annotations

LOOK_FIRST, LOOK_EVERY = 16, 16


def is_looked_at(number: int) -> bool:
    """Whether the call of this number is among the first `LOOK_FIRST`, or one in `LOOK_EVERY` of those after them."""
    return number <= LOOK_FIRST or number % LOOK_EVERY == 0
