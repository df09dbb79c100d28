"""What the command line takes for a plan's results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import _results, time
from harness.plan.done import belongs
from harness.plan.files import variant_plans, write_plan
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.records.results import SeedRun, TimingResult, VariantResult

PlanOf = Callable[..., Plan]
TWO = "variants:\n  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}}\n"


def test_only_results_of_the_plans_options_are_read(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of(TWO)
    baseline = plan.cells["baseline"].cell_id
    for kind in ("variants", "timing"):
        (tmp_path / kind).mkdir()
    for name, cell_id in (("half", plan.cells["half"].cell_id), ("spmm", "of other options"), ("control", baseline)):
        of: dict[str, Any] = {"variant": name, "cell_id": cell_id, "threads": 1, "device": "cpu"}
        of |= {"reference": "baseline", "reference_cell_id": baseline}
        (tmp_path / "variants" / f"{name}.json").write_text(VariantResult(runs=[], **of).model_dump_json())
        (tmp_path / "timing" / f"{name}.json").write_text(TimingResult(status="ok", **of).model_dump_json())
    variants, timings = _results(tmp_path, plan)
    assert list(variants) == ["half"]
    assert sorted(timings) == ["control", "half"]


def test_the_time_command_times_nothing_that_could_not_train(
    plan_of: PlanOf, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """Neither device nor graph is asked for: there is none here."""
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan = plan_of(TWO)
    write_plan(plan, tmp_path)
    folder = tmp_path / plan.spec
    (folder / "variants").mkdir()
    failed = [SeedRun(seed=0, run_id="a", status="oom", message="no room")]
    result = VariantResult(
        variant="half",
        cell_id=plan.cells["half"].cell_id,
        reference="baseline",
        runs=failed,
        threads=1,
        device="cpu",
    )
    (folder / "variants" / "half.json").write_text(result.model_dump_json())
    time(folder / "plan" / "half.json", folder / "timing" / "half.json")
    timing = TimingResult.model_validate_json((folder / "timing" / "half.json").read_text())
    assert (timing.status, timing.reason) == ("skipped", "its quality runs failed: oom: no room")
    assert belongs(timing, variant_plans(plan)["half"])
