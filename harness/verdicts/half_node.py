"""Half a node of the test set: pairs count as scattered by at least that, or few equal ones would promise certainty."""

from __future__ import annotations

from collections.abc import Sequence

from harness.verdicts.means import sample_sd
from harness.verdicts.model import Accuracy


def half_node_pp(test_nodes: int) -> float:
    """Half a node of the test set, percentage points."""
    return 50.0 / test_nodes


def least_spread_pp(accuracy: Accuracy, d_pp: Sequence[float], test_nodes: int | None) -> float | None:
    """Half a test node where the gate counts it in place of the pairs' own, smaller spread; None where it does not.

    Args:
        accuracy: of the comparison. Where the gate took identical predictions for evidence they have no spread at all.
        d_pp: two or more differences of its pairs, percentage points.
        test_nodes: nodes in the test set, if known.
    """
    certain = accuracy.identical and not any(d_pp) and accuracy.ci_pp == (0.0, 0.0)
    if test_nodes is None or certain or sample_sd(d_pp) >= half_node_pp(test_nodes):
        return None
    return half_node_pp(test_nodes)
