"""The quality job: look by look, the reference's runs shared, failures kept as rows."""

from __future__ import annotations

import json
import re

import pytest

from harness.records.record import Record
from harness.records.store import RecordStore
from harness.runs import job as run_job
from harness.runs import supervisor
from harness.runs.job import run_variant
from harness.runs.remaining import Remaining
from harness.spec.errors import InputError
from harness.spec.options import Options
from harness.spec.schema import Gate, Seeds


class Decide:
    """Answers from a list, and keeps what it was asked."""

    def __init__(self, *answers: bool) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, reference, variant, predictions_equal, test_nodes):
        self.asked.append((reference, variant, predictions_equal, test_nodes))
        return self.answers.pop(0) if self.answers else True


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def job(graph_path, tmp_path, children, lines, locks):
    def run(plan, decide=None, execute="outcome", parity="parity", drawing="drawing"):
        return run_variant(
            plan,
            graph_path,
            tmp_path / "results",
            decide=decide or Decide(),
            progress=lines.append,
            engine=children(execute, parity, drawing),
        )

    return run


@pytest.fixture
def trained(graph_path):
    """Trainings that really happened, as `hidden seed`."""

    def read():
        path = graph_path / "trained"
        return [" ".join(line.split()[:2]) for line in path.read_text().splitlines()] if path.exists() else []

    return read


def test_a_decided_first_look_ends_the_job(job, plan_of, trained):
    decide = Decide(True)
    result = job(plan_of(), decide)
    assert trained() == ["16 0", "16 1", "16 2", "32 0", "32 1", "32 2"]
    assert [r.seed for r in result.runs] == [r.seed for r in result.reference_runs] == [0, 1, 2]
    assert [r.metric for r in result.runs] == pytest.approx([0.90, 0.89, 0.88])
    metrics = [r.metric for r in result.runs]
    assert decide.asked == [(metrics, metrics, False, 3)]
    assert [r.val_accuracy for r in result.runs] == [[0.5]] * 3
    assert (result.variant, result.reference, result.threads, result.device) == ("thin", "baseline", 1, "cpu")
    assert result.test_nodes == 3
    assert result.fingerprint == "f" * 64
    assert result.environment["threads"] == 1
    assert result.counters["partition_s"] == 1.5
    assert [r.spread_by_layer for r in result.runs] == [[0.9, 0.4, None, 0.5]] * 3
    assert [(r.embedding_spread, r.over_smoothed) for r in result.runs] == [(None, True)] * 3


def test_an_undecided_look_adds_only_the_missing_seeds(job, plan_of, trained):
    decide = Decide(False, False)
    result = job(plan_of(), decide)
    assert len(result.runs) == len(result.reference_runs) == 5
    assert trained()[6:] == ["16 3", "16 4", "32 3", "32 4"]
    assert [len(asked[0]) for asked in decide.asked] == [3, 5]


def test_seeds_start_where_the_spec_says(job, plan_of):
    result = job(plan_of(seeds=Seeds(looks=(3,), first=100)))
    assert [r.seed for r in result.runs] == [100, 101, 102]


def test_the_same_job_again_trains_nothing_and_the_reference_is_shared(job, plan_of, trained):
    first = job(plan_of())
    assert job(plan_of()) == first
    job(plan_of(hidden=48))
    assert trained()[6:] == ["48 0", "48 1", "48 2"]


def test_a_run_that_another_job_makes_is_waited_for_and_not_told_again(job, plan_of, lines, tmp_path, monkeypatch):
    done = job(plan_of())
    records = tmp_path / "results" / "runs"
    store, theirs = RecordStore(records), done.reference_runs[1].run_id
    text = store.path(theirs).read_text()
    store.path(theirs).unlink()
    lines.clear()

    def finish(lock, poll_s):
        store.path(theirs).write_text(text)
        lock_of_theirs.release()
        lock.acquire()

    lock_of_theirs = store.lock(theirs)
    monkeypatch.setattr(supervisor, "wait_for_lock", finish)
    with lock_of_theirs:
        assert job(plan_of()) == done
    assert lines == ["thin: waiting for baseline seed 1, which another job is training"]


def test_a_removed_record_alone_is_made_again(job, plan_of, trained, tmp_path):
    result = job(plan_of())
    RecordStore(tmp_path / "results" / "runs").path(result.runs[1].run_id).unlink()
    job(plan_of())
    assert trained()[6:] == ["16 1"]


@pytest.mark.parametrize(
    ("package", "batching", "again"),
    [("torch-geometric", "full", 6), ("pymetis", "cluster", 6), ("pymetis", "full", 0)],
)
def test_runs_of_another_library_are_not_taken(job, plan_of, trained, monkeypatch, package, batching, again):
    def cut(cell):
        return cell.model_copy(update={"options": Options(batching=batching)})

    plan = plan_of()
    plan = plan.model_copy(update={"cell": cut(plan.cell), "reference": cut(plan.reference)})
    job(plan)
    real = run_job.version
    monkeypatch.setattr(run_job, "version", lambda name: "another" if name == package else real(name))
    job(plan)
    assert len(trained()) == 6 + again


def test_the_baseline_alone_runs_its_first_look(job, plan_of, trained):
    decide = Decide()
    result = job(plan_of(reference=None), decide)
    assert trained() == ["16 0", "16 1", "16 2"]
    assert decide.asked == []
    assert result.reference is None
    assert result.reference_runs == []


def test_records_name_their_data_and_log_and_have_ids_of_their_own(job, plan_of, tmp_path):
    result = job(plan_of())
    ids = [r.run_id for r in (*result.runs, *result.reference_runs)]
    assert len(set(ids)) == 6
    for run_id in ids:
        record = Record.model_validate_json((tmp_path / "results/runs" / f"{run_id}.json").read_text())
        assert record.purpose == "quality"
        assert (tmp_path / "results" / record.log_path).exists()


def test_a_variant_that_fails_twice_stops_and_keeps_its_rows(job, plan_of, trained, lines):
    decide = Decide(False)
    result = job(plan_of(hidden=17), decide, "fail_above")
    assert [(r.seed, r.status, r.message) for r in result.runs] == [
        (0, "error", "ValueError: an odd hidden size"),
        (1, "error", "ValueError: an odd hidden size"),
    ]
    assert [(r.seed, r.status) for r in result.reference_runs] == [(0, "ok"), (1, "ok")]
    assert trained() == ["17 0", "17 1", "32 0", "32 1"]
    assert any("other seeds are not run" in line for line in lines)


def test_a_reference_that_fails_is_a_row_too(job, plan_of):
    result = job(plan_of(hidden=16, reference=33), execute="fail_above")
    assert [r.status for r in result.runs] == ["ok"] * 3
    assert [r.status for r in result.reference_runs] == ["error"] * 2


def test_a_seed_that_the_reference_failed_is_replaced_and_the_looks_go_on(job, plan_of):
    decide = Decide(False, True)
    result = job(plan_of(hidden=16, reference=33), decide, "fail_one_seed")
    assert [r.status for r in result.reference_runs] == ["ok", "error", "ok", "ok", "ok", "ok"]
    assert [r.seed for r in result.runs] == [0, 1, 2, 3, 4, 5]
    assert [sum(x is not None for x in reference) for reference, *_ in decide.asked] == [3, 5]


def test_one_failure_of_the_variant_alone_ends_the_looks(job, plan_of):
    decide = Decide(False, False)
    result = job(plan_of(hidden=17, reference=32), decide, "fail_one_seed")
    assert [r.status for r in result.runs] == ["ok", "error", "ok"]
    assert [r.status for r in result.reference_runs] == ["ok"] * 3
    assert decide.asked == []


def test_equal_predictions_over_all_pairs_are_said(job, plan_of):
    decide = Decide(True)
    job(plan_of(hidden=32), decide)
    assert decide.asked[0][2] is True


def test_the_gates_metric_is_taken(job, plan_of):
    assert job(plan_of(gate=Gate(metric="macro_f1"))).runs[0].metric == 0.5
    decide = Decide(True)
    assert job(plan_of(gate=Gate(metric="roc_auc")), decide).runs[0].metric is None
    assert decide.asked[0][0] == [None] * 3


def test_parity_is_checked_once_and_only_for_exact_variants(job, plan_of, graph_path):
    assert job(plan_of()).parity is None
    assert not (graph_path / "parity").exists()
    result = job(plan_of(exact=True), Decide(False, True))
    assert result.parity.ok
    assert (graph_path / "parity").read_text() == "cell-32 cell-16\n"


def test_a_batch_is_drawn_by_the_baselines_job_alone(job, plan_of):
    assert job(plan_of()).drawn_batch is None
    result = job(plan_of(reference=None))
    assert (result.drawn_batch.nodes, result.not_drawn) == ([0, 7, 8], "")  # by its first seed


def test_a_batch_that_cannot_be_drawn_says_why(job, plan_of):
    result = job(plan_of(reference=None), drawing="unsupported")
    assert result.drawn_batch is None
    assert result.not_drawn == "no half kernel here"


def test_a_parity_check_that_fails_is_not_passed(job, plan_of):
    parity = job(plan_of(exact=True), parity="broken_parity").parity
    assert parity.state == "not-checked"
    assert "no batch has a training node" in parity.note


def test_progress_says_how_far_and_how_long(job, plan_of, lines):
    job(plan_of(), execute="slow")
    assert re.fullmatch(r"thin seed 1/3 ok 0\.900 \d+\.\ds · about \d+:\d\d left", lines[0])
    assert lines[-1].startswith("baseline seed 3/3 ok")
    assert "left" not in lines[-1]
    del lines[:]
    job(plan_of())
    assert not [line for line in lines if "seed" in line]  # nothing was run, so nothing is said


def test_the_estimate_is_the_mean_times_what_is_left():
    remaining = Remaining()
    assert remaining.words(3) == ""
    times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:50+00:00"}
    remaining.saw(Record.model_construct(**times))
    assert remaining.words(2) == "about 1:40 left"
    assert remaining.words(100) == "about 1:23:20 left"
    assert remaining.words(0) == ""


def test_a_graph_that_is_not_there_or_not_ours_is_said_before_any_run(job, plan_of, graph_path, trained):
    (graph_path / "x.npy").unlink()
    with pytest.raises(InputError, match=r"x\.npy.*missing.*harness prepare"):
        job(plan_of())
    meta = json.loads((graph_path / "graph.json").read_text())
    (graph_path / "graph.json").write_text(json.dumps(meta | {"builder_version": 0}))
    with pytest.raises(InputError, match=r"builder version 0.*harness prepare"):
        job(plan_of())
    (graph_path / "graph.json").write_text(json.dumps({"name": "x"}))
    with pytest.raises(InputError, match=r"graph\.json.*damaged"):
        job(plan_of())
    (graph_path / "graph.json").unlink()
    with pytest.raises(InputError, match=r"not a prepared graph.*harness prepare"):
        job(plan_of())
    assert trained() == []
