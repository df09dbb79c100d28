"""The shell's completion, by the protocol that the installed scripts speak."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CALL = "import sys; sys.argv = ['harness']; from harness.cli import main; main()"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Specs, a planned spec with two variants, a claim and a data file."""
    for name in ("specs/cora.yaml", "specs/citeseer.yaml", "specs/claims/A4.yaml", "edges.csv", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "results" / "cora").mkdir(parents=True)
    plan = {"cells": {"baseline": {}, "cache-0.1": {}, "cache-0.3": {}}}
    (tmp_path / "results" / "cora" / "plan.json").write_text(json.dumps(plan))
    return tmp_path


def completed(project: Path, line: str, shell: str = "bash") -> list[str]:
    """What is offered for the last word of a line."""
    words = line.split(" ")
    environment = {**os.environ, "_HARNESS_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        environment |= {"COMP_WORDS": line.rstrip(), "COMP_CWORD": str(len(words) - 1)}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(
        [sys.executable, "-c", CALL], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout.endswith("\n") else done.stdout.split("\n")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("harness val", ["validate"]),
        ("harness plan specs/c", ["specs/citeseer.yaml", "specs/cora.yaml"]),
        ("harness validate specs/cora.yaml specs/ci", ["specs/citeseer.yaml"]),
        ("harness status ", ["cora"]),
        ("harness report ", ["results/cora"]),
        ("harness compare results/", ["results/cora"]),
        ("harness retry cora --variant ca", ["cache-0.1", "cache-0.3"]),
        ("harness retry cora --variant cache-0.1,ca", ["cache-0.1,cache-0.3"]),
        ("harness retry results/cora --timing co", ["control"]),
        ("harness retry cora --status oom,ti", ["oom,timeout"]),
        ("harness claims ", ["A4"]),
        ("harness init Planetoid/Co", ["Planetoid/Cora"]),
        ("harness init ed", ["edges.csv"]),
        ("harness schema --format ", ["json", "md"]),
        ("harness plan nothing-of-that", [""]),
    ],
)
def test_bash_is_offered_what_fits(project: Path, line: str, offered: list[str]) -> None:
    assert completed(project, line) == offered


def test_a_damaged_plan_offers_nothing_and_says_nothing(project: Path) -> None:
    (project / "results" / "cora" / "plan.json").write_text('{"cel')
    assert completed(project, "harness retry cora --variant ca") == [""]


def test_other_shells_are_offered_the_same(project: Path) -> None:
    assert [line.split("\t")[0] for line in completed(project, "harness status c", "fish")] == ["cora"]


def test_the_script_of_a_shell_calls_back_by_that_protocol(project: Path) -> None:
    environment = {**os.environ, "_HARNESS_COMPLETE": "source_bash"}
    done = subprocess.run([sys.executable, "-c", CALL], cwd=project, env=environment, capture_output=True, text=True)
    assert "_HARNESS_COMPLETE=complete_bash" in done.stdout
    assert done.stdout.rstrip().endswith(" harness")
