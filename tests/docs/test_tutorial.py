"""The tutorial, typed as it stands into an empty folder, ends in a report; then what other pages say of such results.

Only the sizes are cut down: fewer animals, epochs, seeds and ratios.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.spec.load import load_spec
from harness.verdicts.model import Verdicts
from tests.docs.pages import PAGES, ROOT, Command, blocks, commands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TUTORIAL = ROOT / "docs" / "tutorial.md"
SMALLER = {
    "n = 4000": "n = 600",
    "epochs: 10": "epochs: 2",
    "seeds: {looks: [5, 10]}": "seeds: {looks: [3]}",
    "timing: {looks: [4, 6, 8], warmup_epochs: 2, epochs: 5}": (
        "timing: {looks: [4], warmup_epochs: 1, epochs: 2, max_repeats: 0}\ndevice: cpu"
    ),
}
NOT_RUN = {
    "make quickstart": "five minutes; tests/end_to_end runs the grid",
    "source .venv/bin/activate": "the tests' own environment is active",
    "harness init edges.csv --labels labels.csv --features x.npy": "a form: the tutorial's draft is made",
    "harness init graph.npz": "likewise",
    "harness init pyg:Planetoid/Cora": "needs the data; tests/drafts makes it",
}


@dataclass
class Desk:
    """A folder that a reader works in, with the commands of the environment at hand."""

    path: Path

    def type(self, command: Command) -> subprocess.CompletedProcess[str]:
        """Run a command line; its words are a program of this environment."""
        word, *rest = command.words
        program = {"harness": ["-m", "harness.cli"], "snakemake": ["-m", "snakemake"], "python": []}[word]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "HARNESS_CACHE": str(self.path / ".cache"),
            "TMPDIR": str(self.path / "tmp"),  # locks of its own: timings elsewhere on the machine need not end first
            "COLUMNS": "80",
        }
        environment.pop("HARNESS_DATA", None)  # data/ is where the tutorial puts its data
        return subprocess.run(
            [sys.executable, *program, *rest],
            cwd=self.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """All that the tutorial says to write and to type, in its order."""
    found = Desk(tmp_path_factory.mktemp("tutorial"))
    for name in ("Snakefile", "workflows", "profiles", "specs"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, found.path / name)
    (found.path / "tmp").mkdir()
    unused = set(SMALLER)
    for block in blocks(TUTORIAL):
        if block.title:
            text = block.text
            unused -= {piece for piece in SMALLER if piece in text}
            for piece, smaller in SMALLER.items():
                text = text.replace(piece, smaller)
            (found.path / block.title).write_text(text)
    assert unused == set(), "the page no longer says what is cut down here"
    for command in commands(TUTORIAL):
        if command.fenced and command.line not in NOT_RUN:
            done = found.type(command)
            assert done.returncode == 0, f"{command.line}\n{done.stdout}{done.stderr}"
    return found


def test_it_ends_in_verdicts_and_a_page(desk: Desk) -> None:
    verdicts = Verdicts.model_validate_json((desk.path / "results" / "mine" / "verdicts.json").read_text())
    assert {c.variant: c.n_pairs for c in verdicts.comparisons} == {"fanout": 3, "spmm": 3}
    assert all(c.speed.ratio is not None for c in verdicts.comparisons)
    assert "fanout" in (desk.path / "results" / "mine" / "report.html").read_text()


def test_the_draft_is_a_spec(desk: Desk) -> None:
    assert load_spec(desk.path / "specs" / "drafted.yaml").name == "drafted"


def test_what_other_pages_say_of_such_results_works(desk: Desk) -> None:
    """On `results/mine`, and on copies of it under the names that pages have for other folders of a reader."""
    mine = desk.path / "results" / "mine"
    for other in ("results/pilot", "old/results/tiny", "new/results/tiny"):
        shutil.copytree(mine, desk.path / other)
    typed = {c.line: c for page in PAGES if page != TUTORIAL for c in commands(page) if c.fenced}
    ours = [c for line, c in typed.items() if c.words[0] == "harness" and line not in NOT_RUN]
    assert len(ours) > 15
    for command in sorted(ours, key=lambda c: "retry" in c.words):  # what forgets results comes last
        done = desk.type(command)
        assert done.returncode == 0, f"{command.page}: {command.line}\n{done.stdout}{done.stderr}"


def test_what_is_not_run_is_still_on_a_page() -> None:
    lines = {command.line for page in PAGES for command in commands(page)}
    assert set(NOT_RUN) - lines == set()
