"""Time to the reference's accuracy: epochs are counted by evaluation, and by the pairs that got there."""

from __future__ import annotations

import math

import pytest

from harness.plan.model import Comparison
from harness.records.results import SeedRun
from harness.spec.options import Training
from harness.verdicts.analyze import analyze
from harness.verdicts.model import TimeToReference
from harness.verdicts.time_to_reference import time_to_reference
from tests.verdicts.results import SAME, baseline_of, plan_of, quality_of, timing_of


def run(accuracy: list[float], best_epoch: int | None = None) -> SeedRun:
    return SeedRun(seed=0, run_id="r", status="ok", best_epoch=best_epoch, val_accuracy=accuracy)


def test_the_median_over_the_pairs_that_reached() -> None:
    reference = run([0.5, 0.7, 0.6, 0.7], best_epoch=4)  # 0.7, which it first had in epoch 2
    pairs = [(reference, run(curve)) for curve in ([0.1, 0.2, 0.7], [0.8], [0.1, 0.69, 0.69, 0.69])]
    found = time_to_reference(pairs, Training(epochs=4), Training(epochs=4), 2.0, 1.0)
    assert found is not None
    assert (found.epochs, found.reference_epochs, found.seconds, found.reference_seconds) == (2.0, 2.0, 2.0, 4.0)
    assert (found.reached, found.pairs) == (2, 3)


def pairs_that_reach(*epochs: tuple[int, int]) -> list[tuple[SeedRun, SeedRun]]:
    """Reference and variant that first have the reference's accuracy at these epochs."""

    def climb(epoch: int) -> list[float]:
        return [0.1] * (epoch - 1) + [0.7]

    return [(run(climb(theirs), theirs), run(climb(ours))) for theirs, ours in epochs]


def test_the_ratio_has_an_interval_over_pairs() -> None:
    """Two pairs, 2/3 and 2 times: the mean of logs is log(4/3)/2, its standard error log(3)/2, t(.975, 1) 12.706."""
    found = time_to_reference(pairs_that_reach((2, 3), (2, 1)), Training(), Training(), 1.0, 1.0)
    assert found is not None
    assert found.epochs_ratio == pytest.approx(math.sqrt(4 / 3))
    half = 12.7062 * math.log(3) / 2
    assert found.epochs_ci == (
        pytest.approx(math.sqrt(4 / 3) * math.exp(-half), rel=1e-4),
        pytest.approx(math.sqrt(4 / 3) * math.exp(half), rel=1e-4),
    )
    assert (found.ratio, found.ci) == (None, None)


def test_seconds_join_the_epochs_and_the_speed_each_with_its_own_spread() -> None:
    """Satterthwaite: two means with equal variances and n = 3 each have 2 + 2 degrees of freedom, t(.975, 4) 2.7764."""
    pairs = pairs_that_reach((40, 20), (40, 40), (40, 80))  # log ratios log 2, 0, −log 2: s is log 2
    speed = [math.log(r) for r in (1.0, 2.0, 4.0)]
    long = Training(epochs=100)
    found = time_to_reference(pairs, long, long, 2.0, 1.0, speed)
    assert found is not None
    assert (found.epochs_ratio, found.ratio) == (pytest.approx(1.0), pytest.approx(2.0))
    half = 2.77645 * math.log(2) * math.sqrt(2 / 3)
    assert found.ci == (pytest.approx(2 * math.exp(-half), rel=1e-4), pytest.approx(2 * math.exp(half), rel=1e-4))


def test_pairs_that_agree_are_known_to_half_an_evaluations_step() -> None:
    sparse = Training(eval_every=5)
    pairs = [(run([0.1, 0.7], best_epoch=10), run([0.1, 0.7]))] * 3
    found = time_to_reference(pairs, sparse, sparse, 1.0, 1.0)
    assert found is not None
    half = 4.30265 * (0.5 * 5 / 10) / math.sqrt(3)  # t(.975, 2); epoch 10
    assert found.epochs_ci == (pytest.approx(math.exp(-half), rel=1e-4), pytest.approx(math.exp(half), rel=1e-4))


def test_one_pair_has_a_ratio_and_no_interval() -> None:
    found = time_to_reference(pairs_that_reach((4, 2)), Training(), Training(), 1.0, 1.0, [0.0, 0.1])
    assert found is not None
    assert (found.epochs_ratio, found.epochs_ci, found.ci) == (2.0, None, None)
    assert found.ratio == pytest.approx(2.0 * math.exp(0.05))


def test_evaluations_are_epochs_apart_and_the_last_epoch_is_one() -> None:
    """Every 4 of 10 epochs: 4, 8 and 10."""
    sparse = Training(epochs=10, eval_every=4)
    pairs = [(run([0.5, 0.6, 0.7], best_epoch=10), run([0.1] * 6 + [0.7]))]
    found = time_to_reference(pairs, sparse, Training(epochs=10), None, 1.0)
    assert found is not None
    assert (found.epochs, found.reference_epochs) == (7.0, 10.0)
    assert (found.seconds, found.reference_seconds) == (7.0, None)


def test_none_that_reached_is_not_none_that_is_known() -> None:
    never = time_to_reference([(run([0.9], 1), run([0.8]))], Training(), Training(), 1.0, 1.0)
    assert never == TimeToReference(reached=0, pairs=1)
    for pair in ((run([]), run([0.8])), (run([0.9], 1), run([]))):
        assert time_to_reference([pair], Training(), Training(), 1.0, 1.0) is None


def test_a_comparison_tells_it_with_the_epochs_of_its_timing() -> None:
    quality = quality_of("v")
    curves = {"reference_runs": [0.5, 0.6, 0.7, 0.7], "runs": [0.7]}
    changed = {
        arm: [r.model_copy(update={"val_accuracy": curve, "best_epoch": 4}) for r in getattr(quality, arm)]
        for arm, curve in curves.items()
    }
    variants = {"baseline": baseline_of(), "v": quality.model_copy(update=changed)}
    timings = {"control": timing_of("control", SAME), "v": timing_of("v", [2.0] * 4)}
    (found,) = analyze(plan_of(Comparison(variant="v")), variants, timings).comparisons
    assert found.time_to_reference is not None
    assert (found.time_to_reference.epochs, found.time_to_reference.reference_epochs) == (1.0, 3.0)
    assert found.time_to_reference.seconds == pytest.approx(0.5)
    assert (found.time_to_reference.epochs_ratio, found.time_to_reference.ratio) == (
        pytest.approx(3.0),
        pytest.approx(6.0),
    )
    assert found.time_to_reference.reference_seconds == pytest.approx(3.0)
