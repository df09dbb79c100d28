"""What must hold of every verdict, on results drawn at random (fixed seeds) and on each accept spoilt in one way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from harness.plan.model import Comparison
from harness.records.results import Parity, TimingResult, VariantResult
from harness.spec.schema import Gate
from harness.verdicts.analyze import analyze
from harness.verdicts.model import ComparisonVerdict, Verdicts
from tests.verdicts.results import BROKEN_PARITY, PARITY, baseline_of, plan_of, quality_of, timing_of

GATE = Gate(min_speedup=1.05, min_memory_saving=1.05)
DRAWS = 200
# By accuracy alone, all else equal: what a smaller accuracy may turn a verdict into is to the left.
STANDING = {"reject": 0, "no-gain": 1, "inconclusive": 1, "accept": 2}
# By speed alone.
BY_SPEED = {"no-gain": 0, "inconclusive": 1, "accept": 2}


@dataclass(frozen=True)
class Case:
    """Results of one variant, and of the control."""

    comparison: Comparison
    quality: VariantResult
    timing: TimingResult
    control: TimingResult

    def verdicts(self) -> Verdicts:
        variants = {"baseline": baseline_of(), "v": self.quality}
        return analyze(plan_of(self.comparison, gate=GATE), variants, {"v": self.timing, "control": self.control})

    def verdict(self) -> ComparisonVerdict:
        (found,) = self.verdicts().comparisons
        return found


def ratios(rng: np.random.Generator, mean: float, sd: float, count: int) -> list[float]:
    return [float(r) for r in np.exp(rng.normal(math.log(mean), sd, count))]


def drawn(rng: np.random.Generator, variant: str = "v") -> Case:
    """Anything that jobs may leave, accepts and all that stands between among them."""
    count = int(rng.choice([4, 5, 10, 20], p=[0.1, 0.4, 0.3, 0.2]))
    d = rng.normal(
        rng.choice([0.2, 0.0, -0.4, -0.5, -1.0], p=[0.4, 0.3, 0.1, 0.1, 0.1]), rng.choice([0.05, 0.1, 0.5]), count
    )
    metrics: list[float | str | None] = [0.70 + float(x) / 100.0 for x in d]
    if rng.random() < 0.1:
        metrics[int(rng.integers(count))] = str(rng.choice(["oom", "diverged"]))
    exact = bool(rng.random() < 0.3)
    unchecked = PARITY.model_copy(update={"state": "not-checked"})
    parity = [PARITY, BROKEN_PARITY, unchecked, None][int(rng.choice(4, p=[0.7, 0.1, 0.1, 0.1]))]
    blocks = int(rng.choice([1, 2, 3, 6], p=[0.1, 0.4, 0.3, 0.2]))
    speed, memory = (
        ratios(
            rng,
            float(rng.choice([0.9, 1.0, 1.05, 1.1, 1.5, 2.0, 3.0])),
            float(rng.choice([0.002, 0.02, 0.1])),
            2 * blocks,
        )
        for _ in range(2)
    )
    timing = timing_of(
        variant, speed, memory=memory, status=str(rng.choice(["ok", "skipped", "dnf"], p=[0.9, 0.05, 0.05]))
    )
    disturbed = rng.random(blocks) < 0.1
    timing = timing.model_copy(
        update={"blocks": [b.model_copy(update={"disturbed": bool(disturbed[b.index])}) for b in timing.blocks]}
    )
    noise = float(rng.choice([0.002, 0.01, 0.2], p=[0.6, 0.2, 0.2]))
    own = ratios(rng, float(rng.choice([1.0, 1.1], p=[0.9, 0.1])), noise, 2 * int(rng.choice([1, 2, 6])))
    return Case(
        Comparison(variant=variant, exact=exact, goal="memory" if rng.random() < 0.3 else "speed"),
        quality_of(variant, metrics=metrics, parity=parity),
        timing,
        timing_of("control", own, memory=own),
    )


CASES = [drawn(rng) for rng in (np.random.default_rng(seed) for seed in range(DRAWS))]
FOUND = [case.verdict() for case in CASES]
ACCEPTED = [case for case, found in zip(CASES, FOUND, strict=True) if found.verdict == "accept"]


def test_the_draws_reach_every_verdict_that_two_arms_which_run_can_have() -> None:
    reached = [found.verdict for found in FOUND]
    assert set(reached) == {"dnf", "reject", "no-gain", "inconclusive", "accept"}
    assert {case.comparison.goal for case in ACCEPTED} == {"speed", "memory"}
    assert {case.comparison.exact for case in ACCEPTED} == {True, False}
    assert len(ACCEPTED) >= 20


def test_whatever_is_accepted_has_all_that_an_accept_needs() -> None:
    """Each condition again, from the results themselves and not from the states that the rule read."""
    for case, found in zip(CASES, FOUND, strict=True):
        if found.verdict != "accept":
            continue
        assert found.accuracy is not None
        assert found.accuracy.ci_pp is not None
        assert found.accuracy.look in (5, 10, 20)
        assert found.accuracy.ci_pp[0] > -GATE.max_drop_pp
        counted = case.quality.runs[: found.accuracy.look]
        assert all(run.status == "ok" for run in counted)
        assert not case.comparison.exact or (case.quality.parity is not None and case.quality.parity.ok)
        measured = found.memory if case.comparison.goal == "memory" else found.speed
        assert measured.ratio is not None
        assert measured.ci is not None
        assert measured.ci[0] > 1.05
        noise = case.verdicts().control
        lower, upper = noise.memory_ci if case.comparison.goal == "memory" else noise.ci  # type: ignore[misc]
        assert lower <= 1.0 <= upper
        assert upper / lower <= measured.ratio
        assert case.timing.status == "ok"
        if case.comparison.goal == "speed":
            assert not any(block.disturbed for block in case.timing.blocks[: found.speed.blocks])


def _quality(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, quality=case.quality.model_copy(update=changes))


def _timing(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, timing=case.timing.model_copy(update=changes))


def _control(**changes: Any) -> Callable[[Case], Case]:
    return lambda case: replace(case, control=case.control.model_copy(update=changes))


def _dropped(pp: float) -> Callable[[Case], Case]:
    def spoil(case: Case) -> Case:
        runs = [run.model_copy(update={"metric": (run.metric or 0.0) - pp / 100.0}) for run in case.quality.runs]
        return replace(case, quality=case.quality.model_copy(update={"runs": runs}))

    return spoil


def _failed(status: str) -> Callable[[Case], Case]:
    def spoil(case: Case) -> Case:
        first, *others = case.quality.runs
        failed = first.model_copy(update={"status": status, "metric": None})
        return replace(case, quality=case.quality.model_copy(update={"runs": [failed, *others]}))

    return spoil


def _scaled(times: float) -> Callable[[Case], Case]:
    """Both the speed-up and the saving become so many times what they were."""

    def spoil(case: Case) -> Case:
        found = {
            name: [x + math.log(times) for x in getattr(case.timing, name)]
            for name in ("log_ratios", "memory_log_ratios")
        }
        return replace(case, timing=case.timing.model_copy(update=found))

    return spoil


def _disturbed(case: Case) -> Case:
    """Of a gain in speed: peaks of memory do not depend on what else runs."""
    blocks = [block.model_copy(update={"disturbed": True}) for block in case.timing.blocks]
    spoilt = replace(case, timing=case.timing.model_copy(update={"blocks": blocks}))
    return replace(spoilt, comparison=case.comparison.model_copy(update={"goal": "speed"}))


def _exact(parity: Parity | None) -> Callable[[Case], Case]:
    def spoil(case: Case) -> Case:
        spoilt = replace(case, comparison=case.comparison.model_copy(update={"exact": True}))
        return replace(spoilt, quality=case.quality.model_copy(update={"parity": parity}))

    return spoil


NOISE = [math.log(r) for r in (0.3, 3.0, 0.4, 2.5)]
OFF = [math.log(r) for r in (1.10, 1.11, 1.10, 1.11)]
SPOILS: dict[str, Callable[[Case], Case]] = {
    "a larger drop": _dropped(3.0),
    "a seed out of memory": _failed("oom"),
    "a seed that diverged": _failed("diverged"),
    "fewer pairs than the first look": lambda c: _quality(runs=c.quality.runs[:4])(c),
    "no reference": _quality(reference_runs=[]),
    "exact, parity differs": _exact(BROKEN_PARITY),
    "exact, parity not checked": _exact(PARITY.model_copy(update={"state": "not-checked"})),
    "exact, no parity": _exact(None),
    "no gain": _scaled(0.2),
    "too few blocks": _timing(log_ratios=[1.0, 1.0], memory_log_ratios=[1.0, 1.0]),
    "failed while timed": _timing(status="dnf", reason="oom"),
    "the reference failed while timed": _timing(status="skipped", reason="the reference failed: oom"),
    "beside other load": _disturbed,
    "the control broke off": _control(status="skipped", reason="the reference failed: oom"),
    "a seed without the metric": lambda c: _quality(
        runs=[c.quality.runs[0].model_copy(update={"metric": None}), *c.quality.runs[1:]]
    )(c),
    "no control": _control(log_ratios=[], memory_log_ratios=[]),
    "a noisy control": _control(log_ratios=NOISE, memory_log_ratios=NOISE),
    "a control off 1": _control(log_ratios=OFF, memory_log_ratios=OFF),
    "other data": _quality(fingerprint="other"),
    "other threads": _quality(threads=7),
    "another device": _quality(device="cuda"),
    "timed with other threads": _timing(threads=7),
    "timed on another processor": _timing(environment={"torch": "2.13.0", "cpu": "another"}),
    "timed with another torch": _timing(environment={"torch": "2.6.0"}),
    "timed on other data": _timing(fingerprint="other"),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_an_accept_spoilt_in_one_way_is_none(spoil: Callable[[Case], Case]) -> None:
    for case in ACCEPTED:
        assert spoil(case).verdict().verdict != "accept"


def test_a_lower_accuracy_never_improves_a_verdict() -> None:
    """Every seed lower by the same. (One seed alone is another matter for any t test: a lower outlier widens the
    interval, and an upper outlier that comes down narrows it.)"""
    for case in CASES:
        standing = [
            STANDING[found.verdict]
            for found in (_dropped(pp)(case).verdict() for pp in (0.0, 0.2, 0.7))
            if found.verdict != "dnf"
        ]
        assert standing == sorted(standing, reverse=True)


def test_a_smaller_gain_never_improves_a_verdict() -> None:
    for case in CASES:
        found = [_scaled(times)(case).verdict().verdict for times in (1.0, 0.97, 0.8)]
        if found[0] in ("dnf", "reject"):
            assert set(found) == {found[0]}
        else:
            standing = [BY_SPEED[verdict] for verdict in found]
            assert standing == sorted(standing, reverse=True)


def test_more_disturbed_blocks_leave_open_what_speed_decided_and_nothing_else() -> None:
    for case, before in zip(CASES, FOUND, strict=True):
        after = _disturbed(case).verdict().verdict
        assert after != "accept"
        by_speed = before.verdict in ("accept", "no-gain")
        assert case.comparison.goal == "memory" or after == ("inconclusive" if by_speed else before.verdict)


def together(cases: dict[str, Case], control: TimingResult) -> Verdicts:
    variants = {"baseline": baseline_of()} | {name: case.quality for name, case in cases.items()}
    timings = {"control": control} | {name: case.timing for name, case in cases.items()}
    patches = {name: {"training.lr": 0.001 * (ord(name[-1]) - 90)} for name in cases}
    return analyze(plan_of(*(c.comparison for c in cases.values()), patches=patches, gate=GATE), variants, timings)


def several(seed: int, names: str = "abcd") -> tuple[dict[str, Case], TimingResult]:
    rng = np.random.default_rng(10_000 + seed)
    control = timing_of("control", ratios(rng, 1.0, 0.002, 4))
    return {name: drawn(rng, name) for name in names}, control


@pytest.mark.parametrize("seed", range(20))
def test_a_verdict_depends_on_its_own_results_alone(seed: int) -> None:
    """And neither on the order of variants, nor on what the others did, nor on whether there are others."""
    cases, control = several(seed)
    others, _ = several(seed + 1000)
    before = {c.variant: c for c in together(cases, control).comparisons}
    backwards = {name: cases[name] for name in reversed(cases)}
    assert {c.variant: c for c in together(backwards, control).comparisons} == before
    for name in cases:
        among_others = together({**others, name: cases[name]}, control).comparisons
        alone = together({name: cases[name]}, control).comparisons
        for found in (among_others, alone):
            assert next(c for c in found if c.variant == name) == before[name]


@pytest.mark.parametrize("seed", range(20))
def test_a_name_means_nothing(seed: int) -> None:
    (case, control) = several(seed, "a")[0]["a"], several(seed, "a")[1]
    (found,) = together({"a": case}, control).comparisons
    renamed = replace(
        case,
        comparison=case.comparison.model_copy(update={"variant": "zebra"}),
        quality=case.quality.model_copy(update={"variant": "zebra"}),
        timing=case.timing.model_copy(update={"variant": "zebra"}),
    )
    (other,) = together({"zebra": renamed}, control).comparisons
    assert (other.verdict, other.reason) == (found.verdict, found.reason)
    assert (other.accuracy, other.speed, other.memory) == (found.accuracy, found.speed, found.memory)


def test_seeds_count_in_their_order_whatever_that_of_the_file() -> None:
    rng = np.random.default_rng(5)
    for case, before in zip(CASES[:100], FOUND, strict=False):
        runs = [case.quality.runs[i] for i in rng.permutation(len(case.quality.runs))]
        reference = case.quality.reference_runs[::-1]
        shuffled = _quality(runs=runs, reference_runs=reference)(case).verdict()
        assert (shuffled.verdict, shuffled.accuracy) == (before.verdict, before.accuracy)


def test_what_comes_after_a_decision_changes_nothing() -> None:
    """More seeds, and more ratios, of whatever size."""
    more = quality_of("v", metrics=[0.1] * 40, reference=[0.9] * 40)
    for case in ACCEPTED:
        have = len(case.quality.runs)
        longer = _quality(
            runs=[*case.quality.runs, *more.runs[have:]],
            reference_runs=[*case.quality.reference_runs, *more.reference_runs[have:]],
        )(case)
        assert longer.verdict().verdict == "accept"
        slower = {name: [*getattr(case.timing, name), *[-1.0] * 8] for name in ("log_ratios", "memory_log_ratios")}
        assert _timing(**slower)(case).verdict().verdict == "accept"
