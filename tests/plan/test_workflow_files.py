"""Facts of the Makefile and the profiles that no run on one machine shows."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]


def test_timing_jobs_on_slurm_have_a_number_of_cores() -> None:
    """Their threads are `workflow.cores`, which is unknown where the profile does not say."""
    profile = YAML(typ="safe").load(ROOT / "profiles" / "slurm" / "config.yaml")
    assert profile["cores"] > 1
    assert "threads: workflow.cores" in (ROOT / "workflows" / "rules" / "measure.smk").read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_clean_removes_all_results_but_the_reference(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for folder in ("reference", "runs", "quickstart/plan", ".hidden"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    (tmp_path / ".cache" / "graphs").mkdir(parents=True)
    for _ in range(2):  # again on what is clean
        subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
        assert [path.name for path in (tmp_path / "results").iterdir()] == ["reference"]
        assert not (tmp_path / ".cache").exists()
    shutil.rmtree(tmp_path / "results")
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
