"""The quickstart's committed verdicts, which README shows, are what today's rules make of the same measurements."""

from __future__ import annotations

from pathlib import Path

from harness.commands.results import read_results
from harness.plan.model import Plan
from harness.records.files import read_model
from harness.verdicts.analyze import analyze
from harness.verdicts.model import Verdicts

MEASURED = Path(__file__).parent / "real" / "quickstart"
COMMITTED = Path(__file__).parents[2] / "results" / "reference" / "quickstart" / "verdicts.json"


def test_the_committed_verdicts_are_of_todays_rules() -> None:
    plan, committed = read_model(MEASURED / "plan.json", Plan), read_model(COMMITTED, Verdicts)
    now = analyze(plan, *read_results(MEASURED, plan))
    assert now.control == committed.control
    assert len(now.comparisons) == 10
    for new, old in zip(now.comparisons, committed.comparisons, strict=True):
        assert (new.variant, new.verdict, new.reason) == (old.variant, old.verdict, old.reason)
        assert (new.accuracy, new.speed) == (old.accuracy, old.speed)
