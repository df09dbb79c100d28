"""What was not judged as declared is marked, said in words, and never recommended."""

from __future__ import annotations

from typing import Any

import pytest

from harness.plan.model import Comparison, Plan
from harness.records.results import DecisionRule, VariantResult
from harness.spec.schema import Gate, Seeds
from harness.verdicts import judge
from harness.verdicts.analyze import analyze
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.what_if import at_other_looks
from tests.verdicts.results import PASSING, UNDECIDED, baseline_of, plan_of, quality_of, timing_of

DECLARED = DecisionRule.of(Gate(), Seeds())


def rule(**changes: Any) -> DecisionRule:
    return DECLARED.model_copy(update=changes)


def analysed(quality: VariantResult, plan: Plan | None = None) -> Verdicts:
    variants = {"baseline": baseline_of(), "v": quality}
    timings = {"control": timing_of("control", [1.0, 1.01, 0.99, 1.0]), "v": timing_of("v")}
    return analyze(plan or plan_of(Comparison(variant="v")), variants, timings)


def comparison_of(quality: VariantResult, plan: Plan | None = None) -> ComparisonVerdict:
    return analysed(quality, plan).comparisons[0]


def test_judged_as_declared() -> None:
    found = analysed(quality_of("v", decided_by=DECLARED))
    assert (found.comparisons[0].exploratory, found.comparisons[0].exploratory_reason) == (False, "")
    assert found.recommended == ["v"]


def test_a_file_that_does_not_say_by_what_it_was_decided_follows_its_plan() -> None:
    assert not comparison_of(quality_of("v")).exploratory


@pytest.mark.parametrize(
    ("decided_by", "words"),
    [
        (rule(looks=(3, 6)), "its seeds were decided by looks 3, 6, not looks 5, 10, 20"),
        (rule(looks=(8,)), "its seeds were decided by one look at 8, not looks 5, 10, 20"),
        (rule(max_drop_pp=1.0), "its seeds were decided by drops up to 1 pp, not 0.5 pp"),
        (rule(alpha=0.1), "its seeds were decided by alpha 0.1, not 0.05"),
        (rule(metric="macro_f1"), "its seeds were decided by macro-F1, not accuracy"),
        (rule(first=100), "its seeds were decided by seeds from 100, not from 0"),
        (rule(alpha=0.1, first=9), "its seeds were decided by alpha 0.1, not 0.05 and seeds from 9, not from 0"),
    ],
)
def test_another_rule_than_the_plans(decided_by: DecisionRule, words: str) -> None:
    found = analysed(quality_of("v", decided_by=decided_by))
    (comparison,) = found.comparisons
    assert (comparison.verdict, comparison.exploratory, comparison.exploratory_reason) == ("accept", True, words)
    assert (found.recommended, found.recommended_patch) == ([], {})
    assert found.recommended_note == "no variant was accepted but by exploration"


def test_seeds_added_after_the_last_look() -> None:
    """The job ran again by the new looks: its file alone would say that all is well."""
    found = comparison_of(quality_of("v", decided_by=DECLARED, looked_before=[rule(looks=(5,))]))
    assert found.exploratory_reason == (
        "its seeds had been looked at by one look at 5, not looks 5, 10, 20, before they were by these"
    )


def test_a_job_that_stopped_between_looks() -> None:
    found = comparison_of(quality_of("v", [*UNDECIDED, 0.1, -0.7]))
    assert found.exploratory_reason == "its job stopped between looks, with 7 pairs after 5 and before 10"
    assert not comparison_of(quality_of("v", UNDECIDED)).exploratory  # at a look
    assert not comparison_of(quality_of("v", [*PASSING, 0.1, -0.7])).exploratory  # decided before
    assert not comparison_of(quality_of("v", UNDECIDED[:4])).exploratory  # nothing to judge yet
    assert not comparison_of(quality_of("v", UNDECIDED * 5)).exploratory  # beyond the last look, which counts


def test_what_did_not_run_is_not_judged_by_looks() -> None:
    failed = quality_of("v", metrics=[0.7, "oom", 0.7, 0.7, 0.7], decided_by=rule(looks=(3,)))
    assert (comparison_of(failed).verdict, comparison_of(failed).exploratory) == ("dnf", False)


def test_other_looks_at_the_same_seeds() -> None:
    plan = plan_of(Comparison(variant="v"))
    variants = {"baseline": baseline_of(), "v": quality_of("v", UNDECIDED)}
    other, known = at_other_looks(plan, variants, Seeds(looks=(3, 5)))
    timings = {"control": timing_of("control", [1.0, 1.01, 0.99, 1.0]), "v": timing_of("v")}
    found = analyze(other, known, timings)
    assert (found.looks, found.comparisons[0].exploratory) == ([3, 5], True)
    assert found.comparisons[0].accuracy is not None
    assert found.comparisons[0].accuracy.look == 5
    same, known = at_other_looks(plan, variants, Seeds(looks=(5, 10, 20)))
    assert not analyze(same, known, timings).comparisons[0].exploratory


def test_one_look_at_what_is_there_is_exploratory_and_a_declared_one_is_not() -> None:
    arms = [0.7] * 5, {"v": [0.71, 0.70, 0.71, 0.70, 0.71]}
    assert judge(*arms, looks=None)["v"].exploratory
    assert not judge(*arms, looks=[5])["v"].exploratory
    assert not judge(*arms)["v"].exploratory
    assert judge([0.7], {"v": [None]}, looks=None)["v"].exploratory
