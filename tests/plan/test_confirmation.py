"""The frozen cells that confirm what is recommended, the files of their jobs, and which results belong to them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.plan.confirmation import (
    Confirmation,
    confirmation_jobs,
    job_id,
    make_confirmation,
    plan_id,
    timed,
    trained,
)
from harness.plan.confirmed import confirmation_left, read_confirmed
from harness.plan.grid import Grid
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.records.confirmed import ConfirmedQuality, ConfirmedTiming
from harness.records.results import TimingResult, VariantResult

PlanOf = Callable[..., Plan]
SPEC = """\
variants:
  spmm: {set: {aggregation: spmm}, exact: true}
  fanout: {grid: {sampling.fanout: [[10, 5], [5, 5]]}}
  save: {set: {checkpointing: true}, exact: true, goal: memory}
design: {confirm: recommended}
seeds: {looks: [5, 10], first: 7}
device: cpu
"""


@pytest.fixture
def plan(plan_of: PlanOf) -> Plan:
    return plan_of(SPEC)


def confirming(plan: Plan, machine: Machine, *names: str, first: int = 17) -> Confirmation:
    patch = {path: value for name in names for path, value in plan.cells[name].patch.items()}
    return make_confirmation(plan, names, patch, first, machine)


def test_every_part_is_left_out_once_and_floors_follow_the_spec(plan: Plan, machine: Machine) -> None:
    made = confirming(plan, machine, "spmm", "fanout-5-5", "save")
    assert made.plan is not None
    patches = {name: sorted(cell.patch) for name, cell in made.plan.cells.items()}
    spmm, fanout, save = "aggregation", "sampling.fanout", "checkpointing"
    assert patches == {
        "baseline": [],
        "recommended": sorted([spmm, fanout, save]),
        "without-spmm": sorted([fanout, save]),
        "without-fanout-5-5": sorted([spmm, save]),
        "without-save": sorted([spmm, fanout]),
        "up-to-spmm": [spmm],
        "up-to-fanout-5-5": sorted([spmm, fanout]),
    }
    compared = {c.variant: (c.reference, c.goal) for c in made.plan.comparisons}
    assert compared == {
        "recommended": ("baseline", "speed"),
        "without-spmm": ("recommended", "speed"),
        "without-fanout-5-5": ("recommended", "speed"),
        "without-save": ("recommended", "memory"),
        "up-to-spmm": ("baseline", "speed"),
        "up-to-fanout-5-5": ("baseline", "speed"),
    }
    assert [p.height for p in made.parts] == ["up-to-spmm", "up-to-fanout-5-5", "recommended"]
    # ids are of the options alone: a stack without its last parts is the variant itself
    assert made.plan.cells["up-to-spmm"].cell_id == plan.cells["spmm"].cell_id
    assert made.plan.cells["baseline"] == plan.cells["baseline"]


def test_its_seeds_are_none_of_the_grids(plan: Plan, machine: Machine) -> None:
    made = confirming(plan, machine, "spmm", "save")
    assert made.plan is not None
    seeds = made.plan.seeds
    assert (seeds.first, seeds.looks) == (17, (5, 10))
    assert {job.seeds.first for job in confirmation_jobs(made).values()} == {17}
    assert made.plan.comparisons[0].exact  # as all of its parts are


def test_floors_are_not_trained_and_are_not_told_by_a_name(plan_of: PlanOf, machine: Machine) -> None:
    """A part may be called as a floor is."""
    made = confirming(plan_of(SPEC.replace("save:", "up-to-x:")), machine, "spmm", "up-to-x")
    assert made.plan is not None
    assert list(made.plan.cells) == ["baseline", "recommended", "without-spmm", "without-up-to-x", "up-to-spmm"]
    assert (made.plan.runs_min, made.plan.runs_max) == (4 * 5, 4 * 10)


def test_one_part_is_confirmed_without_leaving_it_out(plan: Plan, machine: Machine) -> None:
    made = confirming(plan, machine, "save")
    assert made.plan is not None
    assert list(made.plan.cells) == ["baseline", "recommended"]
    assert (made.plan.comparisons[0].goal, made.parts[0].without) == ("memory", "")


def test_nothing_accepted_leaves_nothing_to_run(plan: Plan, machine: Machine) -> None:
    made = confirming(plan, machine)
    assert (made.plan, confirmation_jobs(made), timed(made)) == (None, {}, [])


def test_a_stack_that_cannot_run_here_is_skipped_with_its_reason(plan_of: PlanOf, machine: Machine) -> None:
    made = plan_of("variants:\n  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}}\n" + TAIL)
    unable = machine.model_copy(update={"kernels": {"cpu": machine.kernels["cpu"] | {"fp16+spmm": "no kernel"}}})
    found = confirming(made, unable, "half", "spmm")
    assert found.plan is None
    assert "no kernel" in found.skipped[0].reason


TAIL = "design: {confirm: recommended}\ndevice: cpu\n"


def test_the_files_are_known_before_anything_is_recommended(
    plan: Plan, write: Callable[[str], Path], machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("harness.plan.grid.probe", lambda folder: machine)
    grid = Grid(str(write(SPEC)), results=str(tmp_path / "results"), specs="specs")
    grid.default_report()
    root = tmp_path / "results" / "s"
    names = ["baseline", "recommended"]
    names += [f"without-{v}" for v in ("spmm", "fanout-10-5", "fanout-5-5", "save")]
    runs = [str(root / "confirmed" / "variants" / f"{name}.json") for name in names]
    assert grid.confirmed("s") == [str(root / "recommended.json"), *runs, str(root / "confirmed" / "timing.json")]
    assert grid.runs_before_confirming("s", "recommended") == []
    assert grid.runs_before_confirming("s", "without-spmm") == [runs[1]]
    assert grid.runs_before_timing_the_stack("s") == runs
    assert (root / "plan" / "spmm.json").exists()


def test_without_a_confirmation_there_are_no_files(plan_of: PlanOf) -> None:
    without = plan_of(SPEC.replace("design: {confirm: recommended}\n", ""))
    assert (trained(without), without.most_parts) == ([], 0)


def test_of_one_keys_grid_one_variant_is_recommended_at_most(plan: Plan) -> None:
    assert (len(plan.comparisons), plan.most_parts) == (4, 3)


def written(folder: Path, made: Confirmation) -> None:
    """Results of all jobs of a confirmation, as they would be left."""
    put(folder / "recommended.json", made.model_dump_json(by_alias=True))
    for name, job in confirmation_jobs(made).items():
        whose = {"variant": name, "cell_id": job.cell.cell_id, "reference": "baseline", "threads": 1, "device": "cpu"}
        quality = ConfirmedQuality(name=name, job_id=job_id(job), result=VariantResult(runs=[], **whose))
        timing = ConfirmedTiming(name=name, job_id=job_id(job), result=TimingResult(status="ok", **whose))
        put(folder / "confirmed" / "variants" / f"{name}.json", quality.model_dump_json())
        put(folder / "confirmed" / "timing" / f"{name}.json", timing.model_dump_json())
    put(folder / "confirmed" / "timing.json", "{}")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_results_of_this_plan_belong(plan: Plan, machine: Machine, tmp_path: Path) -> None:
    made = confirming(plan, machine, "spmm", "save")
    assert read_confirmed(tmp_path / "s", plan) is None
    assert confirmation_left(tmp_path, plan) == "the confirmation waits for the verdicts"
    written(tmp_path / "s", made)
    found = read_confirmed(tmp_path / "s", plan)
    assert found is not None
    assert set(found.variants) == set(found.timings) == set(confirmation_jobs(made))
    assert found.confirms(["spmm", "save"], {"aggregation": "spmm", "checkpointing": True})
    assert not found.confirms(["spmm"], {"aggregation": "spmm"})


def test_what_is_left_is_said(plan: Plan, machine: Machine, tmp_path: Path) -> None:
    made = confirming(plan, machine, "spmm", "save")
    written(tmp_path / "s", made)
    for name in trained(plan):
        put(tmp_path / "s" / "confirmed" / "variants" / f"{name}.json", ConfirmedQuality(name=name).model_dump_json())
    assert confirmation_left(tmp_path, plan) == ""
    (tmp_path / "s/confirmed/timing/up-to-spmm.json").unlink()
    (tmp_path / "s/confirmed/variants/without-save.json").unlink()
    assert confirmation_left(tmp_path, plan) == "to confirm: run without-save; time up-to-spmm"


@pytest.mark.parametrize(
    ("old", "new"),
    [("looks: [5, 10]", "looks: [5, 10, 20]"), ("  save:", "  more: {set: {model.hidden: 32}}\n  save:")],
)
def test_results_of_another_plan_do_not_belong(
    plan: Plan, plan_of: PlanOf, machine: Machine, tmp_path: Path, old: str, new: str
) -> None:
    written(tmp_path, confirming(plan, machine, "spmm", "save"))
    assert old in SPEC
    assert read_confirmed(tmp_path, plan_of(SPEC.replace(old, new))) is None


def test_a_new_variant_leaves_the_confirmations_jobs_as_they_are(
    plan: Plan, plan_of: PlanOf, machine: Machine, tmp_path: Path
) -> None:
    """So that what is timed is not timed again: only `recommended.json` is made anew."""
    more = plan_of(SPEC.replace("  save:", "  more: {set: {model.hidden: 32}}\n  save:"))
    assert plan_id(more) != plan_id(plan)
    before, after = (
        {name: job_id(job) for name, job in confirmation_jobs(confirming(p, machine, "spmm", "save")).items()}
        for p in (plan, more)
    )
    assert before == after
    other_seeds = confirmation_jobs(confirming(plan, machine, "spmm", "save", first=18))
    assert not set(before.values()) & {job_id(job) for job in other_seeds.values()}
