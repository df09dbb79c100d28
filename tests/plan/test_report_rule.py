"""What `snakemake --report` shows: pages, tables and figures by category, each with its caption."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.plan.grid import Grid

ROOT = Path(__file__).parents[2]
SPEC = """\
version: 1
name: small
dataset: {source: builtin, name: wordnet, subset: verb}
model: {conv: sage, layers: 2, hidden: 16}
training: {epochs: 3, batch_size: 128}
baseline: {sampling: {fanout: [5, 5]}}
variants: {spmm: {set: {aggregation: spmm}}}
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """A spec, and files that stand for a grid that ran."""
    for name in ("Snakefile", "workflows", "profiles"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "small.yaml").write_text(SPEC)
    for name in ("report.html", "report.md", "report.tex", "report.csv", "figures/stages.svg", "figures/stages.csv"):
        path = tmp_path / "results" / "small" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>" if name.endswith("svg") else f"the {name}")
    return tmp_path


def _snakemake(grid: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *options, "results/small/report.html"],
        cwd=grid,
        env={**os.environ, "HARNESS_CACHE": str(grid / ".cache"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_snakemakes_report_has_page_tables_and_figures_by_category(grid: Path) -> None:
    _snakemake(grid, "--report", "all.html")
    text = (grid / "all.html").read_text()
    found = re.search(r"var categories = (\{.*?\});?\n", text)
    assert found is not None
    files = {
        name: sorted(path for paths in groups.values() for path in paths)
        for name, groups in json.loads(found[1]).items()
    }
    folder = "results/small/"
    assert files == {
        "Verdicts": [f"{folder}report.html"],
        "Tables": [f"{folder}report.{form}" for form in ("csv", "md", "tex")],
        "Figures": [f"{folder}figures/stages.csv", f"{folder}figures/stages.svg"],
    }
    for words in ("The page of", "The verdicts of", "How to read it is said below the same figure"):
        assert words in text


def test_the_index_names_the_specs_that_it_runs(grid: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(grid)
    made = Grid(None, results="results", specs="specs")
    assert made.reports("small") == ["results/small/report.html"]
    with pytest.raises(SystemExit) as stopped:
        made.reports(None)
    assert stopped.value.code == 2
    assert "name the specs to run: `--config specs=cora,debian`" in capsys.readouterr().err


def test_what_was_judged_by_hand_before_all_had_run_is_not_up_to_date(grid: Path, monkeypatch) -> None:
    """`harness analyze` and `harness report` after `--until run`: the timings must still be made."""
    monkeypatch.chdir(grid)
    Grid(None, results="results", specs="specs").file("small", "plan.json")
    (grid / "results" / "small" / "verdicts.json").write_text("{}")
    for name in ("report.html", "report.md", "report.tex", "report.csv", "figures"):
        os.utime(grid / "results" / "small" / name)
    said = _snakemake(grid, "--dry-run")
    assert re.search(r"output files have to be generated:\n +prepare, run, time\n", said)
    assert re.search(r"updated input files:\n +analyze\n", said)
