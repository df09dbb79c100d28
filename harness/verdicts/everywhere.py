"""Verdicts of several specs side by side: what holds on every data set, and what depends on the graph.

Two variants are the same if they change the same options to the same values for the same goal, whatever they are
called. Each was judged against its own spec's baseline, by its own spec's gate; nothing is judged again here.
"Accepted on all m" is an AND of tests and needs no correction. Accuracies are never pooled; a geometric mean of
speed-ups is a summary, not a test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.plan.ids import canonical
from harness.verdicts.model import ComparisonVerdict, Verdicts

Agreement = Literal["everywhere", "nowhere", "depends", "open"]
_UNMEASURED = ("skipped", "dnf", "enables")


@dataclass(frozen=True)
class JudgedSpec:
    """The verdicts of one spec.

    Attributes:
        spec: its name.
        dataset: in words; specs with equal words are of one data set.
    """

    spec: str
    dataset: str
    verdicts: Verdicts


@dataclass(frozen=True)
class MeanSpeedup:
    """Geometric mean of speed-ups.

    Attributes:
        ratio: over data sets; of a data set with several specs their geometric mean counts once.
        measured: data sets in which it was timed and may be compared.
        tried: data sets in which it was planned.
    """

    ratio: float
    measured: int
    tried: int


@dataclass(frozen=True)
class VariantAcross:
    """One variant in all specs that have it.

    Attributes:
        names: that the specs give it, each once.
        patch: dotted path to value: what it changes.
        cells: by spec.
        datasets: in which it was planned, each once.
    """

    names: tuple[str, ...]
    patch: dict[str, Any]
    goal: Literal["speed", "memory"]
    cells: dict[str, ComparisonVerdict]
    datasets: tuple[str, ...]
    speedup: MeanSpeedup | None
    agreement: Agreement


def across_specs(specs: Sequence[JudgedSpec]) -> list[VariantAcross]:
    """Every variant of all specs, those on most data sets first, then in the order of the specs.

    Specs that leave one option out at a time are not taken in: their variants differ from another reference.
    """
    found: dict[str, list[tuple[JudgedSpec, ComparisonVerdict]]] = {}
    for spec in specs:
        if spec.verdicts.design == "leave-one-out":
            continue
        for c in spec.verdicts.comparisons:
            found.setdefault(canonical([c.patch, c.goal]), []).append((spec, c))
    return sorted((_across(cells) for cells in found.values()), key=lambda variant: -len(variant.datasets))


def _across(cells: Sequence[tuple[JudgedSpec, ComparisonVerdict]]) -> VariantAcross:
    first = cells[0][1]
    return VariantAcross(
        names=tuple(dict.fromkeys(c.variant for _, c in cells)),
        patch=first.patch,
        goal=first.goal,
        cells={spec.spec: c for spec, c in cells},
        datasets=tuple(dict.fromkeys(spec.dataset for spec, _ in cells)),
        speedup=mean_speedup([(spec.dataset, timed_ratio(c)) for spec, c in cells]),
        agreement=agreement([c for _, c in cells]),
    )


def timed_ratio(c: ComparisonVerdict) -> float | None:
    """The speed-up, where it was measured under the conditions of its control."""
    return None if c.verdict in _UNMEASURED or c.not_comparable else c.speed.ratio


def mean_speedup(ratios: Sequence[tuple[str, float | None]]) -> MeanSpeedup | None:
    """Geometric mean over data sets, each of which counts once.

    Args:
        ratios: data set and speed-up of each spec; None where it was not measured.

    Returns:
        None where none was measured.
    """
    logs: dict[str, list[float]] = {}
    for dataset, ratio in ratios:
        logs.setdefault(dataset, [])
        if ratio is not None and ratio > 0.0:
            logs[dataset].append(math.log(ratio))
    means = [math.fsum(values) / len(values) for values in logs.values() if values]
    if not means:
        return None
    return MeanSpeedup(math.exp(math.fsum(means) / len(means)), len(means), len(logs))


def agreement(cells: Sequence[ComparisonVerdict]) -> Agreement:
    """What the verdicts amount to together.

    everywhere: accepted in all. nowhere: shown in all not to be worth it, or it did not train. depends: accepted in
    some and not worth it in others. open: all else, since some are undecided, skipped or exploratory.
    """
    accepted = [c.verdict == "accept" and not c.exploratory for c in cells]
    refused = [c.verdict in ("reject", "no-gain", "dnf") and not c.exploratory for c in cells]
    if all(accepted):
        return "everywhere"
    if all(refused):
        return "nowhere"
    return "depends" if any(accepted) and any(refused) else "open"
