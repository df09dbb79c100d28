"""What of a plan is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from harness.plan.done import JobStatus, statuses
from harness.plan.model import Plan
from harness.records.results import SeedRun, TimingResult, VariantResult

PlanOf = Callable[..., Plan]


def test_states_come_from_the_files_that_jobs_leave(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of("variants:\n  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}}\n")
    assert {job.quality for job in statuses(tmp_path, plan)} == {"missing", "none"}
    for kind in ("variants", "timing"):
        (tmp_path / "s" / kind).mkdir(parents=True)
    runs = [SeedRun(seed=0, run_id="a", status="ok", metric=0.7), SeedRun(seed=1, run_id="b", status="oom")]
    for name, cell_id in (("half", plan.cells["half"].cell_id), ("spmm", "of other options")):
        result = VariantResult(variant=name, cell_id=cell_id, runs=runs, threads=1, device="cpu")
        (tmp_path / "s" / "variants" / f"{name}.json").write_text(result.model_dump_json())
    timing = TimingResult(
        variant="half", reference="baseline", status="dnf", reason="out of memory", threads=2, device="cpu"
    )
    (tmp_path / "s" / "timing" / "half.json").write_text(timing.model_dump_json())
    assert statuses(tmp_path, plan) == [
        JobStatus("baseline", {}, "missing", "none"),
        JobStatus("control", {}, "none", "missing"),
        JobStatus("half", {"ok": 1, "oom": 1}, "done", "done", "out of memory"),
        JobStatus("spmm", {}, "missing", "missing"),
    ]
