"""What a reader is told of collapsed embeddings."""

from __future__ import annotations

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.over_smoothing import over_smoothing_note


def runs(*seen: tuple[float | None, bool | None]) -> list[SeedRun]:
    return [
        SeedRun(seed=seed, run_id=f"{seed}", status="ok", embedding_spread=spread, over_smoothed=smoothed)
        for seed, (spread, smoothed) in enumerate(seen)
    ]


def result(of_variant: list[SeedRun], of_reference: list[SeedRun]) -> VariantResult:
    return VariantResult(
        variant="v", cell_id="c", runs=of_variant, reference_runs=of_reference, threads=1, device="cpu"
    )


HEALTHY = runs((0.15, False), (0.25, False))


def test_nothing_is_said_where_nothing_has_collapsed():
    assert over_smoothing_note(None) is None
    assert over_smoothing_note(result(HEALTHY, HEALTHY)) is None
    assert over_smoothing_note(result(runs((None, None)), runs((None, None)))) is None  # own modules


def test_the_spread_of_both_is_said_where_one_has():
    collapsed = runs((0.002, True), (0.004, True), (0.6, False))
    note = over_smoothing_note(result(collapsed, HEALTHY))
    assert note == (
        "spread of the last hidden layer's embeddings: variant 0.202 (over-smoothed on 2 of 3 seeds), reference 0.200"
    )
    note = over_smoothing_note(result(HEALTHY, runs((None, True))))
    assert note == (
        "spread of the last hidden layer's embeddings: variant 0.200, reference 0.000 (over-smoothed on 1 of 1 seed)"
    )
