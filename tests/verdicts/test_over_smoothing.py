"""What a reader is told of collapsed embeddings."""

from __future__ import annotations

from harness.plan.model import Comparison
from harness.records.results import SeedRun, VariantResult
from harness.verdicts.analyze import analyze
from harness.verdicts.over_smoothing import over_smoothing_warning, spread_note
from tests.verdicts.results import baseline_of, plan_of, quality_of


def runs(*last: float | None) -> list[SeedRun]:
    """Two-layer networks whose hidden layer has this spread; None: all of its rows are zero."""
    return [
        SeedRun(
            seed=seed,
            run_id=f"{seed}",
            status="ok",
            embedding_spread=spread,
            spread_by_layer=[0.9, spread, 0.5],
            over_smoothed=spread is None or spread < 0.03,
        )
        for seed, spread in enumerate(last)
    ]


def result(of_variant: list[SeedRun], of_reference: list[SeedRun]) -> VariantResult:
    return VariantResult(
        variant="v", cell_id="c", runs=of_variant, reference_runs=of_reference, threads=1, device="cpu"
    )


HEALTHY = runs(0.15, 0.25)
PLAN = plan_of(Comparison(variant="v", reference="baseline"))
OWN = [SeedRun(seed=0, run_id="0", status="ok")]  # a person's own module


def test_the_spread_of_each_layer_is_always_said_where_it_is_known() -> None:
    said = "spread of embeddings by layer, from the features to the logits: "
    assert spread_note(None) is None
    assert spread_note(result(OWN, OWN)) is None
    assert spread_note(result(HEALTHY, OWN)) == f"{said}variant 0.900, 0.200, 0.500"
    assert spread_note(result(runs(0.002, 0.004, 0.6), HEALTHY)) == (
        f"{said}variant 0.900, 0.004, 0.500 (over-smoothed on 2 of 3 seeds); reference 0.900, 0.200, 0.500"
    )
    assert spread_note(result(runs(None), HEALTHY)) == (
        f"{said}variant 0.900, all zero, 0.500 (over-smoothed on 1 of 1 seed); reference 0.900, 0.200, 0.500"
    )


def test_of_many_layers_the_first_and_the_last_are_shown() -> None:
    deep = [run.model_copy(update={"spread_by_layer": [i / 100 for i in range(34)]}) for run in runs(0.5)]
    note = spread_note(result(deep, []))
    assert note is not None
    assert note.endswith("variant 0.000, 0.010, 0.020, 0.030, …, 0.300, 0.310, 0.320, 0.330")


def test_cells_that_are_over_smoothed_on_most_seeds_are_named_in_one_line() -> None:
    fine, half, most = result(HEALTHY, []), result(runs(0.01, 0.5), []), result(runs(0.002, 0.004, 0.6), [])
    assert over_smoothing_warning({"baseline": fine, "half": half, "own": result(OWN, [])}) is None
    warning = over_smoothing_warning({"baseline": fine, "deep": most, "dead": result(runs(None), [])})
    assert warning is not None
    assert "(over-smoothing) in deep (2 of 3 seeds, spread 0.004), dead (1 of 1 seed, spread 0.000): " in warning
    assert "model.norm: pair" in warning


def test_the_warning_is_among_those_of_the_verdicts() -> None:
    """Which the terminal and every form of the report print."""
    quality = quality_of("v")
    collapsed = [run.model_copy(update={"over_smoothed": True, "embedding_spread": 0.01}) for run in quality.runs]
    variants = {"baseline": baseline_of(), "v": quality.model_copy(update={"runs": collapsed})}
    warnings = analyze(PLAN, variants, {}).warnings
    assert len([w for w in warnings if "(over-smoothing) in v (5 of 5 seeds, spread 0.010)" in w]) == 1
    assert not [w for w in analyze(PLAN, variants | {"v": quality}, {}).warnings if "over-smoothing" in w]
