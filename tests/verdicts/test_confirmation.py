"""The stack judged on its own runs, its parts and floors described, and what choosing by lucky runs would cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from harness.records.results import TimingResult
from harness.reports.answer import answer
from harness.spec.schema import Gate, Timing
from harness.verdicts import judge
from harness.verdicts.analyze import analyze
from harness.verdicts.confirmation import confirmation_of, t_interval
from harness.verdicts.control import summarise_control
from harness.verdicts.recommend import Recommendation
from harness.verdicts.sequential import alpha_per_look
from tests.verdicts.confirmed_results import SLOWER_WITHOUT, against_stack, confirmed, grid, verdicts_of
from tests.verdicts.results import FAILING, FAST, PASSING, SAME, baseline_of, quality_of, runs_of, timing_of

SEEDS = range(20, 25)


def test_a_stack_that_passes_is_confirmed() -> None:
    verdicts = verdicts_of(confirmed())
    found = verdicts.confirmation
    assert found is not None
    assert found.accepted
    assert found.comparison is not None
    assert found.comparison.speed.ratio == pytest.approx(1.815, abs=1e-3)
    assert found.note.startswith("confirmed on fresh seeds: accuracy −0.04 pp [−0.31, +0.23] passes; 1.81 times")
    assert verdicts.recommended_note == found.note
    assert answer(verdicts) == (
        "Turn on a and b: 1.81 times as fast [1.78, 1.85], accuracy −0.04 pp [−0.31, +0.23], peak memory 0.0 % "
        "[−1.9, +2.0], confirmed on fresh seeds; 2 of 2 variants pass alone."
    )


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"variants": {"recommended": quality_of("recommended", FAILING)}}, "reject"),
        ({"timings": {"recommended": timing_of("recommended", [0.9, 1.3, 1.0, 1.2])}}, "inconclusive"),
        ({"timings": {"recommended": timing_of("recommended", SAME)}}, "no-gain"),
        ({"variants": {"recommended": quality_of("recommended", metrics=[0.7, "oom", 0.7, 0.7, 0.7])}}, "dnf"),
    ],
)
def test_a_stack_is_judged_as_any_variant_is(changes: dict[str, Any], verdict: str) -> None:
    verdicts = verdicts_of(confirmed(**changes))
    found = verdicts.confirmation
    assert found is not None
    assert found.comparison is not None
    assert found.comparison.verdict == verdict
    assert found.note.startswith(f"not confirmed, {verdict} on fresh seeds: ")
    assert f"but together they end as {verdict} on fresh seeds" in answer(verdicts)


def test_a_run_of_the_stack_that_fails_is_a_row() -> None:
    failing = quality_of("recommended", metrics=[0.7, "oom", 0.7, 0.7, 0.7])
    found = verdicts_of(confirmed(variants={"recommended": failing})).confirmation
    assert found is not None
    assert found.comparison is not None
    assert [(run.arm, run.seed, run.status) for run in found.comparison.failed] == [("variant", 1, "oom")]


def test_parts_earn_their_place_or_not() -> None:
    found = verdicts_of(confirmed()).confirmation
    assert found is not None
    a, b = found.parts
    assert (a.state, b.state) == ("earns its place", "not shown")
    assert a.words == (
        "leaving out a makes it 1.12 times slower [1.10, 1.14]: earns its place; "
        "accuracy without it +0.10 pp [+0.01, +0.19]"
    )
    assert "not shown to earn its place" in b.words
    assert (a.n_pairs, a.delta_pp) == (5, pytest.approx(0.1))


def test_a_bound_that_decides_never_prints_as_1() -> None:
    """Log ratios .0551 about log 1.17 either way: an interval of half width .1526, whose lower end is exp(.0041)."""
    barely = timing_of("without-a", [0.9034, 0.8091, 0.9034, 0.8091], reference="recommended")
    found = verdicts_of(confirmed(timings={"without-a": barely})).confirmation
    assert found is not None
    assert found.parts[0].state == "earns its place"
    assert found.parts[0].words.startswith("leaving out a makes it 1.170 times slower [1.004, 1.363]: earns its place")


def test_a_part_that_slows_the_stack_is_to_be_dropped() -> None:
    faster = timing_of("without-b", [1.10, 1.12, 1.11, 1.10], reference="recommended")
    found = verdicts_of(confirmed(timings={"without-b": faster})).confirmation
    assert found is not None
    assert found.parts[1].state == "drop"
    assert found.parts[1].words.startswith("leaving out b makes it 1.11 times faster [1.08, 1.13]: drop it")


def test_a_part_for_memory_is_looked_at_by_its_memory() -> None:
    smaller = timing_of("without-a", SAME, memory=[0.70, 0.71, 0.70, 0.71], reference="recommended")
    found = verdicts_of(confirmed(goal="memory", timings={"without-a": smaller})).confirmation
    assert found is not None
    assert found.parts[0].state == "earns its place"
    assert found.parts[0].words.startswith("leaving out a makes its peak memory 1.42 times larger [1.39, 1.45]")


def test_what_was_not_timed_is_unknown() -> None:
    result = confirmed(reasons={"without-a": "the stack itself has not been trained"})
    del result.timings["without-a"], result.timings["up-to-a"], result.variants["without-a"]
    found = verdicts_of(result).confirmation
    assert found is not None
    assert found.parts[0].state == "unknown"
    assert "there is no timing; the stack itself has not been trained" in found.parts[0].words
    assert [h.missing for h in found.heights] == ["there is no timing", ""]


WITHOUT_A = timing_of("without-a", SLOWER_WITHOUT, reference="recommended")
ELSEWHERE = {"torch": "2.13.0", "cpu": "another"}


@pytest.mark.parametrize(
    ("timing", "state", "words"),
    [
        (WITHOUT_A.model_copy(update={"environment": ELSEWHERE}), "unknown", "processor of `without-a` is another"),
        (WITHOUT_A.model_copy(update={"fingerprint": "other"}), "unknown", "are of different data"),
        (WITHOUT_A.model_copy(update={"status": "skipped", "reason": "out of memory"}), "unknown", "out of memory"),
        (
            WITHOUT_A.model_copy(
                update={"blocks": [b.model_copy(update={"disturbed": True}) for b in WITHOUT_A.blocks]}
            ),
            "not shown",
            "not shown to earn its place; disturbed while timed in 2 of 2 blocks",
        ),
    ],
    ids=["another processor", "other data", "broken off", "beside other load"],
)
def test_a_part_does_not_earn_its_place_by_what_a_verdict_would_not_rest_on(
    timing: TimingResult, state: str, words: str
) -> None:
    found = verdicts_of(confirmed(timings={"without-a": timing})).confirmation
    assert found is not None
    assert found.parts[0].state == state
    assert words in found.parts[0].words


@pytest.mark.parametrize("factor", [1.0, 1.12 * 1.12], ids=["earn its place", "cost anything"])
def test_a_control_off_1_shows_neither_that_a_part_earns_nor_that_it_costs(factor: float) -> None:
    timings = {"without-a": timing_of("without-a", [r * factor for r in SLOWER_WITHOUT], reference="recommended")}
    variants = {"baseline": baseline_of(), "a": quality_of("a"), "b": quality_of("b")}
    control = summarise_control(timing_of("control", [1.10, 1.11, 1.10, 1.11]), Gate(), Timing())
    result = confirmed(timings=timings)
    recommended = Recommendation(("a", "b"), result.confirmation.patch, "")
    judged = {
        c.variant: c for c in analyze(result.confirmation.plan, variants | result.variants, result.timings).comparisons
    }
    found = confirmation_of(grid(), recommended, result, None, control, lambda c, *_: judged[c.variant])
    assert found is not None
    assert found.parts[0].state == "not shown"
    assert "the machine is too noisy: the baseline's time against itself is off 1.00" in found.parts[0].words


def test_seeds_that_fail_without_a_part_are_told() -> None:
    failing = against_stack("without-a", [0.1] * 5)
    runs = runs_of([0.70, "oom", "oom", 0.71, 0.70], "without-a")
    found = verdicts_of(confirmed(variants={"without-a": failing.model_copy(update={"runs": runs})})).confirmation
    assert found is not None
    assert "it failed on 2 of 5 seeds without it" in found.parts[0].words


def test_a_height_of_another_machine_is_not_shown() -> None:
    elsewhere = timing_of("up-to-a", FAST, environment=ELSEWHERE)
    found = verdicts_of(confirmed(timings={"up-to-a": elsewhere})).confirmation
    assert found is not None
    assert found.heights[0].speed.ratio is None
    assert found.heights[0].missing.startswith("not comparable: processor of `up-to-a` is another")


def test_heights_follow_the_spec_and_end_at_the_stack() -> None:
    found = verdicts_of(confirmed()).confirmation
    assert found is not None
    assert [h.adds for h in found.heights] == ["a", "b"]
    assert found.heights[0].speed.ratio == pytest.approx(1.415, abs=1e-3)
    assert found.comparison is not None
    assert found.heights[1].speed == found.comparison.speed
    assert all(h.speed.variant_epoch_s and h.memory.variant_bytes for h in found.heights)


def test_a_confirmation_of_another_recommendation_counts_for_nothing() -> None:
    verdicts = verdicts_of(confirmed(), second=SAME)  # b gains nothing now
    assert verdicts.recommended == ["a"]
    assert verdicts.confirmation is not None
    assert (verdicts.confirmation.comparison, verdicts.confirmation.parts) == (None, [])
    assert verdicts.confirmation.note.startswith("not confirmed yet")
    assert answer(verdicts).startswith("Not confirmed: 1 of 2 variants passes alone (a (1.41 times as fast)), and it")


def test_nothing_accepted_is_said() -> None:
    variants = {"baseline": baseline_of(), "a": quality_of("a"), "b": quality_of("b")}
    timings = {"control": timing_of("control", SAME), "a": timing_of("a", SAME), "b": timing_of("b", SAME)}
    found = analyze(grid(), variants, timings).confirmation
    assert found is not None
    assert (found.names, found.note) == ([], "no variant was accepted: there is nothing to confirm")


def test_without_the_wish_there_is_no_confirmation() -> None:
    plan = grid().model_copy(update={"confirm": "none"})
    verdicts = verdicts_of(confirmed(), plan=plan)
    assert verdicts.confirmation is None
    assert "not confirmed" in verdicts.recommended_note


def test_seeds_that_the_stack_ran_are_told() -> None:
    runs = [run.model_copy(update={"seed": seed}) for seed, run in zip(SEEDS, runs_of([0.7] * 5, "r"), strict=True)]
    stack = quality_of("recommended", PASSING).model_copy(update={"runs": runs, "reference_runs": runs})
    found = verdicts_of(confirmed(variants={"recommended": stack})).confirmation
    assert found is not None
    assert found.seeds == [20, 21, 22, 23, 24]


def test_t_interval_by_hand() -> None:
    mean, interval = t_interval([0.0, 1.0, 2.0])  # sd 1, t(.975, 2) = 4.3027
    assert mean == 1.0
    assert interval == pytest.approx((1 - 4.302653 / math.sqrt(3), 1 + 4.302653 / math.sqrt(3)))
    assert t_interval([]) == (None, None)
    assert t_interval([0.3]) == (0.3, None)


# What it is for


GRIDS, LOOKS, SD, VARIANTS = 8_000, (5, 10, 20), 0.5, 10
TRUTH = -0.5  # pp: exactly the drop that may not pass


def passes(d_pp: np.ndarray) -> np.ndarray:
    """Whether `judge` passes differences of shape [..., 20], replaying the looks; all rows at once."""
    alpha = alpha_per_look(LOOKS, 0.05)
    state = np.zeros(d_pp.shape[:-1], dtype=int)
    for n in LOOKS:
        mean, sd = d_pp[..., :n].mean(-1), d_pp[..., :n].std(-1, ddof=1)
        half = special.stdtrit(n - 1, 1 - alpha) * sd / np.sqrt(n)
        now = np.where(mean - half > -0.5, 1, np.where(mean + half < -0.5, -1, 0))
        state = np.where(state == 0, now, state)
    return state == 1


def arms(rng: np.random.Generator, *shape: int, truth: float = 0.0) -> np.ndarray:
    """Accuracies in pp over seeds; a difference of two arms has a standard deviation of SD."""
    return truth + rng.normal(0.0, SD / np.sqrt(2), (*shape, LOOKS[-1]))


def test_the_simulation_judges_as_judge_does() -> None:
    d = np.random.default_rng(2).normal(TRUTH + 0.2, SD, (40, LOOKS[-1]))
    judged = judge([0.7] * LOOKS[-1], {str(i): (0.7 + row / 100).tolist() for i, row in enumerate(d)}, looks=LOOKS)
    assert [j.state == "pass" for j in judged.values()] == passes(d).tolist()


def test_a_stack_chosen_from_ten_noisy_variants_passes_fresh_seeds_as_rarely_as_any() -> None:
    """Each variant truly drops by 0.5 pp. Grids with a lucky baseline recommend; their stack must not profit from it.

    Judged by the runs it was chosen by, the best of ten passes always. A stack with runs of its own, but on the grid's
    seeds against the grid's baseline, still passes several times too often. On fresh seeds it is as rare as any.
    """
    rng = np.random.default_rng(1)
    baseline = arms(rng, GRIDS)
    recommended = passes(arms(rng, GRIDS, VARIANTS, truth=TRUTH) - baseline[:, None]).any(-1)
    stack = arms(rng, GRIDS, truth=TRUTH)
    shared = passes(stack - baseline)[recommended].mean()
    fresh = passes(stack - arms(rng, GRIDS))[recommended].mean()
    assert recommended.mean() > 0.2
    assert shared > 0.1
    assert fresh <= 0.06
