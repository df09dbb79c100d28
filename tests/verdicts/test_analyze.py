"""Results to verdicts: the first that applies, and why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plan.coarse_test_set import coarse
from harness.plan.model import Comparison
from harness.records.record import Stages
from harness.records.results import Block, Parity, TimedProcess, TimingResult, VariantResult
from harness.spec.options import Training
from harness.spec.schema import Gate
from harness.verdicts.analyze import analyze
from harness.verdicts.disturbed import causes
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.total_cost import payoff_text
from tests.verdicts.results import (
    BROKEN_PARITY,
    ENVIRONMENT,
    FAILING,
    FAST,
    PARITY,
    PASSING,
    SAME,
    UNDECIDED,
    baseline_of,
    plan_of,
    quality_of,
    runs_of,
    skipped,
    timing_of,
)

SLOW = [0.84, 0.85, 0.83, 0.84]
FLAT = [1.00, 1.01, 1.00, 1.01]
WIDE = [0.90, 1.30, 1.00, 1.20]


def verdicts_of(
    quality: VariantResult | None,
    timing: TimingResult | None,
    *,
    comparison: Comparison | None = None,
    control: TimingResult | None = None,
    baseline: VariantResult | None = None,
    **plan: Any,
) -> Verdicts:
    """All verdicts where one variant `v` is compared."""
    variants = {"baseline": baseline or baseline_of()} | ({"v": quality} if quality is not None else {})
    timings = {"control": control or timing_of("control", SAME)} | ({"v": timing} if timing is not None else {})
    return analyze(plan_of(comparison or Comparison(variant="v"), **plan), variants, timings)


def verdict_of(*args: Any, **kwargs: Any) -> ComparisonVerdict:
    (found,) = verdicts_of(*args, **kwargs).comparisons
    return found


# The order of verdicts


def test_accept() -> None:
    found = verdict_of(quality_of("v", PASSING), timing_of("v", FAST))
    assert found.verdict == "accept"
    assert found.reason == "accuracy −0.04 pp [−0.31, +0.23] passes; 1.41 times as fast [1.38, 1.45]"
    assert found.accuracy is not None
    assert (found.accuracy.look, found.n_pairs, found.accuracy.state) == (5, 5, "pass")
    assert found.accuracy.delta_pp == pytest.approx(-0.04)
    assert found.accuracy.variant == pytest.approx(0.6996)
    assert found.accuracy.level == pytest.approx(1 - 2 * 0.0208, abs=1e-3)
    assert found.accuracy.collapse_rate_below == pytest.approx(0.451, abs=1e-3)
    assert (found.speed.state, found.speed.blocks) == ("gain", 2)
    assert found.speed.level == pytest.approx(0.983, abs=1e-3)


def test_reject_comes_before_the_gain() -> None:
    found = verdict_of(quality_of("v", FAILING), timing_of("v", FAST))
    assert found.verdict == "reject"
    assert found.reason.startswith("accuracy −1.08 pp [−1.40, −0.76] fails: the drop is larger than 0.5 pp")


@pytest.mark.parametrize(("ratios", "state"), [(FLAT, "no-gain"), (SLOW, "loss")])
def test_no_gain_comes_before_an_undecided_accuracy(ratios: list[float], state: str) -> None:
    found = verdict_of(quality_of("v", UNDECIDED), timing_of("v", ratios))
    assert (found.verdict, found.speed.state) == ("no-gain", state)


def test_inconclusive_accuracy_asks_for_more_seeds() -> None:
    found = verdict_of(quality_of("v", UNDECIDED), timing_of("v", FAST))
    assert found.verdict == "inconclusive"
    assert "undecided after 5 seeds, roughly 23 more needed, which takes a new spec with fresh seeds" in found.reason
    assert found.accuracy is not None
    assert found.accuracy.more_seeds == 23


def test_inconclusive_speed() -> None:
    found = verdict_of(quality_of("v"), timing_of("v", WIDE))
    assert found.verdict == "inconclusive"
    assert "undecided: the interval straddles 1.05" in found.reason


def _disturbed(timing: TimingResult, *indices: int) -> TimingResult:
    blocks = [b.model_copy(update={"disturbed": b.index in indices}) for b in timing.blocks]
    return timing.model_copy(update={"blocks": blocks})


def test_a_gain_timed_beside_other_load_is_open() -> None:
    found = verdict_of(quality_of("v"), _disturbed(timing_of("v", FAST), 1))
    assert (found.verdict, found.speed.state, found.speed.disturbed_blocks) == ("inconclusive", "gain", 1)
    assert found.reason.startswith("disturbed while timed in 1 of 2 blocks (other load); ")
    assert "1 timing block kept though disturbed: other load" in found.notes


@pytest.mark.parametrize("ratios", [SLOW, FLAT])
def test_beside_other_load_nothing_is_shown_to_be_no_faster(ratios: list[float]) -> None:
    timing = timing_of("v", ratios)
    loaded = [block.model_copy(update={"disturbed": True, "disturbed_by": ["load"]}) for block in timing.blocks]
    found = verdict_of(quality_of("v"), timing.model_copy(update={"blocks": loaded}))
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("disturbed while timed in 2 of 2 blocks (load); ")
    assert "times as fast" in found.reason
    assert verdict_of(quality_of("v"), timing).verdict == "no-gain"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "other load"),
        (["others kept 1.0 CPUs busy"], "others kept 1.0 CPUs busy"),
        (
            [
                "others kept 1.3 CPUs busy",
                "the hypervisor gave 7 % of the CPUs' time to others",
                "others kept 0.9 CPUs busy",
            ],
            "others kept 0.9 to 1.3 CPUs busy, the hypervisor gave 7 % of the CPUs' time to others",
        ),
        (["v ran at 2000 and at 2400 MHz", "v ran at 2100 and at 2500 MHz"], "v ran at 2000 and at 2400 MHz"),
    ],
)
def test_each_kind_of_disturbance_is_told_once(words: list[str], said: str) -> None:
    assert causes(words) == said


def test_it_is_told_when_it_was_measured() -> None:
    """From the end of the first run to that of the last timing; results of before that was kept say nothing."""
    plan, results = plan_of(Comparison(variant="v")), {"baseline": baseline_of(), "v": quality_of("v")}
    assert analyze(plan, results, {}).measured == []
    ended = {name: _ended(result, f"2026-11-2{day}") for day, (name, result) in enumerate(results.items(), 7)}
    timing = timing_of("v", ended_at="2026-11-29T10:00:00.000+00:00")
    assert [end[:10] for end in analyze(plan, ended, {"v": timing}).measured] == ["2026-11-27", "2026-11-29"]


def _ended(result: VariantResult, day: str) -> VariantResult:
    runs = [run.model_copy(update={"ended_at": f"{day}T0{i}:00:00.000+00:00"}) for i, run in enumerate(result.runs)]
    return result.model_copy(update={"runs": runs})


def test_what_disturbed_it_and_what_never_settled_is_told() -> None:
    timing = timing_of("v", FAST)
    words = ["the CPU quota held it back for 4 % of the time", "others kept 1.0 CPUs busy"]
    restless = [p.model_copy(update={"settled": False}) for p in timing.blocks[0].processes[:1]]
    first = timing.blocks[0].model_copy(
        update={"disturbed": True, "disturbed_by": words, "processes": restless + timing.blocks[0].processes[1:]}
    )
    timing = timing.model_copy(update={"blocks": [first, timing.blocks[1]]})
    plan = plan_of(Comparison(variant="v"))
    found = analyze(plan, {"baseline": baseline_of(), "v": quality_of("v")}, {"v": timing, "control": timing})
    (comparison,) = found.comparisons
    assert comparison.reason.startswith(f"disturbed while timed in 1 of 2 blocks ({', '.join(words)}); ")
    assert "the epochs of 1 of 8 timing processes never settled: time more of them" in comparison.notes
    assert (found.control.disturbed_blocks, found.control.unsettled_processes) == (1, 1)
    assert found.control.reason.endswith(f"; 1 of its 2 blocks disturbed ({', '.join(words)})")
    assert f"the machine was disturbed while timing the control, v: {', '.join(words)}" in found.warnings
    assert "epochs never settled in some timing processes of the control, v: raise timing.epochs" in found.warnings


def test_a_control_timed_under_other_conditions_says_so() -> None:
    timings = {"v": timing_of("v"), "control": timing_of("control", SAME, threads=1)}
    found = analyze(plan_of(Comparison(variant="v")), {"baseline": baseline_of(), "v": quality_of("v")}, timings)
    assert found.comparisons[0].verdict != "accept"
    assert "the control says nothing of v: they were timed under other conditions" in found.warnings


def test_an_order_effect_is_told_by_name_and_over_all_timings() -> None:
    """In v the first half of each block gives 1.1 times the second; in the control both alike, but for the noise."""
    timings = {
        "v": timing_of("v", [1.54, 1.4, 1.55, 1.409] * 2),
        "control": timing_of("control", [1.0, 1.01, 1.01, 1.0] * 2),
    }
    found = analyze(plan_of(Comparison(variant="v")), {"baseline": baseline_of(), "v": quality_of("v")}, timings)
    order = found.comparisons[0].order
    assert order is not None
    assert (order.ratio, order.blocks, order.matters) == (pytest.approx(1.1, abs=1e-3), 4, True)
    assert found.control.order is not None
    assert not found.control.order.matters
    assert [w for w in found.warnings if "order of a block" in w] == [
        "the order of a block's processes matters in timing v, and cancels only if steady: a block's first half gives "
        "1.10 [1.10, 1.10] times the ratio of its second, and its last reference takes 1.00 [1.00, 1.00] times as long "
        "as its first, at 99 % over 4 blocks"
    ]


def test_load_beside_blocks_after_the_decision_is_ignored() -> None:
    found = verdict_of(quality_of("v"), _disturbed(timing_of("v", FAST + FAST, memory=SAME + SAME), 2))
    assert (found.verdict, found.speed.blocks, found.speed.disturbed_blocks) == ("accept", 2, 0)


def test_load_leaves_memory_alone() -> None:
    timing = _disturbed(timing_of("v", FAST, memory=[1.40, 1.42, 1.41, 1.43]), 0)
    assert verdict_of(quality_of("v"), timing, comparison=Comparison(variant="v", goal="memory")).verdict == "accept"


def test_skipped_with_its_reason() -> None:
    found = analyze(plan_of(skipped=[skipped("gat-spmm", "gat gains nothing from spmm")]), {}, {})
    (comparison,) = found.comparisons
    assert (comparison.verdict, comparison.reason) == ("skipped", "gat gains nothing from spmm")


def test_identical_predictions() -> None:
    same = quality_of("v", [0.0] * 5)
    same = same.model_copy(update={"runs": [r.model_copy(update={"predictions_sha256": "h"}) for r in same.runs]})
    same = same.model_copy(
        update={"reference_runs": [r.model_copy(update={"predictions_sha256": "h"}) for r in same.reference_runs]}
    )
    found = verdict_of(same, timing_of("v"))
    assert found.verdict == "accept"
    assert found.reason.startswith("predictions are identical on all 5 seeds; ")
    # On 20 test nodes chance does that, unless the variant is exact and was found so.
    tiny = same.model_copy(update={"test_nodes": 20})
    found = verdict_of(tiny, timing_of("v"), baseline=baseline_of(test_nodes=20))
    assert found.verdict == "inconclusive"
    assert "is undecided after 5 seeds" in found.reason
    assert "predictions are identical on all 5 seeds, which chance alone may do on so few test nodes" in found.reason
    exact = tiny.model_copy(update={"parity": PARITY})
    comparison = Comparison(variant="v", exact=True)
    found = verdict_of(exact, timing_of("v"), comparison=comparison, baseline=baseline_of(test_nodes=20))
    assert found.verdict == "accept"
    assert found.reason.startswith("predictions are identical on all 5 seeds; ")


# Failures


@pytest.mark.parametrize("status", ["oom", "timeout", "diverged", "error", "unsupported", "killed"])
def test_a_variant_that_fails_where_the_baseline_ran_is_dnf(status: str) -> None:
    found = verdict_of(quality_of("v", metrics=[0.7, 0.7, status, 0.7, 0.7]), timing_of("v"))
    assert found.verdict == "dnf"
    assert found.reason == f"seed 2 ended as {status}: {status} in epoch 3, though the reference ran"
    assert [(f.arm, f.seed, f.status) for f in found.failed] == [("variant", 2, status)]
    assert found.accuracy is not None
    assert found.accuracy.collapse_rate_below is None


def test_a_baseline_that_cannot_run_is_enabled_by_the_variant() -> None:
    found = verdict_of(quality_of("v", reference=["oom", "oom"]), timing_of("v", [], status="skipped", reason="oom"))
    assert found.verdict == "enables"
    assert found.reason == "the reference failed on 2 seeds (oom: oom in epoch 3) and the variant ran, reaching 70.0 %"


def test_a_baseline_that_failed_on_another_machine_enables_nothing() -> None:
    small, big = ({"device_name": name} for name in ("NVIDIA T4", "NVIDIA H200"))
    failed = [run.model_copy(update={"environment": small}) for run in runs_of(["oom", "oom"], "baseline")]
    quality = quality_of("v", environment=ENVIRONMENT | big, reference_runs=failed)
    found = verdict_of(quality, timing_of("v", status="skipped"))
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("not comparable: GPU of seed 0 of `baseline` is NVIDIA T4, of the first run of `v` ")
    assert found.reason.endswith("the reference failed on 2 seeds (oom: oom in epoch 3) and the variant ran")


def test_a_variant_that_failed_on_another_machine_says_so() -> None:
    quality = quality_of("v", metrics=["oom"] * 2, environment=ENVIRONMENT | {"device_name": "NVIDIA T4"})
    baseline = baseline_of(environment=ENVIRONMENT | {"device_name": "NVIDIA H200"})
    found = verdict_of(quality, None, baseline=baseline)
    assert found.verdict == "dnf"
    assert "the reference ran; not comparable: GPU of `v` is NVIDIA T4, of `baseline` NVIDIA H200" in found.reason


def test_both_failing_is_dnf() -> None:
    found = verdict_of(quality_of("v", metrics=["oom", "oom"], reference=["oom", "oom"]), None)
    assert found.verdict == "dnf"
    assert "the reference failed on 2 seeds too" in found.reason


def test_a_variant_that_diverges_where_the_reference_failed_is_dnf() -> None:
    quality = quality_of("v", metrics=[0.7, "diverged", 0.7, 0.7, 0.7, 0.7], reference=[0.7, "oom", 0.7, 0.7, 0.7, 0.7])
    assert verdict_of(quality, timing_of("v")).verdict == "dnf"


def test_seeds_that_the_reference_failed_form_no_pair() -> None:
    found = verdict_of(quality_of("v", reference=[0.7, "killed", 0.7, 0.7, 0.7]), timing_of("v"))
    assert (found.verdict, found.n_pairs) == ("inconclusive", 4)
    assert found.reason.startswith(
        "4 complete pairs of the 5 that the first look needs (the reference failed on 1 of 5"
    )


def test_a_variant_that_has_not_been_run_has_not_failed() -> None:
    """A grid that stopped half-way says nothing against what it did not come to."""
    found = verdict_of(None, None)
    assert (found.verdict, found.reason) == ("inconclusive", "not run yet: there are no results of it")
    assert verdict_of(None, timing_of("v")).verdict == "inconclusive"


def test_without_a_single_run_there_is_nothing_to_pair() -> None:
    empty = quality_of("v", metrics=[], reference=[])
    assert verdict_of(empty, timing_of("v")).verdict == "dnf"


def test_a_reference_that_fails_while_timed_leaves_the_gain_unknown() -> None:
    """The variant is not at fault, and with a reference that trains it does not enable anything either."""
    failed = TimedProcess(arm="reference", run_id="t", status="oom", message="3 GB asked")
    block = Block(index=0, processes=[failed], other_load=0.0)
    timing = timing_of("v", [], status="skipped", reason="the reference failed: oom: 3 GB asked", blocks=[block])
    found = verdict_of(quality_of("v"), timing)
    assert found.verdict == "inconclusive"
    assert "speed unknown: the reference failed while it was timed: oom: 3 GB asked" in found.reason
    assert [(f.arm, f.purpose) for f in found.failed] == [("reference", "timing")]
    enabled = quality_of("v", reference=["oom"] * 5)
    assert verdict_of(enabled, timing, baseline=baseline_of(runs=enabled.reference_runs)).verdict == "enables"


def test_counters_are_those_of_the_timing_else_of_a_quality_run() -> None:
    quality = quality_of("v", metrics=["oom", 0.7, 0.7], counters={"steps": 9})
    found = verdict_of(quality, None)
    assert (found.counters, found.counters_run) == ({"steps": 9}, "v-1")
    timing = timing_of("v", counters={"steps": 4})
    found = verdict_of(quality, timing)
    assert found.counters == {"steps": 4}
    assert found.counters_run == [p.run_id for p in timing.blocks[-1].processes if p.arm == "variant"][-1]


def test_counters_of_a_file_without_runs_are_of_no_run() -> None:
    found = verdict_of(quality_of("v", runs=[], counters={"steps": 1}), None)
    assert (found.verdict, found.counters) == ("dnf", {})


def test_a_reason_has_the_whole_of_a_long_message() -> None:
    """The remedy is at its end."""
    message = "the largest feature does not fit, " * 8 + "scale the features"
    quality = quality_of("v", metrics=[0.7, "unsupported", 0.7])
    runs = [run.model_copy(update={"message": message}) if run.status != "ok" else run for run in quality.runs]
    found = verdict_of(quality.model_copy(update={"runs": runs}), None)
    assert found.reason == f"seed 1 ended as unsupported: {message}, though the reference ran"
    assert [run.message for run in found.failed] == [message]


def test_a_failure_beyond_the_decision_is_ignored() -> None:
    metrics = [0.70 + d / 100 for d in PASSING]
    assert verdict_of(quality_of("v", metrics=[*metrics, "oom"]), timing_of("v")).verdict == "accept"


def test_a_variant_that_fails_while_timed_is_dnf() -> None:
    found = verdict_of(quality_of("v"), timing_of("v", [], status="dnf", reason="oom: 3 GB asked"))
    assert (found.verdict, found.reason) == ("dnf", "failed while it was timed: oom: 3 GB asked")


def test_equal_classes_with_a_worse_ranking_are_rejected() -> None:
    """ROC-AUC reads scores: it may fall by 10 pp while every predicted class stays."""
    quality = quality_of("v", [-10.0, -10.2, -9.9, -10.1, -10.0])
    equal = [r.model_copy(update={"predictions_sha256": f"same-{r.seed}"}) for r in quality.runs]
    reference = [r.model_copy(update={"predictions_sha256": f"same-{r.seed}"}) for r in quality.reference_runs]
    found = verdict_of(
        quality.model_copy(update={"runs": equal, "reference_runs": reference}),
        timing_of("v"),
        gate=Gate(metric="roc_auc"),
    )
    assert found.verdict == "reject"
    assert found.accuracy is not None
    assert not found.accuracy.identical
    assert found.reason.startswith("ROC-AUC −10.04 pp")


@pytest.mark.parametrize(
    "timing", [None, timing_of("v", []), timing_of("v", FAST[:2]), timing_of("v", [], status="skipped", reason="r")]
)
def test_without_enough_timing_nothing_is_accepted(timing: TimingResult | None) -> None:
    found = verdict_of(quality_of("v"), timing)
    assert (found.verdict, found.speed.ratio) == ("inconclusive", None)
    assert "speed unknown" in found.reason
    assert verdict_of(quality_of("v", FAILING), timing).verdict == "reject"


def test_one_pair_decides_nothing() -> None:
    found = verdict_of(quality_of("v", [0.0]), timing_of("v"))
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("1 complete pair of the 5 that the first look needs")


def test_a_metric_that_does_not_exist_says_so() -> None:
    undefined = quality_of("v", metrics=[None] * 5, reference=[None] * 5)
    found = verdict_of(undefined, timing_of("v"), gate=Gate(metric="roc_auc"))
    assert found.verdict == "inconclusive"
    assert "roc_auc is undefined on 5 seeds: a class is missing from the test split" in found.reason


# The control


@pytest.mark.parametrize("control", [[1.10, 1.11, 1.09, 1.10], [0.60, 1.60, 0.70, 1.50], [1.0, 1.0]])
def test_a_noisy_or_missing_control_accepts_nothing(control: list[float]) -> None:
    found = verdicts_of(quality_of("v"), timing_of("v"), control=timing_of("control", control))
    (comparison,) = found.comparisons
    assert comparison.verdict == "inconclusive"
    assert found.control.state == ("missing" if len(control) == 2 else "noisy")
    assert found.control.reason in found.warnings
    assert found.recommended == []


def test_a_control_that_was_never_timed() -> None:
    found = analyze(
        plan_of(Comparison(variant="v")), {"v": quality_of("v"), "baseline": baseline_of()}, {"v": timing_of("v")}
    )
    assert found.control.state == "missing"
    assert found.comparisons[0].verdict == "inconclusive"


def test_a_wide_control_still_shows_large_gains() -> None:
    control = timing_of("control", [0.97, 1.03, 0.98, 1.02])
    small, large = [1.09, 1.10, 1.09, 1.10], [3.0, 3.1, 3.0, 3.1]
    assert verdict_of(quality_of("v"), timing_of("v", small), control=control).verdict == "inconclusive"
    assert verdict_of(quality_of("v"), timing_of("v", large), control=control).verdict == "accept"


def test_a_noisy_control_rejects_all_the_same() -> None:
    noisy = timing_of("control", [1.10, 1.11, 1.09, 1.10])
    assert verdict_of(quality_of("v", FAILING), timing_of("v"), control=noisy).verdict == "reject"


# Memory as the goal


def test_memory_goal() -> None:
    goal = Comparison(variant="v", goal="memory")
    saved = timing_of("v", SLOW, memory=[1.50, 1.52, 1.51, 1.50])
    found = verdict_of(quality_of("v"), saved, comparison=goal)
    assert (found.verdict, found.memory.state) == ("accept", "gain")
    assert "peak memory 1.51 times smaller" in found.reason
    assert "it trains 0.84 times as fast" in found.notes
    assert verdict_of(quality_of("v"), timing_of("v", FAST, memory=SAME), comparison=goal).verdict == "no-gain"
    larger = timing_of("v", FAST, memory=[0.5, 0.51, 0.5, 0.51])
    assert verdict_of(quality_of("v"), larger, comparison=goal).verdict == "no-gain"


def test_a_saving_of_a_variant_that_was_to_be_faster_is_told_with_the_goal_that_would_judge_it() -> None:
    note = "saves memory 3.04 times; with goal: memory it would be judged by that"
    saved, fast = timing_of("v", SAME, memory=[3.04] * 4), timing_of("v", FAST, memory=[3.04] * 4)
    slower = verdict_of(quality_of("v"), saved)
    assert (slower.verdict, note in slower.notes) == ("no-gain", True)
    assert note not in verdict_of(quality_of("v"), fast).notes
    assert note not in verdict_of(quality_of("v", FAILING), saved).notes
    assert note not in verdict_of(quality_of("v"), saved, comparison=Comparison(variant="v", goal="memory")).notes
    assert note not in verdict_of(quality_of("v"), timing_of("v", SAME, memory=SAME)).notes


def test_memory_gain_within_the_controls_spread_is_not_accepted() -> None:
    goal = Comparison(variant="v", goal="memory")
    control = timing_of("control", SAME, memory=[0.90, 1.10, 0.95, 1.08])
    found = verdict_of(
        quality_of("v"), timing_of("v", memory=[1.15, 1.16, 1.15, 1.16]), comparison=goal, control=control
    )
    assert found.verdict == "inconclusive"


def test_a_control_without_memory_accepts_no_saving() -> None:
    goal = Comparison(variant="v", goal="memory")
    found = verdict_of(
        quality_of("v"),
        timing_of("v", memory=[1.50, 1.52, 1.51, 1.50]),
        comparison=goal,
        control=timing_of("control", SAME, memory=[]),
    )
    assert found.verdict == "inconclusive"
    assert "the control's peak memory is missing" in found.reason


def test_exact_bytes_need_two_ratios_only() -> None:
    goal = Comparison(variant="v", goal="memory")
    found = verdict_of(
        quality_of("v"),
        timing_of("v", FAST[:2], memory=[1.5, 1.5], memory_exact=True),
        comparison=goal,
        control=timing_of("control", SAME, memory=[1.0, 1.0], memory_exact=True),
    )
    assert found.verdict == "accept"
    assert found.memory.ci == (pytest.approx(1.5), pytest.approx(1.5))


# Exact variants


def test_exact_variants_need_parity() -> None:
    exact = Comparison(variant="v", exact=True)
    assert verdict_of(quality_of("v", parity=PARITY), timing_of("v"), comparison=exact).verdict == "accept"
    broken = verdict_of(quality_of("v", parity=BROKEN_PARITY), timing_of("v"), comparison=exact)
    assert broken.verdict == "reject"
    assert broken.reason.startswith("declared exact but differs: logits by 5.0e-02 of the largest")
    unchecked = verdict_of(quality_of("v"), timing_of("v"), comparison=exact)
    assert (unchecked.verdict, "parity was not checked" in unchecked.reason) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("state", "note", "verdict"),
    [
        ("differs", "the first training batches differ", "reject"),
        ("not-checked", "the check did not end (timeout)", "inconclusive"),
    ],
)
def test_a_parity_check_without_numbers_says_what_it_found(state: Any, note: str, verdict: str) -> None:
    """A contradiction rejects also where batches differ and no logits could be compared."""
    parity = Parity(state=state, max_abs_logit=0.0, max_abs_difference=0.0, gradient_cosine=0.0, note=note)
    found = verdict_of(quality_of("v", parity=parity), timing_of("v"), comparison=Comparison(variant="v", exact=True))
    assert found.verdict == verdict
    assert note in found.reason


# What may be compared


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"threads": 4}, "threads of `v` is 4, of `baseline` 1"),
        ({"device": "cuda:0"}, "device of `v` is cuda, of `baseline` cpu"),
        (
            {"fingerprint": "other"},
            "`v` and `baseline` are of different data: the data fingerprints differ, other against f",
        ),
        ({"test_nodes": 99}, "test nodes of `v` is 99, of `baseline` 10000"),
        ({"environment": {"torch": "2.6.0"}}, "torch of `v` is 2.6.0, of `baseline` 2.13.0"),
    ],
)
def test_results_of_unlike_runs_are_not_compared(change: dict[str, Any], word: str) -> None:
    found = verdict_of(quality_of("v", **change), timing_of("v"))
    assert found.verdict == "inconclusive"
    again = "run `harness retry test --variant v,baseline`, and they are made again"
    assert found.reason == f"not comparable: {word}; {again}"
    assert verdict_of(quality_of("v", FAILING, **change), timing_of("v")).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"threads": 1}, "threads"),
        ({"device": "cuda"}, "device"),
        ({"environment": {"torch": "2.13.0", "cpu": "another"}}, "processor"),
    ],
)
def test_timings_of_unlike_machines_are_not_compared(change: dict[str, Any], word: str) -> None:
    found = verdict_of(quality_of("v"), timing_of("v", **change))
    assert found.verdict == "inconclusive"
    assert f"not comparable: {word}" in found.reason


def test_which_of_several_equal_gpus_makes_no_difference() -> None:
    found = analyze(
        plan_of(Comparison(variant="v")),
        {"v": quality_of("v", device="cuda:0"), "baseline": baseline_of(device="cuda:1")},
        {"v": timing_of("v", device="cuda:1"), "control": timing_of("control", SAME, device="cuda:0")},
    )
    assert found.comparisons[0].verdict == "accept"


# All together


def test_nothing_accepted_recommends_nothing() -> None:
    found = verdicts_of(quality_of("v", FAILING), timing_of("v"))
    assert (found.recommended, found.recommended_patch) == ([], {})
    assert found.recommended_note == "no variant was accepted"


def test_a_plan_without_results_still_gives_a_row_each() -> None:
    plan = plan_of(*(Comparison(variant=f"v{i}") for i in range(3)))
    found = analyze(plan, {}, {})
    assert [c.verdict for c in found.comparisons] == ["inconclusive"] * 3
    assert (found.control.state, found.references, found.test_set) == ("missing", [], None)


def test_of_two_values_for_one_option_the_larger_gain_is_recommended() -> None:
    patches: dict[str, dict[str, Any]] = {
        "a": {"sampling.fanout": [10, 5]},
        "b": {"sampling.fanout": [5, 5]},
        "c": {"precision": "fp16"},
    }
    plan = plan_of(*(Comparison(variant=name) for name in "abc"), patches=patches)
    found = analyze(
        plan,
        {"baseline": baseline_of()} | {name: quality_of(name) for name in "abc"},
        {
            "control": timing_of("control", SAME),
            "a": timing_of("a", FAST),
            "b": timing_of("b", [2.0, 2.1, 2.0, 2.1]),
            "c": timing_of("c", FAST),
        },
    )
    assert found.recommended == ["b", "c"]
    assert found.recommended_patch == {"sampling.fanout": [5, 5], "precision": "fp16"}
    assert "a gives way to b" in found.recommended_note
    assert "not confirmed" in found.recommended_note


@pytest.mark.parametrize(
    ("slower", "left_out"),
    [
        ({"sampling.fanout": [10, 5]}, "sampling.fanout has no effect with batching: cluster"),
        ({"training.batch_size": 512}, "training.batch_size has no effect with batching: cluster"),
        ({"features.cache_ratio": 0.3}, None),
        ({"model.conv": "gat"}, "gat has attention weights per edge"),
        ({"precision": "fp16"}, "precision fp16 with aggregation spmm was not run"),
        ({"precision": "fp16-linear"}, None),
        ({"partition.per_batch": 12}, "per_batch is 12 and parts 8"),
    ],
    ids=str,
)
def test_what_is_recommended_can_run_together(slower: dict[str, Any], left_out: str | None) -> None:
    faster = {"batching": "cluster", "aggregation": "spmm", "partition.parts": 8, "partition.per_batch": 2}
    faster = {path: value for path, value in faster.items() if path not in slower}
    plan = plan_of(Comparison(variant="a"), Comparison(variant="b"), patches={"a": slower, "b": faster})
    found = analyze(
        plan,
        {"baseline": baseline_of(), "a": quality_of("a"), "b": quality_of("b")},
        {"control": timing_of("control", SAME), "a": timing_of("a", FAST), "b": timing_of("b", [2.0] * 4)},
    )
    if left_out is None:
        assert found.recommended == ["a", "b"]
        return
    assert found.recommended == ["b"]
    assert found.recommended_patch == faster
    assert f"a is left out beside b: {left_out}" in found.recommended_note


def test_leave_one_out_recommends_nothing_on_the_baseline() -> None:
    found = verdicts_of(
        quality_of("v", reference=[0.7] * 5),
        timing_of("v"),
        comparison=Comparison(variant="v", reference="all"),
        design="leave-one-out",
    )
    assert found.comparisons[0].verdict == "accept"
    assert found.recommended == []


@given(st.permutations(["a", "b", "c", "d"]))
@settings(max_examples=10)
def test_the_order_of_variants_does_not_matter(order: list[str]) -> None:
    d = {"a": PASSING, "b": UNDECIDED, "c": FAILING, "d": [0.0] * 5}
    variants = {"baseline": baseline_of()} | {name: quality_of(name, d[name]) for name in order}
    timings = {"control": timing_of("control", SAME)} | {name: timing_of(name) for name in order}
    found = analyze(plan_of(*(Comparison(variant=name) for name in order)), variants, timings)
    by_name = {c.variant: c.verdict for c in found.comparisons}
    assert by_name == {"a": "accept", "b": "inconclusive", "c": "reject", "d": "accept"}
    assert sorted(found.recommended) == ["a", "d"]


def test_verdicts_survive_their_json() -> None:
    found = verdicts_of(quality_of("v", parity=PARITY), timing_of("v"))
    assert Verdicts.model_validate_json(found.model_dump_json()) == found


# What stands beside the verdicts


@pytest.mark.parametrize(
    ("best_epoch", "training", "warned"),
    [
        (12, Training(epochs=12), True),
        (11, Training(epochs=12), False),
        (12, Training(epochs=12, selection="last"), False),
        (10, Training(epochs=12, eval_every=5), True),
        (None, Training(epochs=12), False),
    ],
)
def test_training_that_still_climbs_is_warned_about(best_epoch: int | None, training: Training, warned: bool) -> None:
    found = verdicts_of(quality_of("v", best_epoch=best_epoch), timing_of("v"), training=training)
    assert any("still improving at its last epoch in v:" in w for w in found.warnings) == warned


def test_what_runs_say_of_their_memory_is_warned_about_once_a_variant() -> None:
    leak = "memory grows by 12.0 MB an epoch"
    quality = quality_of("v")
    runs = [run.model_copy(update={"memory_warnings": [leak]}) for run in quality.runs]
    found = verdicts_of(quality.model_copy(update={"runs": runs}), timing_of("v", memory_warnings=["of the timing"]))
    assert [w for w in found.warnings if leak in w] == [f"v: quality run, seed 0: {leak}"]
    assert found.comparisons[0].memory.warnings == [f"quality run, seed 0: {leak}"]
    timed = verdicts_of(quality, timing_of("v", memory_warnings=["of the timing"]))
    assert "v: timing: of the timing" in timed.warnings


def test_a_coarse_test_set_is_warned_about() -> None:
    found = verdicts_of(quality_of("v", test_nodes=1000), timing_of("v"), baseline=baseline_of(test_nodes=1000))
    assert found.test_set is not None
    assert found.test_set.max_drop_nodes == 5.0
    assert any("0.5 pp is 5 of 1,000 test nodes" in w and "0.45 to 1.00 pp" in w for w in found.warnings)


def test_a_coarse_test_set_is_warned_about_once() -> None:
    plan = plan_of(Comparison(variant="v"))
    plan = plan.model_copy(update={"warnings": ["another", *coarse(plan, 1000)]})
    results = {"v": quality_of("v", test_nodes=1000), "baseline": baseline_of(test_nodes=1000)}
    said = analyze(plan, results, {"v": timing_of("v")}).warnings
    assert "another" in said
    assert sum("of 1,000 test nodes" in w for w in said) == 1


def test_one_off_costs_and_the_epochs_that_earn_them_back() -> None:
    timing = timing_of(
        "v",
        [2.0] * 4,
        preprocess_s={"partition_s": 3.0, "cache_fill_s": 1.0},
        reference_stages=Stages(sample_s=0.1, fetch_s=0.5, compute_s=0.3, update_s=0.1),
    )
    found = verdict_of(quality_of("v"), timing, patches={"v": {"features.cache_ratio": 0.3}})
    assert found.costs.payoff_epochs == pytest.approx(8.0)
    assert found.costs.targets == ["fetch"]
    assert found.costs.ceiling == pytest.approx(2.0)
    slower = timing_of("v", [0.5] * 4, preprocess_s={"partition_s": 3.0})
    assert verdict_of(quality_of("v"), slower).costs.payoff_epochs is None


@pytest.mark.parametrize(
    ("epochs", "pays_off", "words"),
    [
        (12, "within", "pays off after 8 of 12 epochs"),
        (8, "within", "pays off after 8 of 8 epochs"),
        (7, "after", "never within this training: pays off after 8 epochs, and it has 7"),
    ],
)
def test_a_whole_training_counts_what_is_paid_once(epochs: int, pays_off: str, words: str) -> None:
    """4 s once and 0.5 s an epoch, against 1 s an epoch."""
    timing = timing_of("v", [2.0] * 4, preprocess_s={"partition_s": 3.0, "cache_fill_s": 1.0})
    costs = verdict_of(quality_of("v"), timing, training=Training(epochs=epochs)).costs
    assert costs.total is not None
    assert (costs.total.once_s, costs.total.reference_once_s, costs.total.pays_off) == (4.0, 0.0, pays_off)
    assert costs.total.seconds == pytest.approx(4.0 + 0.5 * epochs)
    assert costs.total.reference_seconds == pytest.approx(epochs)
    assert payoff_text(costs.total, costs.payoff_epochs) == words


def test_a_cost_is_never_earned_back_by_what_is_not_faster_and_nothing_is_by_what_costs_nothing() -> None:
    slower = verdict_of(quality_of("v"), timing_of("v", [0.5] * 4, preprocess_s={"partition_s": 3.0})).costs
    assert slower.total is not None
    assert (slower.total.pays_off, payoff_text(slower.total, slower.payoff_epochs)) == (
        "never",
        "never pays off: no speed-up is shown",
    )
    free = verdict_of(quality_of("v"), timing_of("v", [2.0] * 4)).costs
    assert free.total is not None
    assert (free.total.pays_off, payoff_text(free.total, free.payoff_epochs)) == ("free", "")


def test_one_off_costs_that_the_reference_has_too_are_not_earned_back() -> None:
    costs = {"preprocess_s": {"partition_s": 3.0, "cache_fill_s": 1.0}, "reference_preprocess_s": {"partition_s": 3.0}}
    found = verdict_of(quality_of("v"), timing_of("v", [2.0] * 4, **costs))
    assert found.costs.payoff_epochs == pytest.approx(2.0)
    assert found.costs.reference_preprocess_s == {"partition_s": 3.0}
    cheaper = timing_of("v", [2.0] * 4, preprocess_s={}, reference_preprocess_s={"partition_s": 3.0})
    assert verdict_of(quality_of("v"), cheaper).costs.payoff_epochs is None


def test_no_ceiling_where_an_option_changes_the_whole_step() -> None:
    stages = Stages(sample_s=0.1, fetch_s=0.5, compute_s=0.3, update_s=0.1)
    for patch in ({"batching": "cluster"}, {"features.cache_ratio": 0.3, "model.hidden": 8}):
        found = verdict_of(quality_of("v"), timing_of("v", reference_stages=stages), patches={"v": patch})
        assert found.costs.ceiling is None


@pytest.mark.parametrize(
    ("patch", "shares", "ceiling"),
    [
        ({"sampling.fanout": [5]}, (0.4, 0.3, 0.2, 0.1), None),  # some compute is always left
        ({"precision": "bf16"}, (0.4, 0.3, 0.2, 0.1), None),
        ({"features.cache_ratio": 0.3}, (0.1, 0.89, 0.0, 0.01), pytest.approx(9.09, abs=0.01)),
        ({"features.cache_ratio": 0.3}, (0.0, 0.95, 0.05, 0.0), None),  # 20 times bounds nothing
    ],
)
def test_no_ceiling_that_no_option_could_come_near(patch, shares, ceiling) -> None:
    stages = Stages(**dict(zip(("sample_s", "fetch_s", "compute_s", "update_s"), shares, strict=True)))
    found = verdict_of(quality_of("v"), timing_of("v", reference_stages=stages), patches={"v": patch})
    assert found.costs.ceiling == ceiling


@pytest.mark.parametrize(("estimated", "off"), [(900_000, False), (400_000, True), (2_100_000, True), (None, False)])
def test_memory_far_from_its_estimate_is_flagged(estimated: int | None, off: bool) -> None:
    found = verdict_of(quality_of("v"), timing_of("v", estimated_bytes=estimated))
    assert found.memory.estimate_off == off
    assert found.memory.variant_bytes == 1_000_000


def test_every_seed_is_shown_and_those_beyond_the_look_are_marked() -> None:
    found = verdict_of(quality_of("v", [*PASSING, 5.0, 5.0]), timing_of("v"))
    assert found.accuracy is not None
    assert [s.counted for s in found.accuracy.seeds] == [True] * 5 + [False] * 2
    assert [s.delta_pp for s in found.accuracy.seeds[:5]] == PASSING
    assert found.accuracy.delta_pp == pytest.approx(-0.04)
