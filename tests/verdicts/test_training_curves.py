"""Warnings about a loss that does not fall and gradients that span orders of magnitude."""

from __future__ import annotations

import pytest

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.training_curves import by_epoch, curve_warnings, curves_note, norm_range, rose


def run(loss: list[float], norm: list[float | None] | None = None, seed: int = 0) -> SeedRun:
    return SeedRun(seed=seed, run_id=f"r{seed}", status="ok", train_loss=loss, gradient_norm=norm or [])


def result(*runs: SeedRun) -> VariantResult:
    return VariantResult(variant="v", cell_id="c", runs=list(runs), threads=1, device="cpu")


@pytest.mark.parametrize(
    ("loss", "risen"),
    [([2.0, 1.0], False), ([2.0, 3.0, 2.0], False), ([1.0, 0.5, 1.1], True), ([1.0], None), ([], None)],
)
def test_a_loss_that_ends_above_where_it_began(loss, risen):
    assert rose(run(loss)) is risen


@pytest.mark.parametrize(
    ("norms", "wide"), [([1.0, 0.01, None, 2.0], 200.0), ([1.0, 0.0], None), ([3.0], None), ([], None)]
)
def test_the_range_of_norms(norms, wide):
    assert norm_range(run([], norms)) == (None if wide is None else pytest.approx(wide))


def test_cells_are_named_where_most_seeds_agree():
    rising, falling = [1.0, 2.0], [2.0, 1.0]
    found = curve_warnings(
        {
            "hot": result(run(rising), run(rising, seed=1), run(falling, seed=2)),
            "cool": result(run(rising), run(falling, seed=1), run(falling, seed=2)),
            "wild": result(*(run(falling, norms) for norms in ([1e-3, 2.0], [1.0, 2.0], [1.0, 5e3]))),
            "old": result(run([])),
        }
    )
    assert len(found) == 2
    assert "the training loss ended above where it began in hot (2 of 3 seeds): nothing was learned" in found[0]
    assert "orders of magnitude or more from epoch to epoch in wild (2 of 3 seeds)" in found[1]


def test_nothing_is_said_of_results_without_curves():
    assert curve_warnings({"old": result(run([]))}) == []
    assert curves_note(result(run([]))) is None
    assert curves_note(None) is None


def test_the_note_has_medians_over_seeds():
    found = result(run([2.0, 1.0], [4.0, 1.0]), run([3.0, 0.5], [8.0, 1.0], seed=1))
    assert curves_note(found) == (
        "training loss in the first and the last epoch: variant 2.500 to 0.750, gradient norms within a factor of 6"
    )


def test_curves_of_unequal_length_join_by_epoch():
    assert by_epoch([[1.0, 2.0, 3.0], [3.0, None], []]) == [2.0, 2.0, 3.0]
    assert by_epoch([[None], [None]]) == [None]
    assert by_epoch([]) == []
