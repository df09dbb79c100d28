"""Quantities on results whose figures are known by hand."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import pytest

from harness.plan.model import Comparison
from harness.records.record import Memory, Metrics, Record, Scores, Stages
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.records.store import RecordStore
from harness.spec.claims import Measure
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Seeds, Timing
from harness.verdicts.claims.measure import measure_all
from harness.verdicts.claims.model import Measured
from harness.verdicts.claims.results import SpecResults
from tests.verdicts.results import PARITY, SAME, baseline_of, plan_of, quality_of, skipped, timing_of

CONTROL = timing_of("control", SAME)
ONE_LOOK = {"seeds": Seeds(looks=(5,)), "timing": Timing(looks=(4,))}


def record_of(run_id: str, seed: int = 0, **changes: Any) -> Record:
    scores = Scores(accuracy=0.7, macro_f1=0.7)
    content: dict[str, Any] = {
        "run_id": run_id,
        "cell_id": "cell",
        "purpose": "quality",
        "seed": seed,
        "model": Model(conv="sage"),
        "training": Training(),
        "options": Options(),
        "status": "ok",
        "phase": "done",
        "metrics": Metrics(val=scores, test=scores, best_epoch=7, epochs=12, predictions_sha256="p"),
        "started_at": "2026-11-30T01:00:00+00:00",
        "ended_at": "2026-11-30T02:00:00+00:00",
    }
    return Record(**(content | changes))


def spec_of(
    tmp_path: Path,
    variants: list[VariantResult],
    timings: dict[str, TimingResult] | None = None,
    records: list[Record] | None = None,
    **plan: Any,
) -> SpecResults:
    store = RecordStore(tmp_path / "runs")
    for record in records or []:
        store.write(record)
    names = [v.variant for v in variants if v.variant != "baseline"]
    made = plan_of(*(Comparison(variant=name) for name in names), **(ONE_LOOK | plan))
    return SpecResults(made, {v.variant: v for v in variants}, timings or {}, tmp_path / "test")


def measured(results: SpecResults, other: SpecResults | None = None, **measure: Any) -> Measured:
    wanted = [(Measure(**measure), None if other is None else "other")]
    return measure_all(results, wanted, lambda _: other, "snakemake").measured[0]


def test_accuracy_of_pairs(tmp_path: Path) -> None:
    found = measured(spec_of(tmp_path, [baseline_of(), quality_of("v")]), quantity="accuracy_delta_pp", variant="v")
    assert (found.state, found.n, found.unit, found.level) == ("measured", 5, "pairs", 0.95)
    assert found.value == pytest.approx(-0.04)
    assert found.ci == pytest.approx((-0.29748, 0.21748), abs=1e-5)


def test_several_looks_widen_it(tmp_path: Path) -> None:
    """The interval holds whichever look the runs stopped at: of five pairs that of the first look, at its level."""
    results = spec_of(tmp_path, [baseline_of(), quality_of("v")], seeds=Seeds(looks=(4, 6, 8, 12)))
    found = measured(results, quantity="accuracy_delta_pp", variant="v")
    assert (found.n, found.level) == (4, pytest.approx(1 - 0.017199))


def test_the_reference_may_be_another_variant(tmp_path: Path) -> None:
    """Pairs are of equal seeds; runs that the variant made of its reference count as the reference's."""
    one, two = quality_of("one", [1.0, 1.1, 0.9, 1.0, 1.0]), quality_of("two", [0.5, 0.6, 0.4, 0.5, 0.5])
    found = measured(spec_of(tmp_path, [one, two]), quantity="accuracy_delta_pp", variant="one", reference="two")
    assert found.ci == pytest.approx((0.5 - 0.0062, 0.5 + 0.0062), abs=1e-4)  # equal, but for half a test node
    assert measured(spec_of(tmp_path, [one, two]), quantity="accuracy_delta_pp", variant="one").n == 5


def test_a_seed_that_failed_is_never_left_out(tmp_path: Path) -> None:
    results = spec_of(tmp_path, [baseline_of(), quality_of("v", metrics=[0.7, "diverged", 0.7, 0.7, 0.7])])
    found = measured(results, quantity="accuracy_delta_pp", variant="v")
    assert (found.state, found.value) == ("failed", None)
    assert found.reason == "seed 1 of `v` ended as diverged: diverged in epoch 3"


def test_what_is_not_there_and_what_cannot_run(tmp_path: Path) -> None:
    results = spec_of(tmp_path, [baseline_of(), quality_of("v", [0.1, 0.2])], skipped=[skipped("gat", "no kernel")])
    few = measured(results, quantity="accuracy_delta_pp", variant="v")
    assert (few.state, few.reason) == ("missing", "2 of the first look's 5 pairs have run")
    gat = measured(results, quantity="accuracy_delta_pp", variant="gat")
    assert (gat.state, gat.reason) == ("unavailable", "`gat` cannot run here: no kernel")
    assert measured(results, quantity="speed_ratio", variant="v").reason == "`v` of test has not been timed"


def test_other_threads_are_refused(tmp_path: Path) -> None:
    found = measured(
        spec_of(tmp_path, [baseline_of(), quality_of("v", threads=2)]), quantity="accuracy_delta_pp", variant="v"
    )
    assert found.state == "failed"
    assert "threads" in found.reason


def test_two_specs_differ_in_their_data_alone(tmp_path: Path) -> None:
    def spec(metric: float, **changes: Any) -> SpecResults:
        runs = quality_of("baseline", metrics=[metric + 0.001 * seed for seed in range(5)], **changes)
        return spec_of(tmp_path, [runs.model_copy(update={"reference": None, "reference_runs": []})])

    found = measured(spec(0.71, fingerprint="g"), spec(0.70), quantity="accuracy_delta_pp")
    assert found.value == pytest.approx(1.0)
    refused = measured(spec(0.71, test_nodes=9), spec(0.70), quantity="accuracy_delta_pp")
    assert "test nodes" in refused.reason


def test_speed_and_memory_as_the_verdict_has_them(tmp_path: Path) -> None:
    timings = {"v": timing_of("v", [1.4, 1.42, 1.41, 1.43], memory=[2.0, 2.02, 1.98, 2.0]), "control": CONTROL}
    results = spec_of(tmp_path, [baseline_of(), quality_of("v")], timings)
    speed = measured(results, quantity="speed_ratio", variant="v")
    assert speed.value == pytest.approx(1.41496, abs=1e-4)
    assert speed.ci == pytest.approx((1.3944, 1.4358), abs=2e-4)
    turned = measured(results, quantity="memory_ratio", variant="baseline", reference="v")
    assert turned.value == pytest.approx(0.5, abs=1e-3)
    assert turned.ci[0] < 0.5 < turned.ci[1]


def test_two_variants_meet_at_their_baseline(tmp_path: Path) -> None:
    timings = {
        "one": timing_of("one", [3.0, 3.0, 3.0, 3.0]),
        "two": timing_of("two", [1.4, 1.6, 1.5, 1.5]),
        "control": CONTROL,
    }
    results = spec_of(tmp_path, [baseline_of(), quality_of("one"), quality_of("two")], timings)
    found = measured(results, quantity="speed_ratio", variant="one", reference="two")
    logs = [math.log(x) for x in (1.4, 1.6, 1.5, 1.5)]
    mean = sum(logs) / 4
    half = 3.18245 * math.sqrt(sum((x - mean) ** 2 for x in logs) / 3 / 4)  # all the error is of one arm: t of 3
    assert found.ci == pytest.approx((3 / math.exp(mean + half), 3 / math.exp(mean - half)), rel=1e-4)


OFF = timing_of("control", [1.10, 1.11, 1.10, 1.11], memory=[1.10, 1.11, 1.10, 1.11])
ELSEWHERE = timing_of("control", SAME, environment={"torch": "2.13.0", "cpu": "another"})
BESIDE_LOAD = timing_of("v").model_copy(
    update={"blocks": [b.model_copy(update={"disturbed": b.index == 1}) for b in timing_of("v").blocks]}
)


@pytest.mark.parametrize("quantity", ["speed_ratio", "memory_ratio"])
@pytest.mark.parametrize(
    ("control", "why"),
    [
        (None, "is missing, so no gain can be told from noise"),
        (CONTROL.model_copy(update={"status": "skipped", "reason": "oom"}), "is missing"),
        (OFF, "against itself is off 1.00"),
        (ELSEWHERE, "not comparable: processor of `v` is a processor, of the control another"),
    ],
    ids=["missing", "broken off", "off 1", "another processor"],
)
def test_a_control_that_says_nothing_decides_nothing(
    tmp_path: Path, quantity: str, control: TimingResult | None, why: str
) -> None:
    timings = {"v": timing_of("v")} | ({} if control is None else {"control": control})
    found = measured(spec_of(tmp_path, [baseline_of(), quality_of("v")], timings), quantity=quantity, variant="v")
    assert (found.state, found.ci) == ("failed", None)
    assert why in found.reason


def test_seconds_beside_other_load_decide_nothing_and_peaks_do(tmp_path: Path) -> None:
    timings = {"v": BESIDE_LOAD, "control": CONTROL}
    results = spec_of(tmp_path, [baseline_of(), quality_of("v")], timings)
    speed = measured(results, quantity="speed_ratio", variant="v")
    assert (speed.state, speed.reason) == ("failed", "disturbed while timed in 1 of 2 blocks (other load)")
    assert measured(results, quantity="memory_ratio", variant="v").state == "measured"


@pytest.mark.parametrize(
    ("nodes", "parity", "sd"),
    [(100, None, 0.5), (100, PARITY, 0.0), (10_000, None, 0.0)],
    ids=["few nodes", "few nodes, equal by the parity check", "many nodes"],
)
def test_equal_predictions_are_exact_only_where_they_are_evidence(
    tmp_path: Path, nodes: int, parity: Any, sd: float
) -> None:
    """As for a verdict: 5 times 100 equal predictions may be chance, with half a node of spread."""
    v = quality_of("v", [0.0] * 5, test_nodes=nodes, parity=parity)
    v = v.model_copy(update={"runs": v.reference_runs})
    results = spec_of(tmp_path, [baseline_of(test_nodes=nodes), v])
    half = 2.776445 * sd / math.sqrt(5)
    assert measured(results, quantity="accuracy_delta_pp", variant="v").ci == pytest.approx((-half, half))


def test_runs_of_another_torch_are_not_the_references(tmp_path: Path) -> None:
    """A job that was made again after an upgrade has a baseline of its own, which no other variant is held to."""
    again = quality_of("again", [0.0] * 5, reference=[0.5] * 5, environment={"torch": "2.14.0", "cpu": "a processor"})
    base = baseline_of().model_copy(update={"runs": baseline_of().runs[:3]})  # its own job stopped at the first look
    results = spec_of(tmp_path, [base, quality_of("v"), again])
    assert measured(results, quantity="accuracy_delta_pp", variant="v").value == pytest.approx(-0.04)
    refused = measured(results, quantity="accuracy_delta_pp", variant="again")
    assert refused.reason.startswith("not comparable: torch of `again` is 2.14.0, of `baseline` 2.13.0")


def test_epochs_of_what_cannot_run_are_unavailable(tmp_path: Path) -> None:
    results = spec_of(tmp_path, [baseline_of()], skipped=[skipped("gat", "no kernel")])
    assert measured(results, quantity="epochs_to_reference_ratio", variant="gat").state == "unavailable"


def runs_with(name: str, values: list[dict[str, Any]]) -> tuple[VariantResult, list[Record]]:
    """Quality results of a cell, and its records."""
    runs = [SeedRun(seed=s, run_id=f"{name}-{s}", status="ok", metric=0.7 + 0.01 * s) for s in range(len(values))]
    result = quality_of(name).model_copy(update={"runs": runs, "reference_runs": []})
    return result, [record_of(f"{name}-{s}", s, **changes) for s, changes in enumerate(values)]


def counted(*pairs: tuple[int, int]) -> list[dict[str, Any]]:
    return [{"counters": {"nodes": n, "batches": b, "fanout_mean": [4.0, 2.0 + i]}} for i, (n, b) in enumerate(pairs)]


def test_counters_of_runs(tmp_path: Path) -> None:
    base, records = runs_with("baseline", counted((1000, 10), (1200, 12), (900, 9)))
    cut, more = runs_with("v", counted((500, 10), (600, 12), (450, 9)))
    results = spec_of(tmp_path, [base, cut], records=[*records, *more])
    per_batch = {"path": "counters.nodes", "over": "counters.batches"}
    one = measured(results, quantity="counter", variant="v", **per_batch)
    assert (one.value, one.ci, one.n, one.unit) == (50.0, (50.0, 50.0), 3, "runs")
    both = measured(results, quantity="counter_ratio", variant="v", **per_batch)
    assert both.ci == pytest.approx((2.0, 2.0))
    last = measured(results, quantity="counter", path="counters.fanout_mean.-1")
    assert (last.value, last.ci) == (
        3.0,
        pytest.approx((3 - 4.30265 / math.sqrt(3), 3 + 4.30265 / math.sqrt(3)), rel=1e-4),
    )


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("counters.none", "the runs recorded no counters.none"),
        ("counters.fanout_mean.2", "the runs recorded no counters.fanout_mean.2"),
        ("counters.fanout_mean", "counters.fanout_mean is no number in every run"),
    ],
)
def test_a_counter_that_is_not_there(tmp_path: Path, path: str, words: str) -> None:
    base, records = runs_with("baseline", counted((1000, 10), (1200, 12)))
    found = measured(spec_of(tmp_path, [base], records=records), quantity="counter", path=path)
    assert (found.state, found.reason) == ("failed", words)


def test_records_that_are_gone(tmp_path: Path) -> None:
    base, _ = runs_with("baseline", counted((1000, 10)))
    found = measured(spec_of(tmp_path, [base]), quantity="counter", path="counters.nodes")
    assert (found.state, found.reason) == ("missing", "the record of run baseline-0 is gone")


def test_the_prepared_graph_is_known_exactly(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "dataset.json").write_text('{"meta": {"features": {"projection": {"explained": 0.91}}}}')
    found = measured(
        spec_of(tmp_path, [baseline_of()]), quantity="counter", path="dataset.features.projection.explained"
    )
    assert (found.ci, found.level) == ((0.91, 0.91), 1.0)


def timed(tmp_path: Path, stages: dict[str, list[tuple[float, float, float, float]]]) -> SpecResults:
    """Two blocks of a variant and two of the control, whose processes have these stages, in turn."""
    store, timings = RecordStore(tmp_path / "runs"), {}
    for name, per_process in stages.items():
        timing = timing_of("v" if name == "v" else "baseline", [1.0] * 4)
        processes = [p for block in timing.blocks for p in block.processes]
        renamed = {p.run_id: f"{name}-{p.run_id}" for p in processes}
        blocks = [
            block.model_copy(
                update={"processes": [p.model_copy(update={"run_id": renamed[p.run_id]}) for p in block.processes]}
            )
            for block in timing.blocks
        ]
        for number, process in enumerate(p for block in blocks for p in block.processes):
            sample, fetch, compute, update = per_process[number % len(per_process)]
            store.write(
                record_of(
                    process.run_id,
                    purpose="timing",
                    stages=Stages(sample_s=sample, fetch_s=fetch, compute_s=compute, update_s=update),
                    memory=Memory(peak_bytes=24_000, kind="rss", estimated_bytes=20_000),
                    counters={"nodes": 1000, "edges": 2000, "batches": 10},
                    data={"num_features": 8},
                )
            )
        timings[name] = timing.model_copy(update={"blocks": blocks})
    return spec_of(tmp_path, [baseline_of(), quality_of("v")], timings)


def test_stages(tmp_path: Path) -> None:
    """Reference, variant, variant, reference: the variant fetches in a quarter of the time."""
    slow, fast = (3.2, 2.6, 2.8, 1.4), (3.2, 0.65, 2.8, 1.4)
    results = timed(tmp_path, {"v": [slow, fast, fast, slow], "control": [slow]})
    ratio = measured(results, quantity="stage_ratio", variant="v", stages=["fetch"])
    assert (ratio.ci, ratio.n) == (pytest.approx((4.0, 4.0)), 4)
    share = measured(results, quantity="stage_share", stages=["sample", "fetch"])
    assert (share.ci, share.n) == (pytest.approx((0.58, 0.58)), 8)
    control = results.timings["control"]
    beside_load = [block.model_copy(update={"disturbed": True}) for block in control.blocks]
    results.timings["control"] = control.model_copy(update={"blocks": beside_load})
    assert measured(results, quantity="stage_share", stages=["sample", "fetch"]).state == "failed"


def test_memory_of_timing_processes(tmp_path: Path) -> None:
    results = timed(tmp_path, {"control": [(1.0, 1.0, 1.0, 1.0)]})
    over = measured(results, quantity="counter", path="memory.peak_bytes", over="memory.estimated_bytes", runs="timing")
    assert (over.value, over.n) == (pytest.approx(1.2), 8)
    # 100 nodes and 200 edges a batch, two layers: (8 * 100 + 16 * 200) * 4 * 2 bytes
    formula = measured(results, quantity="peak_over_formula")
    assert formula.value == pytest.approx(24_000 / 32_000)


def test_spread_over_seeds(tmp_path: Path) -> None:
    reference, variant = [0.70, 0.74, 0.69, 0.75, 0.72], [0.700, 0.710, 0.705, 0.712, 0.701]
    results = spec_of(tmp_path, [quality_of("v", metrics=variant, reference=reference)])
    found = measured(results, quantity="sd_ratio", variant="v")
    assert found.value == pytest.approx(statistics.stdev(reference) / statistics.stdev(variant))
    assert found.ci[0] < found.value < found.ci[1]


def test_jitter_of_the_loss(tmp_path: Path) -> None:
    def losses(swing: float) -> list[dict[str, Any]]:
        scores = Scores(accuracy=0.7, macro_f1=0.7)
        curve = [2.0 - 0.1 * epoch + swing * (-1) ** epoch for epoch in range(12)]
        made = Metrics(val=scores, test=scores, best_epoch=7, epochs=12, predictions_sha256="p", train_loss=curve)
        return [{"metrics": made}] * 3

    base, records = runs_with("baseline", losses(0.3))
    calm, more = runs_with("v", losses(0.1))
    found = measured(
        spec_of(tmp_path, [base, calm], records=[*records, *more]), quantity="loss_jitter_ratio", variant="v"
    )
    assert found.ci == pytest.approx((3.0, 3.0))


def test_epochs_to_the_reference(tmp_path: Path) -> None:
    """The reference chose epoch 7 and got there first in epoch 4; the variant does in epoch 2."""
    reference, variant = [0.1, 0.2, 0.3, 0.6, 0.5, 0.5, 0.6, 0.4], [0.2, 0.6, 0.7, 0.7]

    def with_curve(result: VariantResult, curve: list[float]) -> VariantResult:
        return result.model_copy(update={"runs": [r.model_copy(update={"val_accuracy": curve}) for r in result.runs]})

    base = with_curve(quality_of("baseline", [0.0] * 5), reference).model_copy(
        update={"reference": None, "reference_runs": []}
    )
    ours = with_curve(quality_of("v"), variant).model_copy(update={"reference": None})
    found = measured(spec_of(tmp_path, [base, ours]), quantity="epochs_to_reference_ratio", variant="v")
    half = 2.776445 * (0.5 / 2.0) / math.sqrt(5)  # epochs that agree are known to half a step: t of 4
    assert found.ci == pytest.approx((2.0 * math.exp(-half), 2.0 * math.exp(half)))
    late = with_curve(ours, [0.1, 0.2])
    never = measured(spec_of(tmp_path, [base, late]), quantity="epochs_to_reference_ratio", variant="v")
    assert never.reason == "seed 0 of `v` never reached its reference's accuracy"


def test_the_file_says_where_it_comes_from(tmp_path: Path) -> None:
    base, records = runs_with("baseline", counted((1000, 10), (1200, 12)))
    results = spec_of(tmp_path, [base], {"control": timing_of("baseline")}, records)
    wanted = [(Measure(quantity="counter", path="counters.nodes"), None)] * 2
    found = measure_all(results, wanted, lambda _: None, "snakemake x")
    assert len(found.measured) == 1  # asked for twice, measured once
    assert (found.command, found.date, found.fingerprint) == ("snakemake x", "2026-11-30T02:00:00+00:00", "f")
    assert (found.threads, found.environment) == (
        {"quality": 1, "timing": 2},
        {"torch": "2.13.0", "cpu": "a processor"},
    )
    assert type(found).model_validate_json(found.model_dump_json()) == found
