"""Jobs that can be seen while they run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from harness.records.running import FOLDER, Presence, jobs_under_way


def test_a_job_is_seen_from_its_start_to_its_end(tmp_path: Path) -> None:
    job = Presence(tmp_path, "run", "cache-0.3")
    job.say("")
    job.say("cache-0.3 seed 1/5 ok")
    [seen] = jobs_under_way(tmp_path)
    assert (seen.kind, seen.name, seen.line, seen.alive) == ("run", "cache-0.3", "cache-0.3 seed 1/5 ok", True)
    assert seen.since <= seen.heard
    job.end()
    assert jobs_under_way(tmp_path) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_job_that_was_killed_is_not_taken_for_a_running_one(tmp_path: Path) -> None:
    """Nor where its pid has been given to another process since."""
    code = (
        "import os, sys; from pathlib import Path; from harness.records.running import Presence;"
        "Presence(Path(sys.argv[1]), 'run', 'x').say('seed 1'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    [seen] = jobs_under_way(tmp_path)
    assert (seen.line, seen.alive) == ("seed 1", False)
    mine = Presence(tmp_path, "run", "y")
    mine.say("")
    path = tmp_path / FOLDER / "run-y.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"born": 12.0}))
    assert [job.alive for job in jobs_under_way(tmp_path)] == [False, False]


def test_of_a_job_on_another_machine_nobody_can_say(tmp_path: Path) -> None:
    Presence(tmp_path, "time", "x").say("")
    path = tmp_path / FOLDER / "time-x.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"host": "elsewhere"}))
    assert jobs_under_way(tmp_path)[0].alive is None


def test_a_folder_that_cannot_be_written_costs_the_job_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file in its place")
    job = Presence(tmp_path, "run", "x")
    job.say("line")
    job.end()
    assert jobs_under_way(tmp_path) == []


def test_a_damaged_file_is_no_job(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "run-x.json").write_text('{"kind": "ru')
    assert jobs_under_way(tmp_path) == []


def test_a_file_that_says_the_impossible_is_no_job(tmp_path: Path) -> None:
    Presence(tmp_path, "run", "x").say("")
    path = tmp_path / FOLDER / "run-x.json"
    whole = json.loads(path.read_text())
    for damage in ({"pid": -1}, {"kind": "dance"}, {"since": float("nan")}, {"heard": float("inf")}):
        path.write_text(json.dumps(whole | damage))
        assert jobs_under_way(tmp_path) == [], damage
