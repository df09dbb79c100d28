"""The plan on disk: a file changes only where what its job does changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.plan.expand import make_plan
from harness.plan.files import variant_plans, write_plan
from harness.plan.machine import Machine
from harness.plan.model import DatasetPlan, Plan, VariantPlan
from harness.spec.errors import InputError
from harness.spec.load import load_spec

TWO = """\
variants:
  cache: {grid: {features.cache_ratio: [0.1]}, exact: true}
  half: {set: {precision: fp16}, goal: memory}
"""
PlanOf = Callable[..., Plan]


def stamps(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*.json")}


def names(written: list[str], folder: Path) -> set[str]:
    return {str(Path(path).relative_to(folder / "s")) for path in written}


def test_files_of_a_plan(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of(TWO)
    written = names(write_plan(plan, tmp_path), tmp_path)
    assert written == {
        "plan.json",
        "plan/dataset.json",
        "plan/baseline.json",
        "plan/control.json",
        "plan/cache-0.1.json",
        "plan/half.json",
    }
    folder = tmp_path / "s" / "plan"
    assert Plan.model_validate_json((tmp_path / "s" / "plan.json").read_text()) == plan
    assert DatasetPlan.model_validate_json((folder / "dataset.json").read_text()) == plan.dataset
    jobs = {
        path.stem: VariantPlan.model_validate_json(path.read_text())
        for path in folder.glob("*.json")
        if path.stem != "dataset"
    }
    assert jobs == variant_plans(plan)
    assert jobs["baseline"].reference is None
    assert jobs["control"].cell == jobs["control"].reference == plan.cells["baseline"]
    assert (jobs["cache-0.1"].exact, jobs["cache-0.1"].goal) == (True, "speed")
    assert (jobs["half"].exact, jobs["half"].goal) == (False, "memory")
    assert jobs["half"].reference == plan.cells["baseline"]


def test_leave_one_out_has_a_job_for_all(plan_of: PlanOf) -> None:
    plan = plan_of(TWO + "design: {kind: leave-one-out}\n")
    jobs = variant_plans(plan)
    assert list(jobs) == ["all", "control", "without-cache", "without-half"]
    assert jobs["all"].reference is None
    assert jobs["without-cache"].reference == jobs["control"].cell == plan.cells["all"]


def test_nothing_is_rewritten_where_nothing_changed(plan_of: PlanOf, tmp_path: Path) -> None:
    write_plan(plan_of(TWO), tmp_path)
    before = stamps(tmp_path)
    assert write_plan(plan_of("# a comment\n" + TWO + "owner: me\n"), tmp_path) == []
    assert stamps(tmp_path) == before


def test_a_new_variant_touches_its_own_file_and_the_plan(plan_of: PlanOf, tmp_path: Path) -> None:
    write_plan(plan_of(TWO), tmp_path)
    before = stamps(tmp_path)
    written = write_plan(plan_of(TWO + "  spmm: {set: {aggregation: spmm}}\n"), tmp_path)
    assert names(written, tmp_path) == {"plan.json", "plan/spmm.json"}
    after = stamps(tmp_path)
    assert {name for name in before if after[name] != before[name]} == {"s/plan.json"}


def test_a_removed_variant_leaves_no_file(plan_of: PlanOf, tmp_path: Path) -> None:
    write_plan(plan_of(TWO), tmp_path)
    written = write_plan(plan_of(TWO.splitlines(keepends=True)[0] + TWO.splitlines()[1] + "\n"), tmp_path)
    assert names(written, tmp_path) == {"plan.json", "plan/half.json"}
    assert not (tmp_path / "s" / "plan" / "half.json").exists()
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_changed_option_of_one_variant_touches_that_one(plan_of: PlanOf, tmp_path: Path) -> None:
    write_plan(plan_of(TWO), tmp_path)
    written = write_plan(plan_of(TWO.replace("fp16", "bf16")), tmp_path)
    assert names(written, tmp_path) == {"plan.json", "plan/half.json"}


def test_changed_limits_touch_every_job(plan_of: PlanOf, tmp_path: Path) -> None:
    """So that runs stopped by the old ones are made again."""
    write_plan(plan_of(TWO), tmp_path)
    written = write_plan(plan_of(TWO + "limits: {time_s: 7200}\n"), tmp_path)
    assert {"plan/baseline.json", "plan/cache-0.1.json", "plan/half.json"} <= names(written, tmp_path)


def test_another_torch_touches_every_job_and_pymetis_those_it_cuts_for(
    plan_of: PlanOf, machine: Machine, tmp_path: Path
) -> None:
    cut = TWO + "  cut: {set: {batching: cluster, partition.parts: 20, partition.per_batch: 2}}\n"
    write_plan(plan_of(cut), tmp_path)
    jobs = {f"plan/{name}.json" for name in ("baseline", "control", "cache-0.1", "half", "cut")}
    for other in ({"torch": "2.14.0"}, {"torch": "2.14.0", "pyg": "2.9.0"}):
        written = names(write_plan(plan_of(cut, machine.model_copy(update=other)), tmp_path), tmp_path)
        assert written == {"plan.json"} | jobs
    libraries = machine.libraries | {"pymetis": "2026.1"}
    other = machine.model_copy(update=other | {"libraries": libraries})
    assert names(write_plan(plan_of(cut, other), tmp_path), tmp_path) == {"plan.json", "plan/cut.json"}


def test_another_engine_touches_every_job_and_another_builder_the_preparation(
    plan_of: PlanOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_plan(plan_of(TWO), tmp_path)
    monkeypatch.setattr("harness.plan.version.ENGINE_VERSION", 99)
    written = names(write_plan(plan_of(TWO), tmp_path), tmp_path)
    assert written == {"plan.json", *(f"plan/{name}.json" for name in ("baseline", "control", "cache-0.1", "half"))}
    monkeypatch.setattr("harness.plan.expand.BUILDER_VERSION", 99)
    assert names(write_plan(plan_of(TWO), tmp_path), tmp_path) == {"plan.json", "plan/dataset.json"}


def test_preparing_the_data_changes_no_plan(plan_of: PlanOf, tmp_path: Path, cache: Path) -> None:
    """Otherwise every job would run again after the first preparation."""
    plan = plan_of(TWO)
    write_plan(plan, tmp_path)
    folder = cache / "graphs" / plan.dataset.dataset_id
    folder.mkdir(parents=True)
    sizes = '{"num_nodes": 5, "num_edges": 5, "num_features": 5, "num_classes": 2, "train_nodes": 3}'
    (folder / "graph.json").write_text(sizes)
    assert write_plan(plan_of(TWO), tmp_path) == []


def test_two_specs_of_one_name_are_refused(write: Any, machine: Machine, tmp_path: Path) -> None:
    first, second = write(TWO, "first.yaml"), write(TWO, "second.yaml")
    write_plan(make_plan(load_spec(first), first, machine), tmp_path / "results")
    with pytest.raises(InputError) as caught:
        write_plan(make_plan(load_spec(second), second, machine), tmp_path / "results")
    assert "first.yaml" in str(caught.value)
    assert "second.yaml" in str(caught.value)
    assert "rename one" in str(caught.value)


def test_a_spec_that_was_renamed_or_moved_gives_its_name_free(write: Any, machine: Machine, tmp_path: Path) -> None:
    first, second = write(TWO, "first.yaml"), write(TWO, "second.yaml")
    write_plan(make_plan(load_spec(first), first, machine), tmp_path / "results")
    first.write_text(first.read_text().replace("name: s", "name: t"))
    assert write_plan(make_plan(load_spec(second), second, machine), tmp_path / "results")
    third = second.rename(tmp_path / "third.yaml")
    assert write_plan(make_plan(load_spec(third), third, machine), tmp_path / "results")


def test_results_that_cannot_be_written(plan_of: PlanOf, tmp_path: Path) -> None:
    (tmp_path / "results").touch()
    with pytest.raises(InputError, match="cannot be written"):
        write_plan(plan_of(TWO), tmp_path / "results")
