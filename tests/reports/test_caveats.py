"""A headline says what a whole training does not get of a gain an epoch."""

from __future__ import annotations

from typing import Any

import pytest

from harness.reports.answer import answer
from harness.reports.caveats import caveats
from harness.verdicts.model import ComparisonVerdict, Confirmation
from tests.reports.conftest import comparison

PLAIN = comparison("plain")
COSTS, REACHING = PLAIN.costs, PLAIN.time_to_reference
assert COSTS.total is not None
assert REACHING is not None


def reaching(variant: str, **changes: Any) -> ComparisonVerdict:
    assert REACHING is not None
    return comparison(variant, time_to_reference=REACHING.model_copy(update=changes))


def costing(variant: str, payoff: float | None, goal: str = "speed", **changes: Any) -> ComparisonVerdict:
    assert COSTS.total is not None
    total = COSTS.total.model_copy(update=changes)
    return comparison(variant, goal=goal, costs=COSTS.model_copy(update={"payoff_epochs": payoff, "total": total}))


@pytest.mark.parametrize(
    ("praised", "words"),
    [
        (PLAIN, ""),
        (comparison("x", time_to_reference=None, costs=COSTS.model_copy(update={"total": None})), ""),
        (reaching("x", reached=2, pairs=5), ""),
        (reaching("x", reached=1), "But x (in 1 of 5 pairs) rarely reaches the reference's validation accuracy."),
        (
            reaching("x", epochs=12.0, reference_epochs=8.0, epochs_ratio=0.67, epochs_ci=(0.5, 0.9)),
            "But x (12, reference 8) needs more epochs to the reference's validation accuracy.",
        ),
        (reaching("x", epochs=12.0, epochs_ratio=0.67, epochs_ci=(0.4, 1.1)), ""),
        (
            costing("x", 1199.2, pays_off="after", seconds=9.0),
            "But x (after 1,200 epochs, and it has 30) does not earn the preparation back in this training.",
        ),
        (costing("x", None, pays_off="never", goal="memory"), ""),
        (
            costing("x", None, pays_off="free", seconds=4.0),
            "But x (4 s, reference 3 s) takes longer over a whole training.",
        ),
    ],
)
def test_each_caveat_in_its_words(praised: ComparisonVerdict, words: str) -> None:
    assert caveats([(praised.variant, praised)]) == words


def test_several_share_a_sentence_and_it_follows_the_answer(make_verdicts) -> None:
    rare = [reaching(name, reached=1) for name in ("a", "b")]
    late = costing("metis", 45.0, pays_off="after")
    assert answer(make_verdicts([*rare, late, PLAIN])).endswith(
        "shown to be at most 0.5 pp. But a (in 1 of 5 pairs) and b (in 1 of 5 pairs) rarely reach the reference's "
        "validation accuracy; metis (after 45 epochs, and it has 30) does not earn the preparation back in this "
        "training."
    )
    rejected = reaching("c", reached=0).model_copy(update={"verdict": "reject"})
    assert "But" not in answer(make_verdicts([rejected, PLAIN]))


def test_a_confirmed_stack_is_told_by_its_own_runs(make_verdicts) -> None:
    found = Confirmation(names=["a", "b"], note="confirmed", comparison=reaching("recommended", reached=1, pairs=10))
    verdicts = make_verdicts([comparison("a"), reaching("b", reached=0)], confirmation=found)
    assert answer(verdicts).endswith(
        "2 of 2 variants pass alone. But the stack (in 1 of 10 pairs) rarely reaches the reference's validation "
        "accuracy."
    )
