"""Whether a test set is so small that the allowed drop is a handful of its nodes."""

from __future__ import annotations

import shlex

from harness.plan.model import Plan

FEWEST_NODES = 10.0  # of an allowed drop; with fewer, single nodes decide


def coarse_words(max_drop_pp: float, test_nodes: int) -> str:
    """``0.5 pp is 6 of 1,200 test nodes``: what the plan and the verdicts both say of it."""
    return f"{max_drop_pp:g} pp is {max_drop_pp / 100.0 * test_nodes:.3g} of {test_nodes:,} test nodes"


def coarse(plan: Plan, test_nodes: int) -> list[str]:
    """The plan's warning, if there is one; of less than a node the prepared graph warns itself."""
    allowed = plan.gate.max_drop_pp / 100.0 * test_nodes
    if plan.gate.metric != "accuracy" or not 1.0 <= allowed < FEWEST_NODES:
        return []
    return [
        f"{coarse_words(plan.gate.max_drop_pp, test_nodes)}: single nodes decide, and it may take more seeds than are "
        f"planned; `harness plan {shlex.quote(plan.spec_path)} --power` says how many"
    ]
