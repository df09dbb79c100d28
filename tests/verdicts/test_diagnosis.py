"""Where the time goes, in words: golden sentences over stages whose shares are known."""

from __future__ import annotations

from typing import Any

import pytest

from harness.plan.model import Comparison
from harness.records.record import StageProfile, Stages
from harness.records.results import Block, TimedProcess, TimingResult
from harness.reports.details import facts
from harness.reports.figures.stage_shares import stage_shares
from harness.reports.tables import reference_cells
from harness.spec.options import Options
from harness.verdicts.analyze import analyze
from harness.verdicts.diagnosis import ceiling_text
from harness.verdicts.diagnosis_model import Diagnosis, ToggleCeiling
from tests.verdicts.results import ENVIRONMENT, SAME, baseline_of, plan_of, quality_of, skipped, timing_of

ARTICLE = (0.32, 0.26, 0.28, 0.14)  # a published step's shares: sample, fetch, compute, update
ON_DEVICE = (0.05, 0.05, 0.80, 0.10)
COMPUTES = (0.10, 0.05, 0.75, 0.10)


def stages(sample: float, fetch: float, compute: float, update: float) -> Stages:
    return Stages(sample_s=sample, fetch_s=fetch, compute_s=compute, update_s=update)


def profiled(
    timing: TimingResult,
    reference: tuple[float, ...],
    variant: tuple[float, ...],
    jitter: float = 0.0,
    **of_variant: Any,
) -> TimingResult:
    """With a profile of each process; every other pair's seconds are `jitter` longer in both arms alike."""

    def process(p: TimedProcess, index: int) -> TimedProcess:
        seconds = reference if p.arm == "reference" else variant
        content = {"epoch": 8, "batches": 4, "nodes": 400, "edges": 2000, "batches_crc32": index} | (
            of_variant if p.arm == "variant" else {}
        )
        return p.model_copy(
            update={"profile": StageProfile(stages=stages(*(s + jitter * (index % 2) for s in seconds)), **content)}
        )

    blocks = [
        Block(index=b.index, other_load=0.0, processes=[process(p, b.index) for p in b.processes])
        for b in timing.blocks
    ]
    return timing.model_copy(update={"blocks": blocks})


def diagnosis_of(
    reference: tuple[float, ...],
    patches: dict[str, dict[str, Any]],
    timings: dict[str, TimingResult],
    options: Options | None = None,
    skips: dict[str, str] | None = None,
) -> Diagnosis:
    plan = plan_of(
        *(Comparison(variant=name) for name in patches),
        patches=patches,
        skipped=[skipped(name, reason) for name, reason in (skips or {}).items()],
    )
    if options is not None:
        base = plan.cells["baseline"].model_copy(update={"options": options})
        plan = plan.model_copy(update={"cells": plan.cells | {"baseline": base}})
    control = profiled(timing_of("control", SAME), reference, reference)
    variants = {"baseline": baseline_of()} | {name: quality_of(name) for name in patches}
    return analyze(plan, variants, {"control": control} | timings).diagnosis


def row(found: Diagnosis, option: str) -> ToggleCeiling:
    return next(r for r in found.toggles if r.option == option)


def test_the_articles_step_waits_for_its_data() -> None:
    found = diagnosis_of(ARTICLE, {}, {})
    assert (found.bottleneck, found.more_machines) == ("data", "not-yet")
    assert found.data_share == pytest.approx(0.58)
    assert found.sentences == [
        "The bottleneck of baseline is the data side, 58 % of a step (sample 32 %, fetch 26 %, compute 28 %, "
        "update 14 %).",
        "Try first: a background loader (loader.threads). Sample and fetch are 58 % of a step: at most 2.38 "
        "times if that took no time at all; nothing here tried it.",
        "More machines make no sense yet: the data side takes 58 % of a step (over half) and no loader overlaps it "
        "(loader.threads: 0), so that more devices would wait as well.",
    ]


def test_ceilings_are_amdahls_and_the_largest_comes_first() -> None:
    found = diagnosis_of(ARTICLE, {}, {})
    ceilings = {r.option: r.ceiling for r in found.toggles}
    assert ceilings["loader.threads"] == pytest.approx(1 / 0.42)
    assert ceilings["features.cache_ratio"] == pytest.approx(1 / 0.74)
    assert ceilings["aggregation"] == pytest.approx(1 / 0.72)
    assert ceilings["training.accumulate"] == pytest.approx(1 / 0.86)
    assert ceilings["sampling.fanout"] is None  # every stage has less to do: nothing bounds it
    assert next(r.option for r in found.toggles) == "loader.threads"
    assert row(found, "features.home").closed == "the device's memory is the host's on the CPU"


def test_what_was_reached_stands_beside_the_ceiling() -> None:
    loaders = {f"loader-{n}": {"loader.threads": n} for n in (1, 2)}
    timings = {"loader-1": timing_of("loader-1", SAME), "loader-2": timing_of("loader-2", [1.10, 1.11, 1.09, 1.10])}
    found = diagnosis_of(ARTICLE, loaders, timings)
    assert row(found, "loader.threads").tried == ["loader-1", "loader-2"]
    assert row(found, "loader.threads").best == "loader-2"
    assert found.sentences[1] == (
        "Most room is left to a background loader (loader.threads): sample and fetch are 58 % of a step: at most "
        "2.38 times if that took no time at all; loader-2 gave 1.10 [1.08, 1.12]. Not tried: another aggregation "
        "(aggregation), 28 % of a step: at most 1.39 times if that took no time at all."
    )


def test_a_toggle_that_gained_nothing_or_is_on_or_skipped_has_no_room() -> None:
    on = Options().model_copy(update={"loader": Options().loader.model_copy(update={"threads": 2})})
    found = diagnosis_of(
        ARTICLE,
        {"spmm": {"aggregation": "spmm"}},
        {"spmm": timing_of("spmm", [0.8, 0.81, 0.8, 0.79])},
        on,
        {"x": "not here"},
    )
    assert row(found, "loader.threads").closed == "on in the baseline"
    assert row(found, "aggregation").reached == pytest.approx(0.8, abs=0.01)
    assert found.sentences[1].startswith(
        "Try first: a feature cache (features.cache_ratio). Fetch is 26 % of a step: at most 1.35 times"
    )
    assert (found.more_machines, found.sentences[2]) == (
        "loader-behind",
        "The loader does not keep up: the model waits for data in 58 % of a step although loader.threads is 2; more "
        "devices would wait as well unless each brings its own processors.",
    )
    only_skipped = diagnosis_of(ARTICLE, {}, {}, skips={"x": "spmm is not here"})
    assert row(only_skipped, "aggregation").closed == "spmm is not here"


def test_half_precision_is_the_last_hint_on_a_cpu_without_instructions_for_it() -> None:
    untried = row(diagnosis_of(ON_DEVICE, {}, {}), "precision")
    assert (untried.tried, untried.closed, untried.state) == ([], "", None)
    assert untried.doubt == "often slower on a CPU without bf16 instructions, and only a timing tells"
    timing = timing_of("bf16", [1.3, 1.31] * 2)
    found = diagnosis_of(ON_DEVICE, {"bf16": {"precision": "bf16"}}, {"bf16": timing})
    assert (row(found, "precision").doubt, row(found, "precision").state) == ("", "gain")
    assert found.sentences[1].startswith("Most room is left to lower precision")
    for instructions, doubt, hint in (
        ([], "often slower on a CPU that has no bf16 instructions, as this one", "another aggregation"),
        (["bf16"], "", "lower precision"),
    ):
        spmm = timing_of("spmm", SAME, environment=ENVIRONMENT | {"half_instructions": instructions})
        plan = plan_of(Comparison(variant="v"), patches={"v": {"checkpointing": True}})
        timings = {"v": profiled(spmm.model_copy(update={"variant": "v"}), ON_DEVICE, ON_DEVICE)}
        told = analyze(plan, {"baseline": baseline_of(), "v": quality_of("v")}, timings).diagnosis
        assert row(told, "precision").doubt == doubt
        assert told.sentences[1].startswith(f"Try first: {hint} (")


def test_only_a_toggle_that_is_shown_not_to_gain_has_no_room_left() -> None:
    """Few blocks of a noisy machine decide nothing, whichever way their mean points; nor do disturbed ones."""
    patches = {"bf16": {"precision": "bf16"}, "spmm": {"aggregation": "spmm"}, "cache": {"features.cache_ratio": 0.3}}
    gaining = {"bf16": timing_of("bf16", [0.9, 1.2, 1.0, 1.1]), "spmm": timing_of("spmm", [1.12, 1.13] * 2)}
    slower = {"cache": timing_of("cache", [0.8, 0.81, 0.8, 0.79])}
    found = diagnosis_of(COMPUTES, patches, gaining | slower)
    assert [row(found, o).state for o in ("precision", "aggregation", "features.cache_ratio")] == [
        "undecided",
        "gain",
        "no-gain",
    ]
    assert found.sentences[1].startswith(
        "Most room is left to lower precision (precision): compute and update are 85 % of a step: at most 6.67 times "
        "if that took no time at all; bf16 gave 1.04 ["
    )
    assert (
        "], which is undecided: more timing blocks decide. Then to another aggregation (aggregation): compute is 75 % "
        "of a step: at most 4.00 times if that took no time at all; spmm gave 1.12 [1.11, 1.14]. Not tried: "
    ) in found.sentences[1]
    lost = diagnosis_of(COMPUTES, patches, {"spmm": timing_of("spmm", [0.1, 3.0, 0.9, 0.7])} | slower)
    assert row(lost, "aggregation").state == "undecided"
    assert "which is undecided: more timing blocks decide" in lost.sentences[1]
    beside_load = diagnosis_of(COMPUTES, patches, {"spmm": _with_load(timing_of("spmm", [0.8, 0.81] * 2), 1)})
    assert row(beside_load, "aggregation").undecided == "1 of 2 blocks disturbed, so that it takes a quiet machine"


def test_a_trial_that_is_shown_to_gain_stands_for_its_toggle_before_a_faster_undecided_one() -> None:
    patches = {"loader-1": {"loader.threads": 1}, "loader-2": {"loader.threads": 2}}
    timings = {"loader-1": timing_of("loader-1", [1.2, 1.21] * 2), "loader-2": timing_of("loader-2", [0.8, 2.4] * 2)}
    found = row(diagnosis_of(ARTICLE, patches, timings), "loader.threads")
    assert (found.best, found.state, found.undecided) == ("loader-1", "gain", "")


def test_a_ceiling_that_nobody_comes_near_is_not_printed() -> None:
    """98.7 % of a step: 1 / .013 is 77 times, which promises what no option gives."""
    timings = {"spmm": timing_of("spmm", [1.12, 1.13] * 2)}
    found = diagnosis_of((0.005, 0.004, 0.987, 0.004), {"spmm": {"aggregation": "spmm"}}, timings)
    assert row(found, "aggregation").ceiling == pytest.approx(1 / 0.013)
    assert found.sentences[1] == (
        "Most room is left to another aggregation (aggregation): compute is 99 % of a step, which sets no useful "
        "ceiling; spmm gave 1.12 [1.11, 1.14]. Not tried: lower precision (precision), 99 % of a step, which sets no "
        "useful ceiling; often slower on a CPU without bf16 instructions, and only a timing tells."
    )
    assert (ceiling_text(77.0), ceiling_text(4.681), ceiling_text(None)) == ("over 10", "4.68", "–")


def _with_load(timing: TimingResult, *indices: int) -> TimingResult:
    blocks = [b.model_copy(update={"disturbed": b.index in indices}) for b in timing.blocks]
    return timing.model_copy(update={"blocks": blocks})


def test_disturbed_blocks_say_nothing_of_the_stages_where_others_are_there() -> None:
    """Of two blocks, the second's stages are 0.1 s longer each."""
    patches: dict[str, dict[str, Any]] = {"spmm": {"aggregation": "spmm"}}
    plan = plan_of(Comparison(variant="spmm"), patches=patches)
    variants = {"baseline": baseline_of(), "spmm": quality_of("spmm")}
    timing = profiled(timing_of("spmm", [1.1] * 4), ARTICLE, (0.32, 0.26, 0.20, 0.14), jitter=0.1)
    found = analyze(plan, variants, {"spmm": _with_load(timing, 1)})
    profile, costs, (gain,) = found.diagnosis.baseline, found.comparisons[0].costs, found.diagnosis.gains
    assert profile is not None
    assert (profile.processes, profile.left_out, profile.disturbed, gain.disturbed) == (2, 2, False, False)
    assert [t.seconds for t in profile.stages] == pytest.approx(ARTICLE)
    assert costs.reference_stages == stages(*ARTICLE)
    assert not costs.stages_disturbed
    all_of_it = analyze(plan, variants, {"spmm": _with_load(timing, 0, 1)})
    profile, costs, (gain,) = all_of_it.diagnosis.baseline, all_of_it.comparisons[0].costs, all_of_it.diagnosis.gains
    assert profile is not None
    assert (profile.processes, profile.left_out, profile.disturbed) == (4, 0, True)
    assert profile.stages[0].seconds == pytest.approx(0.37)
    assert costs.stages_disturbed
    assert "Something outside disturbed the timing blocks that these shares are of: they may be off." in (
        all_of_it.diagnosis.sentences
    )
    assert gain.sentences[0] == "Something outside disturbed its timing blocks: its stages may be off."
    caption = stage_shares(all_of_it).caption
    assert "Of disturbed blocks, since there are no others: baseline (ref.), spmm." in caption
    assert "disturbed" not in stage_shares(found).caption


def test_the_baselines_stages_and_epoch_are_the_same_wherever_they_stand() -> None:
    """Of the undisturbed blocks of any timing: where the variant's were all disturbed, of the control's."""
    plan = plan_of(Comparison(variant="spmm"), patches={"spmm": {"aggregation": "spmm"}})
    slow = tuple(30.0 * seconds for seconds in ARTICLE)
    loaded = profiled(timing_of("spmm", [1.1] * 4), slow, slow)
    loaded = _with_load(_thirty_times_as_long(loaded), 0, 1)
    timings = {"spmm": loaded, "control": profiled(timing_of("control", SAME), ARTICLE, ARTICLE)}
    found = analyze(plan, {"baseline": baseline_of(), "spmm": quality_of("spmm")}, timings)
    (reference,), speed = found.references, found.comparisons[0].speed
    assert (reference.epoch_s, reference.epoch_disturbed) == (pytest.approx(1.0, abs=0.01), False)
    assert (speed.reference_epoch_s, speed.epochs_disturbed) == (pytest.approx(30.0), True)
    assert reference_cells(found)[0][2] == "1 s an epoch"
    assert "of disturbed blocks since there are no others" in dict(facts(found.comparisons[0], found))["an epoch"]
    figure = stage_shares(found)
    assert figure.data is not None
    lengths = [seconds for name, _, seconds, _ in figure.data.rows if name == "baseline (ref.)"][:4]
    assert found.diagnosis.baseline is not None
    assert lengths == pytest.approx([t.seconds for t in found.diagnosis.baseline.stages])
    assert lengths == pytest.approx(ARTICLE)
    assert "since there are no others: spmm. Such a bar's length is not to be compared" in figure.caption
    alone = analyze(plan, {"baseline": baseline_of(), "spmm": quality_of("spmm")}, {"spmm": loaded})
    assert reference_cells(alone)[0][5] == (
        "mean of 5 runs; median epoch (of disturbed blocks, since there are no others) and peak memory"
    )


def _thirty_times_as_long(timing: TimingResult) -> TimingResult:
    def slowed(p: TimedProcess) -> TimedProcess:
        return p.model_copy(update={"epoch_s": [30.0 * s for s in p.epoch_s]})

    blocks = [b.model_copy(update={"processes": [slowed(p) for p in b.processes]}) for b in timing.blocks]
    return timing.model_copy(update={"blocks": blocks})


def test_a_step_that_computes_is_not_kept_waiting() -> None:
    found = diagnosis_of(ON_DEVICE, {}, {})
    assert (found.bottleneck, found.more_machines) == ("compute", "open")
    assert found.sentences[0] == (
        "The bottleneck of baseline is compute, 80 % of a step (sample 5 %, fetch 5 %, compute 80 %, update 10 %); the "
        "data side takes 10 %."
    )
    assert found.sentences[2].startswith("The stages do not speak against more machines: the data side takes 10 %")


def test_the_clocks_cost_and_the_spread_over_processes_are_told() -> None:
    found = diagnosis_of((0.4, 0.3, 0.3, 0.3), {}, {})  # 1.3 s, beside timed epochs of 1.0 s
    assert found.baseline is not None
    assert (found.baseline.processes, found.baseline.slower) == (8, pytest.approx(1.3, abs=0.02))
    assert found.sentences[1] == (
        "The epoch in which stages were looked at took 1.30 times a timed one: read shares as shares of that epoch, "
        "not as a timed step's."
    )
    apart = profiled(timing_of("control", SAME), ARTICLE, ARTICLE, jitter=0.1)
    plan = plan_of()
    (sample, *_) = analyze(plan, {"baseline": baseline_of()}, {"control": apart}).diagnosis.baseline.stages  # type: ignore[union-attr]
    assert (sample.lowest, sample.highest) == (pytest.approx(0.42 / 1.4), pytest.approx(0.32))
    assert sample.seconds == pytest.approx(0.37)


def test_a_gain_comes_from_its_stages_and_one_that_did_not_get_shorter_is_named() -> None:
    after = (0.05, 0.26, 0.30, 0.14)
    timing = profiled(timing_of("loader-2", [1.33] * 4), ARTICLE, after, jitter=0.01, wait_s=0.04)
    (gain,) = diagnosis_of(ARTICLE, {"loader-2": {"loader.threads": 2}}, {"loader-2": timing}).gains
    assert (gain.same_batches, gain.wait_s, gain.nodes_ratio) == (True, pytest.approx(0.04), 1.0)
    assert gain.slower == pytest.approx((0.75 + 0.02) * 1.33, abs=0.03)
    assert [s.seconds for s in gain.savings] == [pytest.approx(x, abs=1e-12) for x in (0.27, 0.0, -0.02, 0.0)]
    assert gain.sentences == [
        "The gain (1.33 times) is 250 ms an epoch less than baseline: sample 270 ms shorter, compute 20 ms longer.",
        "It is to shorten sample and fetch; fetch did not get shorter.",
        "Its sample is the wait for the loader's next batch: 40 ms of an epoch.",
    ]


def test_what_makes_up_a_sum_is_named_first_and_what_hardly_adds_to_it_not_at_all() -> None:
    """Compute takes 159 ms less on average, in an interval that contains zero; fetch 0.2 ms longer, clearly."""
    after = (ARTICLE[0], ARTICLE[1] + 0.0002, ARTICLE[2] - 0.159, ARTICLE[3])
    timing = profiled(timing_of("spmm", SAME), ARTICLE, after)

    def shifted(block: Block) -> Block:
        sign = -1.0 if block.index else 1.0
        return block.model_copy(
            update={
                "processes": [_computing_longer(p, 0.1 * sign) if p.arm == "variant" else p for p in block.processes]
            }
        )

    timing = timing.model_copy(update={"blocks": [shifted(b) for b in timing.blocks]})
    (gain,) = diagnosis_of(ARTICLE, {"spmm": {"aggregation": "spmm"}}, {"spmm": timing}).gains
    assert gain.sentences[0] == (
        "No gain is shown; its stages take 159 ms an epoch less than baseline: compute 159 ms shorter (its interval "
        "contains zero)."
    )


def _computing_longer(process: TimedProcess, by: float) -> TimedProcess:
    assert process.profile is not None
    longer = process.profile.stages.model_copy(update={"compute_s": process.profile.stages.compute_s + by})
    return process.model_copy(update={"profile": process.profile.model_copy(update={"stages": longer})})


def test_other_batches_are_compared_only_where_the_variant_draws_them() -> None:
    half = {"nodes": 200, "edges": 500, "batches_crc32": 99}
    thin = profiled(timing_of("thin", [2.0] * 4), ARTICLE, (0.16, 0.13, 0.14, 0.14), **half)
    (gain,) = diagnosis_of(ARTICLE, {"thin": {"sampling.fanout": [5, 5]}}, {"thin": thin}).gains
    assert gain.same_batches is False
    assert gain.sentences[-1] == "Its batches are others by design: 0.50 times the nodes and 0.25 times the edges."
    wrong = profiled(timing_of("spmm", [2.0] * 4), ARTICLE, ARTICLE, **half)
    other_epoch = profiled(timing_of("thin", [2.0] * 4), ARTICLE, ARTICLE, epoch=9)
    for patch, timing, why in (
        ({"aggregation": "spmm"}, wrong, "of other batches, though it changes none"),
        ({"sampling.fanout": [5, 5]}, other_epoch, "of another epoch"),
    ):
        (gain,) = diagnosis_of(ARTICLE, {timing.variant: patch}, {timing.variant: timing}).gains
        assert gain.savings == []
        assert gain.sentences == [f"Its stages are not compared with baseline's: they are {why}."]


def test_results_without_a_profile_of_each_process_give_their_means() -> None:
    timing = timing_of("v", reference_stages=stages(*ARTICLE), variant_stages=stages(0.32, 0.06, 0.28, 0.14))
    plan = plan_of(Comparison(variant="v"), patches={"v": {"features.cache_ratio": 0.3}})
    found = analyze(plan, {"baseline": baseline_of(), "v": quality_of("v")}, {"v": timing}).diagnosis
    assert found.baseline is not None
    assert (found.baseline.processes, found.baseline.slower, found.bottleneck) == (0, None, "data")
    assert found.gains[0].same_batches is None
    assert found.gains[0].savings[1].ci is None
    assert "fetch 200 ms shorter" in found.gains[0].sentences[0]


def test_without_timing_nothing_is_said() -> None:
    assert analyze(plan_of(), {"baseline": baseline_of()}, {}).diagnosis == Diagnosis()
