"""The figures of a report, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from harness.plan.model import Plan
from harness.records.results import VariantResult
from harness.reports.drawing import Figure
from harness.reports.memory_figure import memory
from harness.reports.stack_figure import stack_figures
from harness.reports.stage_shares import stage_shares
from harness.reports.trade_off import trade_off
from harness.reports.training_curves import training_curves
from harness.verdicts.model import Verdicts


def figures(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> list[Figure]:
    """Speed-up against accuracy, the stack, stages, memory, curves; each with a caption, or with why it is missing."""
    return [
        trade_off(verdicts),
        *stack_figures(verdicts),
        stage_shares(verdicts),
        memory(plan, verdicts),
        training_curves(plan, variants),
    ]
