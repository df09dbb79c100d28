"""The numbers of one row of a table, unrounded: what CSV and JSON hold, with what each of them means.

Differences of the metric lose what floating point added to them; nothing else is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.verdicts.model import ComparisonVerdict, Control, Verdicts

CONTROL = "control"  # the name of the control's row
_EXACT_TO = 9  # decimals of percentage points: equal means differ by 1e-10 of them in floating point

Kind = Literal["text", "number", "whole number", "true or false", "patch"]


@dataclass(frozen=True)
class Field:
    """One cell of a CSV line, one key of a JSON row.

    Attributes:
        name: heading in CSV, key in JSON.
        kind: what it holds; empty in CSV, and null in JSON, where nothing was measured.
        meaning: one sentence, with its unit.
    """

    name: str
    kind: Kind
    meaning: str


def values_of(c: ComparisonVerdict, verdicts: Verdicts) -> dict[str, Any]:
    """Values of a comparison by the names of fields; what was not measured is absent or None."""
    found: dict[str, Any] = {
        "spec": verdicts.spec,
        "variant": c.variant,
        "reference": c.reference,
        "goal": c.goal,
        "exact": c.exact,
        "verdict": c.verdict,
        "exploratory": c.exploratory,
        "n_pairs": c.n_pairs,
        "metric": verdicts.gate.metric,
        "patch": c.patch,
        "reason": c.reason,
    }
    found |= _accuracy(c) | _reaching(c) | _costs(c)
    found |= {"speedup": c.speed.ratio, "blocks": c.speed.blocks, "speed_state": c.speed.state}
    found |= {"reference_epoch_s": c.speed.reference_epoch_s, "variant_epoch_s": c.speed.variant_epoch_s}
    found |= {"memory_ratio": c.memory.ratio, "memory_state": c.memory.state}
    found |= {"reference_bytes": c.memory.reference_bytes, "variant_bytes": c.memory.variant_bytes}
    found |= {"estimated_bytes": c.memory.estimated_bytes}
    return found | _bounds("speedup", c.speed.ci) | _bounds("memory", c.memory.ci)


def control_values(control: Control, spec: str) -> dict[str, Any]:
    """Likewise of the control: what the baseline gains over itself."""
    found: dict[str, Any] = {"spec": spec, "variant": CONTROL, "verdict": control.state, "speedup": control.ratio}
    found |= {"blocks": control.blocks, "memory_ratio": control.memory_ratio, "reason": control.reason}
    return found | _bounds("speedup", control.ci) | _bounds("memory", control.memory_ci)


def rows_of(verdicts: Verdicts) -> list[Mapping[str, Any]]:
    """A row a comparison, one for what is recommended together, and one for the control."""
    confirmed = verdicts.confirmation.comparison if verdicts.confirmation is not None else None
    comparisons = [*verdicts.comparisons, *([confirmed] if confirmed is not None else [])]
    return [*(values_of(c, verdicts) for c in comparisons), control_values(verdicts.control, verdicts.spec)]


def _accuracy(c: ComparisonVerdict) -> dict[str, Any]:
    found = c.accuracy
    if found is None:
        return {}
    lower, upper = found.ci_pp if found.ci_pp is not None else (None, None)
    return {
        "look": found.look,
        "alpha": found.alpha,
        "reference_metric": found.baseline,
        "variant_metric": found.variant,
        "delta_pp": _without_residue(found.delta_pp),
        "delta_lower_pp": _without_residue(lower),
        "delta_upper_pp": _without_residue(upper),
        "accuracy_state": found.state,
        "more_seeds": found.more_seeds,
    }


def _without_residue(delta_pp: float | None) -> float | None:
    return None if delta_pp is None else round(delta_pp, _EXACT_TO) + 0.0  # and no -0.0


def _reaching(c: ComparisonVerdict) -> dict[str, Any]:
    found = c.time_to_reference
    if found is None:
        return {}
    return {
        "epochs_to_reference": found.epochs,
        "reference_epochs_to_reference": found.reference_epochs,
        "seconds_to_reference": found.seconds,
        "reference_seconds_to_reference": found.reference_seconds,
        "pairs_that_reached": found.reached,
        "sooner": found.ratio,
    } | _bounds("sooner", found.ci)


def _costs(c: ComparisonVerdict) -> dict[str, Any]:
    found: dict[str, Any] = {"payoff_epochs": c.costs.payoff_epochs, "ceiling": c.costs.ceiling}
    if c.costs.total is not None:
        total = c.costs.total
        found |= {"once_s": total.once_s, "reference_once_s": total.reference_once_s}
        found |= {"training_s": total.seconds, "reference_training_s": total.reference_seconds}
    return found


def _bounds(name: str, interval: tuple[float, float] | None) -> dict[str, Any]:
    return {} if interval is None else {f"{name}_lower": interval[0], f"{name}_upper": interval[1]}
