"""Which accepted variants to switch on together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.verdicts.model import ComparisonVerdict

NOTE = "accepted alone does not mean accepted together; the combination is not confirmed"


@dataclass(frozen=True)
class Recommendation:
    """Accepted variants whose patches fit together."""

    names: tuple[str, ...]
    patch: dict[str, Any]
    note: str


def recommend(comparisons: Sequence[ComparisonVerdict], baseline: str) -> Recommendation:
    """All accepted patches on the baseline; where two set one option differently, the larger measured gain wins.

    Comparisons with another reference (leave one out) say what a part adds to a stack, not what to add to the baseline.
    """
    accepted = [c for c in comparisons if c.verdict == "accept" and c.reference == baseline]
    taken: list[ComparisonVerdict] = []
    lost: list[str] = []
    for candidate in sorted(accepted, key=lambda c: (-_gain(c), c.variant)):
        rival = next((t for t in taken if _conflicts(t.patch, candidate.patch)), None)
        if rival is None:
            taken.append(candidate)
        else:
            lost.append(f"{candidate.variant} gives way to {rival.variant}, which sets the same option and gains more")
    names = {c.variant for c in taken}
    patch = {path: value for c in taken for path, value in c.patch.items()}
    note = "; ".join([*([NOTE] if taken else ["no variant was accepted"]), *lost])
    return Recommendation(
        tuple(c.variant for c in comparisons if c.variant in names), dict(sorted(patch.items())), note
    )


def _gain(comparison: ComparisonVerdict) -> float:
    ratio = comparison.memory.ratio if comparison.goal == "memory" else comparison.speed.ratio
    return math.log(ratio) if ratio else 0.0


def _conflicts(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two patches set one option to different values."""
    return any(
        (a == b and one[a] != other[b]) or a.startswith(f"{b}.") or b.startswith(f"{a}.") for a in one for b in other
    )
