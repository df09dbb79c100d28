"""`harness status`, once and live: what is done, running and failed, what is left, and the verdicts so far."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from harness.plan.confirmation import Confirmation, plan_id
from harness.plan.files import write_plan
from harness.plan.model import Comparison
from harness.records.running import Presence
from harness.reports.progress import Reporter
from harness.reports.standing import Watcher
from harness.reports.status import status_table, watch
from tests.verdicts.results import FAILING, FAST, SAME, baseline_of, plan_of, quality_of, skipped, timing_of

LONG = "a-name-of-eighty-characters-" + "x" * 52
ESCAPE = re.compile("\x1b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan of two variants, one of them with a long name, and one that is skipped; nothing has run."""
    plan = plan_of(Comparison(variant="thin"), Comparison(variant=LONG), skipped=[skipped("gone", "no such device")])
    write_plan(plan, tmp_path / "results")
    (tmp_path / "results" / "runs").mkdir()
    return tmp_path / "results" / "test"


def record(folder: Path, cell: str, seed: int, status: str = "ok") -> None:
    content = {"purpose": "quality", "cell_id": f"cell-{cell}", "run_id": f"{cell[:9]}-{seed}", "seed": seed}
    path = folder.parent / "runs" / f"{cell[:9]}-{seed}.json"
    path.write_text(json.dumps(content | {"status": status, "message": "" if status == "ok" else "no [room] left"}))


def finish(folder: Path, where: str, name: str, result: object) -> None:
    path = folder / where / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(result.model_dump_json())  # type: ignore[attr-defined]


def trained(folder: Path, *names: str) -> None:
    for name in names:
        finish(folder, "variants", name, baseline_of() if name == "baseline" else quality_of(name))


def timed(folder: Path, *names: str) -> None:
    for name in names:
        cell = "cell-baseline" if name == "control" else f"cell-{name}"
        ratios = SAME if name == "control" else FAST
        finish(folder, "timing", name, timing_of(name, ratios, cell_id=cell, reference_cell_id="cell-baseline"))


def shown(folder: Path, width: int = 80) -> str:
    out = io.StringIO()
    status_table(Watcher(folder).look(), Console(file=out, width=width))
    return out.getvalue()


def rows(text: str) -> dict[str, list[str]]:
    return {cells[0]: cells[1:] for line in text.splitlines() if len(cells := re.split(r" {2,}", line.strip())) > 2}


def test_before_anything_has_run(folder: Path) -> None:
    text = shown(folder)
    assert rows(text)["thin"] == ["missing", "missing"]
    assert rows(text)["gone"] == ["skipped", "skipped", "skipped"]
    assert "0 of 6 jobs done; 0 runs ok" in text
    assert "No job is known to run." in text


def test_runs_of_a_job_that_is_not_over_count(folder: Path) -> None:
    record(folder, "baseline", 0)
    record(folder, "baseline", 1, "oom")
    Presence(folder, "run", "baseline").say("baseline seed 2/5 oom no room")
    text = shown(folder)
    assert rows(text)["baseline"] == ["1 ok, 1 oom so far, running", "-"]
    assert "1 run ok, 1 failed" in text
    assert "baseline seed 1: oom: no [room] left (log:" in text
    assert rows(text)["train baseline"][0] == "seed 2/5 oom no room"


def test_verdicts_so_far_are_of_what_is_trained_and_timed(folder: Path) -> None:
    trained(folder, "baseline", "thin")
    finish(folder, "variants", LONG, quality_of(LONG, FAILING))
    text = shown(folder)
    assert "verdict so far" in text
    assert rows(text)["thin"][-1] == "accuracy: pass"
    assert "reject" in text  # a shown drop is decided before anything is timed
    timed(folder, "control", "thin")
    assert rows(shown(folder))["thin"] == ["5 ok", "done", "accept"]


def test_a_job_that_was_killed_is_said_with_its_log(folder: Path) -> None:
    Presence(folder, "time", "thin").say("thin block 1/2")
    path = folder / "running" / "time-thin.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"born": 12.0}))
    assert f"time thin ended before it was done (log: {folder}/logs/time-thin.log)" in shown(folder)
    timed(folder, "thin")
    assert "ended before" not in shown(folder)


def test_a_silent_job_on_another_machine_is_told_with_its_silence(folder: Path) -> None:
    Presence(folder, "run", "thin").say("thin seed 1/5 ok")
    path = folder / "running" / "run-thin.json"
    there = json.loads(path.read_text())
    path.write_text(json.dumps(there | {"host": "far", "heard": there["heard"] - 3600}))
    assert rows(shown(folder))["train thin on far"][0] == "seed 1/5 ok (60 min ago)"


def test_what_is_left_follows_the_jobs_done_less_what_the_running_have_had(folder: Path) -> None:
    entries = [{"kind": "run", "name": "x", "seconds": 600.0}, {"kind": "time", "name": "x", "seconds": 1200.0}]
    (folder / "jobs.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    trained(folder, "baseline", "thin", LONG)
    timed(folder, "control", "thin")
    assert "about 20 min left" in shown(folder)
    Presence(folder, "time", LONG, since=time.time() - 600).say("")
    assert "about 10 min left" in shown(folder)


@pytest.mark.parametrize("width", [80, 60])
def test_no_row_is_wider_than_the_terminal(folder: Path, width: int) -> None:
    Presence(folder, "run", LONG).say(
        f"{LONG} seed 1/5 ok 0.700 1.0s · about 0:03 left · job 3 of 20, grid about 12 min"
    )
    table = shown(folder, width).split("No job")[0].splitlines()
    assert max(len(line) for line in table if "Folder" not in line) <= width


def _watched(folder: Path, steps: list[Callable[[], None]], terminal: bool) -> str:
    """What a watch prints while one step after the other happens between its looks."""
    out, left = io.StringIO(), iter(steps)
    console = Console(file=out, width=80, force_terminal=terminal, legacy_windows=False, _environ={"TERM": "xterm"})
    watch(Watcher(folder), console, sleep=lambda seconds: next(left)())
    return out.getvalue()


def test_a_watch_ends_when_nothing_is_left(folder: Path) -> None:
    steps = [
        lambda: record(folder, "thin", 0),
        lambda: None,
        lambda: trained(folder, "baseline", "thin", LONG),
        lambda: timed(folder, "control", "thin", LONG),
    ]
    text = _watched(folder, steps, terminal=False)
    assert not ESCAPE.search(text)
    lines = [line for line in text.splitlines() if re.match(r"\d\d:\d\d:\d\d ", line)]
    assert len(lines) == 4  # nothing is said of the second look, at which nothing had changed
    assert "0 of 6 jobs done; 1 run ok" in lines[1]
    assert "6 of 6 jobs done; 15 runs ok; nothing is left" in lines[-1]
    assert rows(text)["thin"] == ["5 ok", "done", "accept"]


def test_on_a_terminal_it_is_drawn_in_place_and_the_table_stays(folder: Path) -> None:
    steps = [lambda: trained(folder, "baseline", "thin", LONG), lambda: timed(folder, "control", "thin", LONG)]
    text = _watched(folder, steps, terminal=True)
    assert ESCAPE.search(text)
    assert "Ctrl-C ends this view" in text
    assert "\n3 of 6 jobs done" in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.rsplit("Ctrl-C ends", 1)[1])
    assert "6 of 6 jobs done; 15 runs ok; nothing is left" in last


def test_ctrl_c_ends_a_watch_in_order(folder: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    assert "0 of 6 jobs done" in _watched(folder, [interrupt], terminal=False)


def test_a_confirmation_that_is_wanted_is_waited_for(tmp_path: Path) -> None:
    write_plan(plan_of(Comparison(variant="thin"), confirm="recommended"), tmp_path)
    folder = tmp_path / "test"
    trained(folder, "baseline", "thin")
    timed(folder, "control", "thin")
    standing = Watcher(folder).look()
    assert (standing.done, standing.total, standing.complete) == (4, 8, False)
    assert "4 of 8 jobs done; 10 runs ok; the confirmation waits for the verdicts" in shown(folder)


def test_a_job_and_the_status_count_the_same_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_plan(plan_of(Comparison(variant="thin"), confirm="recommended"), tmp_path)
    Reporter(tmp_path / "test", "run", "thin")("a line")
    assert "job 1 of 8" in capsys.readouterr().out
    assert "0 of 8 jobs done" in shown(tmp_path / "test")


def test_the_runs_of_a_variant_do_not_fall_when_its_job_ends(folder: Path) -> None:
    """Another variant needed more seeds of the baseline than the look at which the baseline's own job ends."""
    for seed in range(8):
        record(folder, "baseline", seed)
    assert rows(shown(folder))["baseline"][0].startswith("8 ok so far")
    trained(folder, "baseline")
    assert rows(shown(folder))["baseline"][0] == "8 ok"
    assert "; 8 runs ok" in shown(folder)


def test_fresh_seeds_of_the_confirmation_are_no_runs_of_the_grid(tmp_path: Path) -> None:
    plan = plan_of(Comparison(variant="thin"), confirm="recommended")
    write_plan(plan, tmp_path)
    folder = tmp_path / "test"
    (tmp_path / "runs").mkdir()
    fresh = plan.model_copy(update={"confirm": "none", "seeds": plan.seeds.model_copy(update={"first": 5})})
    frozen = Confirmation(names=["thin"], patch={}, plan_id=plan_id(plan), plan=fresh)
    (folder / "recommended.json").write_text(frozen.model_dump_json(by_alias=True))
    for seed in range(10):
        record(folder, "baseline", seed)
    assert Watcher(folder).look().runs["baseline"] == {"ok": 5}


def test_looking_changes_nothing(folder: Path) -> None:
    record(folder, "thin", 0)
    trained(folder, "baseline")
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.parent.rglob("*"))
    Watcher(folder).look()
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.parent.rglob("*")) == before


def test_a_plan_that_changes_is_read_again(folder: Path) -> None:
    watcher = Watcher(folder)
    assert watcher.look().total == 6
    write_plan(plan_of(Comparison(variant="thin")), folder.parent)
    assert watcher.look().total == 4
