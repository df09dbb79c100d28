"""Where a job's lines say that the grid stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.plan.files import write_plan
from harness.plan.model import Comparison
from harness.records.running import JobKind
from harness.reports.progress import Reporter
from tests.verdicts.results import plan_of

RUNS, TIMINGS = ("baseline", "thin"), ("control", "thin")
CONFIRMED = ("variants/baseline", "variants/recommended", "variants/without-thin", "timing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A grid of four jobs, with what a job of each kind took."""
    return planned(tmp_path)


def planned(results: Path, **changes: object) -> Path:
    write_plan(plan_of(Comparison(variant="thin"), **changes), results)
    folder = results / "test"
    entries = [{"kind": "run", "name": "baseline", "seconds": 10.0}, {"kind": "time", "name": "thin", "seconds": 20.0}]
    (folder / "jobs.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return folder


def done(folder: Path, kind: str, *names: str) -> None:
    for name in names:
        path = folder / kind / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def said(folder: Path, kind: JobKind, name: str, capsys: pytest.CaptureFixture[str]) -> str:
    Reporter(folder, kind, name)("a line")
    return capsys.readouterr().out.removesuffix("\n")


def test_jobs_are_counted_and_the_seconds_of_those_left_are_told(folder: Path, capsys) -> None:
    assert said(folder, "run", "baseline", capsys) == "a line · job 1 of 4, grid about 60 s left"
    done(folder, "variants", *RUNS)
    assert said(folder, "time", "control", capsys) == "a line · job 3 of 4, grid about 40 s left"


def test_a_job_made_again_is_never_beyond_the_last(folder: Path, capsys) -> None:
    done(folder, "variants", *RUNS)
    done(folder, "timing", *TIMINGS)
    assert said(folder, "time", "thin", capsys) == "a line · job 4 of 4, grid about 20 s left"


def test_the_jobs_of_a_confirmation_count_where_it_is_asked_for(tmp_path: Path, capsys) -> None:
    folder = planned(tmp_path, confirm="recommended")
    assert said(folder, "run", "thin", capsys) == "a line · job 1 of 8, grid about 60 s left, then the confirmation"
    done(folder, "variants", *RUNS)
    done(folder, "timing", *TIMINGS)
    assert said(folder, "confirm-run", "recommended", capsys) == "a line · job 5 of 8"
    done(folder, "confirmed", *CONFIRMED[:-1])
    assert said(folder, "confirm-time", "up-to-thin", capsys) == "a line · job 8 of 8"
    done(folder, "confirmed", *CONFIRMED)
    assert said(folder, "confirm-run", "baseline", capsys) == "a line · job 8 of 8"


def test_without_a_plan_the_line_stands_alone(tmp_path: Path, capsys) -> None:
    assert said(tmp_path, "run", "thin", capsys) == "a line"


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "run", "sec',
        "null",
        "[]",
        "3",
        "{}",
        '{"kind": "run", "seconds": NaN}',
        '{"kind": "run", "seconds": {}}',
    ],
)
def test_a_damaged_line_of_what_jobs_took_is_left_out(folder: Path, capsys, line: str) -> None:
    with (folder / "jobs.jsonl").open("a") as file:
        file.write(line + "\n")
    assert said(folder, "run", "baseline", capsys) == "a line · job 1 of 4, grid about 60 s left"


def test_a_job_ends_well_where_what_it_took_cannot_be_written(folder: Path) -> None:
    (folder / "jobs.jsonl").unlink()
    (folder / "jobs.jsonl").mkdir()
    Reporter(folder, "run", "baseline").finished()
