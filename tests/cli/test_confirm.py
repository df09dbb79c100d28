"""What is accepted is joined, trained on fresh seeds and timed by the jobs that a grid calls."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness.commands.jobs import confirm_time
from harness.plan.confirmation import Confirmation, trained
from harness.plan.expand import make_plan
from harness.plan.files import variant_plans, write_plan
from harness.plan.machine import probe
from harness.plan.model import Plan, VariantPlan
from harness.plan.version import TIMING_VERSION
from harness.records.confirmed import ConfirmedQuality, ConfirmedTiming
from harness.records.results import Block, Parity, SeedRun, TimedProcess, TimingResult, VariantResult
from harness.spec.load import load_spec
from harness.verdicts.model import Verdicts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = """\
version: 1
name: small
dataset: {source: synthetic, nodes: 300, mean_degree: 8, classes: 3, features: 16, signal: 1.0, seed: 1}
model: {conv: sage, layers: 2, hidden: 16}
training: {epochs: 2, batch_size: 128}
baseline: {sampling: {fanout: [5, 5]}}
variants:
  spmm: {set: {aggregation: spmm}, exact: true}
  narrow: {set: {sampling.fanout: [3, 3]}}
  deep: {set: {model.hidden: 32}}
design: {confirm: recommended}
seeds: {looks: [3]}
timing: {looks: [4], warmup_epochs: 1, epochs: 2, max_repeats: 0}
limits: {time_s: 60}
device: cpu
"""
FAST = {"spmm": 1.5, "narrow": 1.4, "deep": 0.8, "control": 1.0}


def harness(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache"), "COLUMNS": "80", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "harness.cli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def grid_results(folder: Path, plan: Plan) -> None:
    """What the grid's own jobs would leave where `spmm` and `narrow` are accepted and `deep` gains nothing."""
    parity = Parity(state="equal", max_abs_logit=1.0, max_abs_difference=0.0, gradient_cosine=1.0)
    for name, job in variant_plans(plan).items():
        whose = ids(job)
        if name in plan.cells:
            runs = [SeedRun(seed=s, run_id=f"{name}-{s}", status="ok", metric=0.7 + s / 1000) for s in range(3)]
            result = VariantResult(
                **whose, runs=runs, reference_runs=runs, parity=parity, test_nodes=5000, threads=1, device="cpu"
            )
            write(folder / "variants" / f"{name}.json", result.model_dump_json())
        if job.reference is not None:
            timing = timing_result(whose | {"variant": name}, FAST[name])
            write(folder / "timing" / f"{name}.json", timing.model_dump_json())


def ids(job: VariantPlan) -> dict[str, str | None]:
    reference = job.reference
    return {
        "variant": job.cell.name,
        "cell_id": job.cell.cell_id,
        "reference": None if reference is None else reference.name,
        "reference_cell_id": None if reference is None else reference.cell_id,
    }


def timing_result(whose, ratio: float) -> TimingResult:
    ratios = [math.log(ratio * x) for x in (1.0, 1.002, 0.998, 1.001)]
    arms = ("reference", "variant", "variant", "reference")
    processes = [TimedProcess(arm=a, run_id=a, status="ok", epoch_s=[1.0], peak_bytes=10**6) for a in arms]
    blocks = [Block(index=i, processes=processes, other_load=0.0) for i in range(2)]
    memory = [0.0] * 4
    return TimingResult(
        **whose,
        status="ok",
        blocks=blocks,
        log_ratios=ratios,
        memory_log_ratios=memory,
        threads=1,
        device="cpu",
        timing_version=TIMING_VERSION,
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid that is done, and its confirmation made by the commands of the rules."""
    folder = tmp_path_factory.mktemp("confirm")
    (folder / "small.yaml").write_text(SPEC)
    plan = make_plan(load_spec(folder / "small.yaml"), folder / "small.yaml", probe(folder / "cache"), cores=1)
    write_plan(plan, folder / "results")
    grid_results(folder / "results" / "small", plan)
    recommended = "results/small/recommended.json"
    harness(folder, "recommend", "results/small/plan.json", "--output", recommended)
    for name in trained(plan):
        output = f"results/small/confirmed/variants/{name}.json"
        harness(folder, "confirm", "run", recommended, name, "--output", output)
    time_the_stack(folder)
    analysed(folder)
    return folder / "results" / "small"


def time_the_stack(folder: Path) -> None:
    """The command, in this process: here nobody waits for a quiet machine, nor for another's timing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.setattr("harness.runs.timing.wait_for_quiet", lambda *arguments: 0.0)
        patch.setattr("harness.runs.timing.alone_on_machine", lambda say: nullcontext())
        results = folder / "results" / "small"
        confirm_time(results / "recommended.json", results / "confirmed" / "timing.json")


def analysed(folder: Path) -> Verdicts:
    harness(folder, "analyze", "results/small/plan.json", "--output", "results/small/verdicts.json")
    return Verdicts.model_validate_json((folder / "results" / "small" / "verdicts.json").read_text())


def trained_of(folder: Path, name: str) -> ConfirmedQuality:
    return ConfirmedQuality.model_validate_json((folder / f"confirmed/variants/{name}.json").read_text())


def test_the_stack_runs_on_seeds_that_nothing_was_chosen_by(folder: Path) -> None:
    frozen = Confirmation.model_validate_json((folder / "recommended.json").read_text())
    assert frozen.names == ["spmm", "narrow"]
    assert frozen.plan is not None
    assert list(frozen.plan.cells) == ["baseline", "recommended", "without-spmm", "without-narrow", "up-to-spmm"]
    stack = trained_of(folder, "recommended").result
    assert stack is not None
    assert [r.seed for r in stack.runs] == [r.seed for r in stack.reference_runs] == [3, 4, 5]
    assert {r.status for r in stack.runs} == {"ok"}
    rest = trained_of(folder, "without-narrow").result
    assert rest is not None
    assert rest.reference == "recommended"
    assert [r.run_id for r in rest.reference_runs] == [r.run_id for r in stack.runs]


def test_what_is_no_part_says_so_at_once(folder: Path) -> None:
    found = trained_of(folder, "without-deep")
    assert (found.result, found.reason) == (None, "this variant is no part of what is recommended")


def test_verdicts_hold_stack_parts_and_heights(folder: Path) -> None:
    found = Verdicts.model_validate_json((folder / "verdicts.json").read_text()).confirmation
    assert found is not None
    assert found.comparison is not None
    assert (found.names, found.seeds) == (["spmm", "narrow"], [3, 4, 5])
    assert found.patch == {"aggregation": "spmm", "sampling.fanout": [3, 3]}
    assert found.comparison.speed.blocks == 2
    assert [p.variant for p in found.parts] == ["spmm", "narrow"]
    assert all(p.n_pairs == 3 and p.speed.ratio for p in found.parts)
    assert [h.adds for h in found.heights] == ["spmm", "narrow"]
    assert all(h.speed.ratio and h.speed.variant_epoch_s and h.memory.variant_bytes for h in found.heights)
    assert found.heights[-1].speed == found.comparison.speed


def test_the_summary_says_whether_it_is_confirmed(folder: Path) -> None:
    said = harness(folder.parents[1], "report", "--show", "results/small")
    assert "Recommended together" in said
    assert max(map(len, said.splitlines()[:-1])) <= 80
    harness(folder.parents[1], "report", "results/small/plan.json")
    for name in ("report.md", "report.html", "report.tex"):
        assert "Recommended together" in (folder / name).read_text()
    assert "<svg" in (folder / "figures" / "stack.svg").read_text()


def test_a_timing_is_kept_as_long_as_its_job_stays_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "confirmed" / "timing" / "up-to-spmm.json"
    before = path.stat().st_mtime_ns
    time_the_stack(folder.parents[1])
    assert "block" not in capsys.readouterr().out
    assert path.stat().st_mtime_ns == before
    stale = ConfirmedTiming.model_validate_json(path.read_text()).model_copy(update={"job_id": "another"})
    path.write_text(stale.model_dump_json())
    time_the_stack(folder.parents[1])
    assert "up-to-spmm block 2/2" in capsys.readouterr().out


def test_another_recommendation_is_not_confirmed_by_these_runs(folder: Path) -> None:
    path = folder / "timing" / "narrow.json"
    kept = path.read_text()
    slow = TimingResult.model_validate_json(kept)
    path.write_text(slow.model_copy(update={"log_ratios": [0.0, 0.001, -0.001, 0.0]}).model_dump_json())
    try:
        found = analysed(folder.parents[1])
        assert found.recommended == ["spmm"]
        assert found.confirmation is not None
        assert found.confirmation.comparison is None
        assert found.confirmation.note.startswith("not confirmed yet")
    finally:
        path.write_text(kept)
        analysed(folder.parents[1])
