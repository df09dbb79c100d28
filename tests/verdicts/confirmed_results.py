"""A confirmation as its jobs leave it, for tests of the analyser and of reports."""

from __future__ import annotations

from typing import Any

from harness.plan.confirmation import Confirmation, Part
from harness.plan.confirmed import Confirmed
from harness.plan.model import Comparison, Plan
from harness.records.results import VariantResult
from harness.verdicts.analyze import analyze
from harness.verdicts.model import Verdicts
from tests.verdicts.results import FAST, SAME, baseline_of, plan_of, quality_of, timing_of

FASTER = [1.80, 1.82, 1.81, 1.83]
# the stack's seconds over those without a part: 1 / 1.12, so that leaving it out is 1.12 times slower
SLOWER_WITHOUT = [1 / 1.12, 1 / 1.13, 1 / 1.11, 1 / 1.12]


def grid(**changes: Any) -> Plan:
    """A plan of two variants whose recommendation is to be confirmed."""
    return plan_of(Comparison(variant="a"), Comparison(variant="b"), **({"confirm": "recommended"} | changes))


def confirmed(**changes: Any) -> Confirmed:
    """A stack of `a` and `b` that passes, of which `a` earns its place; results can be replaced by name."""
    plan = plan_of(
        Comparison(variant="recommended"),
        Comparison(variant="without-a", reference="recommended"),
        Comparison(variant="without-b", reference="recommended"),
        Comparison(variant="up-to-a"),
    )
    parts = [
        Part(variant="a", without="without-a", height="up-to-a", goal=changes.pop("goal", "speed")),
        Part(variant="b", without="without-b", height="recommended"),
    ]
    patch = {"features.cache_ratio": 0.3, "checkpointing": True}
    frozen = Confirmation(names=["a", "b"], patch=patch, plan_id="p", parts=parts, plan=plan)
    variants = {
        "baseline": baseline_of(),
        "recommended": quality_of("recommended"),
        "without-a": against_stack("without-a", [0.1, 0.2, 0.0, 0.1, 0.1]),
        "without-b": against_stack("without-b", [0.0] * 5),
    } | changes.pop("variants", {})
    timings = {
        "recommended": timing_of("recommended", FASTER),
        "without-a": timing_of("without-a", SLOWER_WITHOUT, reference="recommended"),
        "without-b": timing_of("without-b", SAME, reference="recommended"),
        "up-to-a": timing_of("up-to-a", FAST),
    } | changes.pop("timings", {})
    return Confirmed(frozen, variants, timings, **changes)


def against_stack(name: str, d_pp: list[float]) -> VariantResult:
    return quality_of(name, d_pp, reference=[0.70] * len(d_pp)).model_copy(
        update={"reference": "recommended", "reference_cell_id": "cell-recommended"}
    )


def verdicts_of(found: Confirmed | None, second: list[float] = FAST, plan: Plan | None = None) -> Verdicts:
    variants = {"baseline": baseline_of(), "a": quality_of("a"), "b": quality_of("b")}
    timings = {"control": timing_of("control", SAME), "a": timing_of("a"), "b": timing_of("b", second)}
    return analyze(plan or grid(), variants, timings, found)
