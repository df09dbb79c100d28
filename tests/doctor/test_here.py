"""The whole examination on this machine, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.doctor.finding import Diagnosis
from harness.doctor.lines import lines_of, summary


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Diagnosis, Path]:
    folder = tmp_path_factory.mktemp("here")
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache"), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "doctor", "--json"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    return done.returncode, Diagnosis.model_validate_json(done.stdout), folder


def test_it_says_that_runs_are_possible(answer):
    code, found, _ = answer
    assert code == 0
    assert found.can_run
    titles = [section.title for section in found.sections]
    assert titles == [
        *("Versions", "Folders", "Threads", "Memory", "Load", "Accelerator", "Optional libraries"),
        *("Precision and aggregation", "One second of computing"),
    ]


def test_it_has_what_a_program_would_ask_for(answer):
    facts = {name: value for s in answer[1].sections for f in s.findings for name, value in f.facts.items()}
    assert facts["torch"][0].isdigit()
    assert facts["usable_cpus"] == len(os.sched_getaffinity(0))
    assert 0 < facts["available_bytes"] < facts["total_bytes"]
    assert facts["convolved"] > 1e3
    assert facts["sampled"] > 1e3
    assert facts["finite"]


def test_lines_fit_a_terminal_and_say_their_level_in_words(answer):
    for section in answer[1].sections:
        lines = lines_of(section)
        assert lines[0] == section.title
        for line in lines:
            assert len(line) < 80 or " " not in line.strip(), line  # a path is not cut
        assert all(
            line.split()[0] in ("ok", "note", "problem") for line in lines[1:-1] if not line.startswith(" " * 10)
        )
    assert summary(answer[1])[-1].endswith("runs are possible")


def test_it_leaves_only_the_probes_answer(answer):
    folder = answer[2]
    left = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert [name.startswith("cache/probe-") for name in left] == [True]


def test_the_command_imports_no_torch():
    code = (
        "import sys, json, harness.doctor.examination\n"
        "print(json.dumps(sorted({'torch', 'torch_geometric', 'numba', 'ogb'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
