"""What the command line takes for a plan's results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands.analyze import analyze
from harness.commands.check import plan as show_plan
from harness.commands.jobs import time
from harness.commands.report import report
from harness.commands.results import read_results
from harness.commands.retry import retry
from harness.commands.status import status
from harness.plan.done import belongs
from harness.plan.files import variant_plans, write_plan
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.spec.errors import InputError
from harness.verdicts.model import Verdicts

PlanOf = Callable[..., Plan]
TWO = "variants:\n  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}}\n"


def _with_half(plan: Plan, results: Path, **fields: Any) -> Path:
    """The spec's folder, with its plan and the quality results of `half`."""
    write_plan(plan, results)
    folder = results / plan.spec
    (folder / "variants").mkdir()
    half = plan.cells["half"].cell_id
    result = VariantResult(variant="half", cell_id=half, reference="baseline", threads=1, device="cpu", **fields)
    (folder / "variants" / "half.json").write_text(result.model_dump_json())
    return folder


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
    variants, timings = read_results(tmp_path, plan)
    assert list(variants) == ["half"]
    assert sorted(timings) == ["control", "half"]


def test_the_time_command_times_nothing_that_could_not_train(
    plan_of: PlanOf, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """Neither device nor graph is asked for: there is none here."""
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan = plan_of(TWO)
    folder = _with_half(plan, tmp_path, runs=[SeedRun(seed=0, run_id="a", status="oom", message="no room")])
    time(folder / "plan" / "half.json", folder / "timing" / "half.json")
    timing = TimingResult.model_validate_json((folder / "timing" / "half.json").read_text())
    assert (timing.status, timing.reason) == ("skipped", "its quality runs failed: oom: no room")
    assert belongs(timing, variant_plans(plan)["half"])


def test_other_looks_are_shown_and_not_written(
    plan_of: PlanOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan = plan_of(TWO)
    seeds = [SeedRun(seed=s, run_id=f"r{s}", status="ok", metric=0.7 + s / 1e4) for s in range(5)]
    baseline = plan.cells["baseline"].cell_id
    folder = _with_half(plan, tmp_path, reference_cell_id=baseline, runs=seeds, reference_runs=seeds)
    analyze(folder / "plan.json", None, "3,6")
    shown = capsys.readouterr().out
    assert "look 1 of 2 (3 pairs): half" in shown
    assert "inconclusive*" in shown
    assert not (folder / "verdicts.json").exists()
    analyze(folder / "plan.json", folder / "verdicts.json", "")
    (half, _) = Verdicts.model_validate_json((folder / "verdicts.json").read_text()).comparisons
    assert not half.exploratory


@pytest.mark.parametrize("looks", ["2,5", "5,5", "five", "5,", "5,1000"])
def test_bad_looks_are_said(plan_of: PlanOf, tmp_path: Path, looks: str, monkeypatch, machine: Machine) -> None:
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan = plan_of(TWO)
    write_plan(plan, tmp_path)
    with pytest.raises(InputError, match=r"--looks: .*from 3 to 200 that increase, e\.g\. --looks 3,6"):
        analyze(tmp_path / plan.spec / "plan.json", None, looks)


def test_power_reads_a_pilot_and_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    root = Path(__file__).parents[2]
    spec, pilot = root / "specs" / "quickstart.yaml", root / "results" / "reference" / "quickstart"
    show_plan(spec, as_json=True, power=True, sd=[0.5], pilot=pilot, true_drop=0.1)
    told = json.loads(capsys.readouterr().out)
    assert {row["sd_pp"] for row in told["stated"]} == {0.5}
    assert {row["variant"]: row["sd_pp"] for row in told["pilot"]}["cache-0.3"] == 0.0
    assert all(row["power"]["true_pp"] == -0.1 for row in told["pilot"])
    for wrong, words in (
        ({"sd": [0.0]}, "--sd: 0 is no sd in percentage points"),
        ({"true_drop": float("nan")}, "--true-drop: nan"),
        ({"pilot": tmp_path}, "no such file"),
        ({"power": False, "sd": [0.5]}, "belong to --power"),
    ):
        with pytest.raises(InputError, match=words):
            show_plan(spec, **({"as_json": False, "power": True, "sd": None, "pilot": None, "true_drop": 0.0} | wrong))


def test_retry_names_all_that_it_removes(plan_of: PlanOf, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    plan = plan_of(TWO)
    write_plan(plan, tmp_path)
    folder, baseline = tmp_path / plan.spec, plan.cells["baseline"].cell_id
    (folder / "timing").mkdir()
    of: dict[str, Any] = {"variant": "baseline", "cell_id": baseline, "threads": 1, "device": "cpu"}
    of |= {"reference": "baseline", "reference_cell_id": baseline}
    (folder / "timing" / "control.json").write_text(TimingResult(status="ok", **of).model_dump_json())
    for name in ("verdicts.json", "report.html"):
        (folder / name).write_text("{}")
    retry(str(folder), "oom", "", "half")
    assert capsys.readouterr().out == f"{folder}: forgotten: nothing, there was no result of these\n"
    retry(str(folder), "oom", "", "control")
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}: forgotten: control: timing",
        "removed too, since they rest on these: verdicts.json, report.html; the next `snakemake` makes them again",
    ]
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("variant", "timing", "remedy"),
    [("half, control", "", "--variant half --timing control"), ("control", "spmm", "--timing spmm,control")],
)
def test_the_control_is_no_variant(plan_of: PlanOf, tmp_path: Path, variant: str, timing: str, remedy: str) -> None:
    plan = plan_of(TWO)
    write_plan(plan, tmp_path)
    with pytest.raises(InputError, match=f"`control` is no variant, it is a timing.*; give {remedy}$"):
        retry(str(tmp_path / plan.spec), "oom", variant, timing)


def test_verdicts_of_an_earlier_plan_are_not_shown_as_of_this_one(
    plan_of: PlanOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan, more = plan_of(TWO), plan_of(TWO + "seeds: {looks: [5, 10]}\n")
    write_plan(plan, tmp_path)
    folder = tmp_path / plan.spec
    analyze(folder / "plan.json", folder / "verdicts.json", "")
    for made, shown in ((plan, True), (more, False), (plan, True)):
        write_plan(made, tmp_path)
        report([folder], show=True)
        said = capsys.readouterr().out
        assert ("speed-up" in said) == shown
        told = " ".join(said.split())
        assert (f"s: the verdicts and the report in {folder} are of an earlier plan than" in told) != shown
        assert (f"--config spec={made.spec_path}" in told) != shown
        status(str(folder))
        assert ("inconclusive" in capsys.readouterr().out) == shown


def test_no_page_is_made_of_one_plan_and_the_verdicts_of_another(
    plan_of: PlanOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    """Its question and its gate would be those of the new spec, its answer by the old one."""
    monkeypatch.setattr("harness.plan.machine.probe", lambda folder: machine)
    plan, more = plan_of(TWO), plan_of(TWO + "gate: {max_drop_pp: 5.0}\n")
    folder = tmp_path / plan.spec
    write_plan(plan, tmp_path)
    analyze(folder / "plan.json", folder / "verdicts.json", "")
    write_plan(more, tmp_path)
    with pytest.raises(InputError, match=r"earlier plan than .*plan\.json; `harness analyze "):
        report([folder])
    assert not (folder / "report.html").exists()
    analyze(folder / "plan.json", folder / "verdicts.json", "")
    report([folder])
    assert (folder / "report.html").exists()
