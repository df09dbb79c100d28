"""What of a plan is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.plan.done import JobStatus, belongs, statuses
from harness.plan.files import variant_plans
from harness.plan.model import Plan
from harness.records.results import SeedRun, TimingResult, VariantResult

PlanOf = Callable[..., Plan]


def test_states_come_from_the_files_that_jobs_leave(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of("variants:\n  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}}\n")
    assert {job.quality for job in statuses(tmp_path, plan)} == {"missing", "none"}
    for kind in ("variants", "timing"):
        (tmp_path / "s" / kind).mkdir(parents=True)
    baseline = plan.cells["baseline"].cell_id
    runs = [SeedRun(seed=0, run_id="a", status="ok", metric=0.7), SeedRun(seed=1, run_id="b", status="oom")]
    for name, cell_id in (("half", plan.cells["half"].cell_id), ("spmm", "of other options")):
        result = VariantResult(
            variant=name,
            cell_id=cell_id,
            reference="baseline",
            reference_cell_id=baseline,
            runs=runs,
            threads=1,
            device="cpu",
        )
        (tmp_path / "s" / "variants" / f"{name}.json").write_text(result.model_dump_json())
    for name, cell_id in (("half", plan.cells["half"].cell_id), ("spmm", "of other options")):
        timing = TimingResult(
            variant=name,
            cell_id=cell_id,
            reference="baseline",
            reference_cell_id=baseline,
            status="dnf",
            reason="out of memory",
            threads=2,
            device="cpu",
        )
        (tmp_path / "s" / "timing" / f"{name}.json").write_text(timing.model_dump_json())
    assert statuses(tmp_path, plan) == [
        JobStatus("baseline", {}, "missing", "none"),
        JobStatus("control", {}, "none", "missing"),
        JobStatus("half", {"ok": 1, "oom": 1}, "done", "done", "out of memory"),
        JobStatus("spmm", {}, "missing", "missing"),
    ]


def test_a_result_against_a_reference_of_other_options_is_not_the_plans(plan_of: PlanOf) -> None:
    plan = plan_of("variants:\n  half: {set: {precision: fp16}}\n")
    job = variant_plans(plan)["half"]
    fits: dict[str, Any] = {"variant": "half", "cell_id": job.cell.cell_id, "threads": 1, "device": "cpu"}
    fits |= {"reference": "baseline", "reference_cell_id": plan.cells["baseline"].cell_id}
    quality, timing = VariantResult(runs=[], **fits), TimingResult(status="ok", **fits)
    assert belongs(quality, job)
    assert belongs(timing, job)
    assert not belongs(quality.model_copy(update={"reference_cell_id": "other"}), job)
    assert not belongs(timing.model_copy(update={"reference_cell_id": "other"}), job)
    assert not belongs(timing.model_copy(update={"cell_id": ""}), job)
