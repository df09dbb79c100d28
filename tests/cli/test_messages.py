"""What a person is told: one message and exit code 2 for bad input, on the stream they will see."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def call(*arguments, folder, stdout=subprocess.PIPE):
    environment = {**os.environ, "HARNESS_CACHE": str(folder / ".cache")}
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments],
        cwd=folder,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.fixture
def damaged(tmp_path):
    """A results folder whose files were cut short."""
    spec = tmp_path / "results" / "small"
    for name in ("plan.json", "plan/dataset.json", "plan/v.json", "variants/v.json", "timing/v.json", "verdicts.json"):
        (spec / name).parent.mkdir(parents=True, exist_ok=True)
        (spec / name).write_text('{"version": 1, "sp')
    (tmp_path / "README.md").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["validate", "none.yaml"], "none.yaml: no such file"),
        (["plan", "none.yaml"], "none.yaml: no such file"),
        (["status", "none"], "no plan.json under results/none"),
        (["status", "results/none"], "no plan.json under results/none"),
        (["status", "small"], "results/small/plan.json: not a Plan of this version"),
        (["retry", "small"], "results/small/plan.json: not a Plan of this version"),
        (["retry", "small", "--status", "fine"], "'fine' is not a list of failed statuses"),
        (["report", "results/none"], "results/none: no verdicts.json under results/none; there are some in "),
        (["report", "README.md"], "README.md: no verdicts.json under .; "),
        (["report"], "report: which results?"),
        (["report", "results/small"], "results/small/verdicts.json: not a Verdicts of this version"),
        (["report", "results/small", "--columns", "variant"], "--columns belongs to --format"),
        (["report", "--format", "md"], "report: which results?"),
        (["report", "results/small", "--format", "md", "--columns", "x"], "'x' is no column; allowed: spec, variant"),
        (["report", "results/small", "--format", "md"], "results/small/verdicts.json: not a Verdicts of this version"),
        (["prepare", "results/small/plan/dataset.json"], "results/small/plan/dataset.json: not a DatasetPlan"),
        (["prepare", "results/small/plan/none.json"], "results/small/plan/none.json: no such file"),
        (["run", "results/small/plan/v.json", "--output", "x.json"], "results/small/plan/v.json: not a VariantPlan"),
        (["time", "results/small/plan/none.json", "--output", "x.json"], "results/small/plan/none.json: no such file"),
        (["analyze", "results/small/plan.json", "--output", "x.json"], "results/small/plan.json: not a Plan"),
        (["analyze", "results/small", "--output", "x.json"], "results/small/plan.json: not a Plan"),
        (["report", "x" * 300], "the name is too long"),
        (["status", "x" * 300], "the name is too long"),
        (["report", "--all", "x" * 300], "the name is too long"),
    ],
)
def test_bad_input_is_one_message_and_2(damaged, arguments, words):
    done = call(*arguments, folder=damaged)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["report", "--show"], ["report", "results/none"], ["--version"]])
def test_a_full_disk_behind_the_output_is_one_message(damaged, arguments):
    with open("/dev/full", "w") as full:
        done = call(*arguments, folder=damaged, stdout=full)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_closed_output_is_no_fault(damaged):
    command = f"{sys.executable} -m harness.cli report results/none >&-"
    done = subprocess.run(["sh", "-c", command], cwd=damaged, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)


def test_a_folder_of_the_specs_name_does_not_hide_its_results(damaged):
    (damaged / "small").mkdir(exist_ok=True)
    assert "results/small/plan.json: not a Plan" in call("status", "small", folder=damaged).stderr


def test_a_grid_that_made_no_verdicts_ends_well(damaged):
    done = call("report", "--show", folder=damaged)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("No verdicts yet")


def test_a_job_tells_the_screen_too_since_its_stderr_is_a_log(damaged):
    done = call("prepare", "results/small/plan/none.json", folder=damaged)
    assert done.stdout == done.stderr


def test_help_of_every_command(tmp_path):
    commands = [
        "init",
        "validate",
        "plan",
        "prepare",
        "run",
        "time",
        "analyze",
        "report",
        "status",
        "retry",
        "schema",
        "doctor",
    ]
    overview = call("--help", folder=tmp_path).stdout
    assert [c for c in commands if c not in overview] == []
    assert call("retry", "--help", folder=tmp_path).returncode == 0


def test_two_specs_of_one_name_are_refused(tmp_path):
    text = (
        Path(__file__)
        .parents[2]
        .joinpath("specs", "quickstart.yaml")
        .read_text()
        .replace("name: quickstart", "name: one")
    )
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(text)
    assert call("validate", "a.yaml", "a.yaml", folder=tmp_path).returncode == 0
    done = call("validate", "a.yaml", "b.yaml", folder=tmp_path)
    assert done.returncode == 2
    assert "b.yaml: its name 'one' is that of a.yaml too" in done.stderr


def test_a_folder_given_twice_is_in_the_table_once(tmp_path):
    folder = Path(__file__).parents[2] / "results" / "reference" / "quickstart"
    once = call("report", folder, "--format", "csv", folder=tmp_path).stdout
    assert once.startswith("spec,variant,")
    assert call("report", folder, folder / "verdicts.json", "--format", "csv", folder=tmp_path).stdout == once
