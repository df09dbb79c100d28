"""The timing job: A B B A in fresh processes, judged at looks, repeated for load and never for a ratio."""

from __future__ import annotations

import math
import re

import pytest

from harness.plan.version import TIMING_VERSION
from harness.records.results import SeedRun, VariantResult
from harness.records.store import RecordStore
from harness.runs import surroundings, timing
from harness.runs.surroundings import Surroundings, Watch
from harness.runs.timing import not_worth_timing, time_variant
from harness.spec.schema import Seeds, Timing


class Decide:
    def __init__(self, *answers: bool) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, log_ratios, look_index):
        self.asked.append((list(log_ratios), look_index))
        return self.answers.pop(0) if self.answers else True


@pytest.fixture
def others(monkeypatch):
    """What the machine did beside each block tried, or the load of others alone; quiet when they run out."""
    loads: list[float | Surroundings] = []

    class Planted(Watch):
        def read(self) -> Surroundings:
            found = loads.pop(0) if loads else 0.0
            return found if isinstance(found, Surroundings) else Surroundings(found)

    monkeypatch.setattr(timing, "Watch", Planted)
    monkeypatch.setattr(timing, "wait_for_quiet", lambda threads, say, patience_s: 0.0)
    monkeypatch.setattr(surroundings, "too_loaded", lambda load, threads: load > 0.25)
    return loads


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def job(graph_path, tmp_path, children, lines, locks, others):
    def run(plan, decide=None, execute="outcome"):
        return time_variant(
            plan,
            graph_path,
            tmp_path / "results",
            decide=decide or Decide(),
            progress=lines.append,
            engine=children(execute),
        )

    return run


def timed(graph_path):
    """Processes that ran, as `hidden seed`."""
    return [" ".join(line.split()[:2]) for line in (graph_path / "trained").read_text().splitlines()]


def test_a_block_is_reference_variant_variant_reference_with_one_seed(job, plan_of, graph_path):
    result = job(plan_of(seeds=Seeds(looks=(3,), first=7)), Decide(True))
    assert timed(graph_path) == ["32 7", "16 7", "16 7", "32 7", "32 8", "16 8", "16 8", "32 8"]
    assert [p.arm for p in result.blocks[0].processes] == ["reference", "variant", "variant", "reference"]
    assert [len(p.epoch_s) for p in result.blocks[0].processes] == [3] * 4
    assert result.status == "ok"


def test_each_process_is_fresh_and_has_a_record(job, plan_of, tmp_path):
    result = job(plan_of(), Decide(True))
    store = RecordStore(tmp_path / "results" / "runs")
    records = [store.read(p.run_id) for block in result.blocks for p in block.processes]
    assert len({r.environment["pid"] for r in records}) == len(records) == 8
    assert {r.purpose for r in records} == {"timing"}


def test_log_ratios_are_reference_over_variant_two_a_block(job, plan_of):
    result = job(plan_of(hidden=16, reference=32), Decide(True))
    assert result.log_ratios == pytest.approx([math.log(2.0)] * 4)
    assert result.memory_log_ratios == pytest.approx([math.log(2.0)] * 4)


def test_the_result_says_whose_it_is_and_what_each_arm_prepared(job, plan_of):
    result = job(plan_of(hidden=16, reference=32), Decide(True))
    assert (result.cell_id, result.reference_cell_id, result.fingerprint) == ("cell-16", "cell-32", "f" * 64)
    assert result.timing_version == TIMING_VERSION
    assert result.preprocess_s == result.reference_preprocess_s == {"partition_s": 1.5}


def test_it_is_judged_at_looks_only_and_a_decision_ends_it(job, plan_of):
    decide = Decide(False, True)
    looks = Timing(looks=(4, 8, 10), warmup_epochs=1, epochs=2, max_repeats=0)
    result = job(plan_of(timing=looks), decide)
    assert [(len(ratios), index) for ratios, index in decide.asked] == [(4, 0), (8, 1)]
    assert len(result.blocks) == 4


def test_a_timing_is_never_taken_from_the_store(job, plan_of, graph_path):
    first, second = job(plan_of(), Decide(True)), job(plan_of(), Decide(True))
    assert len(timed(graph_path)) == 16
    ids = [p.run_id for result in (first, second) for block in result.blocks for p in block.processes]
    assert len(set(ids)) == 16


def test_the_control_is_the_baseline_against_itself(job, plan_of, graph_path):
    result = job(plan_of(hidden=32, reference=None), Decide(True))
    assert set(timed(graph_path)) == {"32 0", "32 1"}
    assert result.log_ratios == [0.0] * 4


def test_a_loaded_block_is_repeated_and_only_the_quiet_one_counts(job, plan_of, others, lines):
    others += [1.0, 0.1, 0.0]
    looks = Timing(looks=(4,), warmup_epochs=1, epochs=2, max_repeats=3)
    result = job(plan_of(timing=looks))
    assert [(b.repeats, b.disturbed, b.other_load) for b in result.blocks] == [(1, False, 0.1), (0, False, 0.0)]
    assert len(result.log_ratios) == 4
    assert lines[0] == "thin: block 1 is repeated: others kept 1.0 CPUs busy"


def test_when_repeats_run_out_over_all_blocks_the_loaded_block_is_kept_and_marked(job, plan_of, others):
    others += [1.0, 0.0, 2.0, 3.0]
    looks = Timing(looks=(4,), warmup_epochs=1, epochs=2, max_repeats=2)
    result = job(plan_of(timing=looks))
    assert [(b.repeats, b.disturbed, b.other_load) for b in result.blocks] == [(1, False, 0.0), (1, True, 3.0)]


def test_stolen_time_a_quota_and_a_changed_clock_disturb_a_block_too(job, plan_of, others, lines):
    """Each is repeated, and told in words; what is kept says what by."""
    slower = (3000.0, 2990.0, 2400.0, 2600.0)
    others += [Surroundings(0.0, steal_share=0.05), Surroundings(0.1, 0.0, 0.04), Surroundings(0.0, None, None, slower)]
    looks = Timing(looks=(4,), warmup_epochs=1, epochs=2, max_repeats=2)
    result = job(plan_of(timing=looks))
    assert lines[:2] == [
        "thin: block 1 is repeated: the hypervisor gave 5 % of the CPUs' time to others",
        "thin: block 1 is repeated: the CPU quota held it back for 4 % of the time",
    ]
    first, second = result.blocks
    assert (first.repeats, first.disturbed, first.clock_mhz) == (2, True, (2400.0, 3000.0))
    words = ["the reference ran at 2,600 and at 3,000 MHz", "the variant ran at 2,400 and at 2,990 MHz"]
    assert first.disturbed_by == words
    assert lines[2].startswith(f"thin block 1/2 ratios 2.000 2.000, disturbed: {', '.join(words)}")
    assert (second.disturbed, second.disturbed_by, second.steal_share, second.clock_mhz) == (False, [], None, None)


def test_a_process_that_never_settled_is_kept_and_told(job, plan_of, lines):
    result = job(plan_of(), Decide(True), execute="restless")
    assert [p.settled for p in result.blocks[0].processes] == [False] * 4
    assert result.blocks[0].processes[0].warmup_s == [9.0]
    assert not result.blocks[0].disturbed
    assert lines[0].startswith("thin block 1/2 ratios 2.000 2.000, 4 of its processes never settled")


def test_a_variant_that_fails_is_dnf_with_the_reason(job, plan_of):
    result = job(plan_of(hidden=17), execute="fail_above")
    assert (result.status, result.reason) == ("dnf", "error: ValueError: an odd hidden size")
    assert result.log_ratios == []
    assert [(p.arm, p.status) for p in result.blocks[0].processes] == [("reference", "ok"), ("variant", "error")]


def test_a_reference_that_fails_is_skipped_with_the_reason(job, plan_of):
    result = job(plan_of(hidden=16, reference=33), execute="fail_above")
    assert result.status == "skipped"
    assert result.reason == "the reference failed: error: ValueError: an odd hidden size"
    assert len(result.blocks[0].processes) == 1


def test_stages_costs_and_settings_are_kept(job, plan_of):
    result = job(plan_of(timing_threads=2), Decide(True))
    assert result.variant_stages.compute_s == pytest.approx(0.3)
    assert result.reference_stages.update_s == pytest.approx(0.4)
    assert result.preprocess_s == {"partition_s": 1.5}
    assert result.counters["threads"] == "2"
    assert (result.threads, result.device, result.variant, result.reference) == (2, "cpu", "thin", "baseline")


def test_a_memory_goal_is_judged_on_peaks(job, plan_of, monkeypatch):
    decide = Decide(True)
    monkeypatch.setattr(timing, "_log_ratios", lambda block: (9.0, 9.0))
    job(plan_of(goal="memory"), decide)
    assert decide.asked == [([pytest.approx(math.log(2.0))] * 4, 0)]


def test_peaks_of_a_process_are_not_exact_but_allocator_bytes_that_never_vary_are():
    from harness.records.record import Memory, Record

    def records(kind, *peaks):
        return [Record.model_construct(memory=Memory(peak_bytes=p, kind=kind)) for p in peaks]

    assert timing._exact(records("cuda_allocated", 5, 5, 5))
    assert not timing._exact(records("cuda_allocated", 5, 6))
    assert not timing._exact(records("rss", 5, 5))
    assert not timing._exact([])


def test_progress_says_ratios_and_what_is_left(job, plan_of, lines):
    job(plan_of(), Decide(True), execute="slow")
    assert re.fullmatch(r"thin block 1/2 ratios 2\.000 2\.000 · about \d+:\d\d left", lines[0])
    assert lines[1] == "thin block 2/2 ratios 2.000 2.000"


@pytest.mark.parametrize(("variant", "reference"), [("oom", "ok"), ("ok", "oom")])
def test_what_could_not_train_is_not_timed(plan_of, variant, reference):
    def runs(status):
        return [SeedRun(seed=s, run_id=f"{status}{s}", status=status, message="no room") for s in range(2)]

    def quality(variant, reference):
        return VariantResult(
            variant="thin",
            cell_id="cell-16",
            reference="baseline",
            reference_cell_id="cell-32",
            runs=runs(variant),
            reference_runs=runs(reference),
            threads=1,
            device="cpu",
        )

    assert not_worth_timing(plan_of(), quality("ok", "ok")) is None
    skipped = not_worth_timing(plan_of(), quality(variant, reference))
    assert (skipped.status, skipped.blocks) == ("skipped", [])
    assert (skipped.cell_id, skipped.reference_cell_id) == ("cell-16", "cell-32")
    assert re.fullmatch(r"(its|the reference's) quality runs failed: oom: no room", skipped.reason)
    assert skipped.reason.startswith("its") is (variant == "oom")
    some = quality("ok", "ok")
    some = some.model_copy(update={"runs": [*runs(variant), *runs("ok")], "reference_runs": runs("ok")})
    assert not_worth_timing(plan_of(), some) is None


def test_a_baseline_that_could_not_train_has_no_control(plan_of):
    failed = [SeedRun(seed=0, run_id="a", status="timeout")]
    quality = VariantResult(variant="baseline", cell_id="cell-32", runs=failed, threads=1, device="cpu")
    skipped = not_worth_timing(plan_of(hidden=32, reference=32), quality)
    assert skipped.reason == "its quality runs failed: timeout"
