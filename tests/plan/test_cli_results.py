"""What the command line takes for a plan's results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.cli import _results
from harness.plan.model import Plan
from harness.records.results import TimingResult, VariantResult

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
