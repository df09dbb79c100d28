"""What would other looks have said of the same seeds?"""

from __future__ import annotations

from collections.abc import Mapping

from harness.plan.model import Plan
from harness.records.results import DecisionRule, VariantResult
from harness.spec.schema import Seeds


def at_other_looks(
    plan: Plan, variants: Mapping[str, VariantResult], seeds: Seeds
) -> tuple[Plan, dict[str, VariantResult]]:
    """A plan with other looks, and results that say by which they were really decided.

    Analysed together they give exploratory comparisons wherever the looks differ. Results that do not say by what they
    were decided were decided by the plan.

    Args:
        plan: as it is.
        variants: its results.
        seeds: the other looks; where they start is the plan's.
    """
    declared = DecisionRule.of(plan.gate, plan.seeds)
    known = {
        name: v.model_copy(update={"decided_by": v.decided_by or declared}) if v.reference is not None else v
        for name, v in variants.items()
    }
    return plan.model_copy(update={"seeds": plan.seeds.model_copy(update={"looks": seeds.looks})}), known
