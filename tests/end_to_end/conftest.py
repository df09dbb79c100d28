"""A working copy of the grid in a folder of its own, and a small spec that fails in every way a run can."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SPEC = """\
version: 1
name: small
dataset: {source: synthetic, nodes: 400, mean_degree: 8, classes: 3, features: 16, signal: 1.0, seed: 1}
model: {conv: sage, layers: 2, hidden: 16, dropout: 0.2}
training: {epochs: 3, batch_size: 128, lr: 0.01}
baseline:
  sampling: {fanout: [5, 5]}
  partition: {parts: 4, per_batch: 2}
variants:
  spmm: {set: {aggregation: spmm}, exact: true}
seeds: {looks: [3]}
timing: {looks: [4], warmup_epochs: 1, epochs: 2, max_repeats: 0}
limits: {time_s: 60}
device: cpu
"""


@dataclass
class Workspace:
    """A folder with the Snakefile and its rules, specs/ and results/."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()  # a command that runs the rest, e.g. in a network namespace of its own

    def spec(self, text: str, name: str = "small") -> Path:
        path = self.path / "specs" / f"{name}.yaml"
        path.write_text(text)
        return path

    def results(self, name: str) -> Path:
        return self.path / "results" / "small" / name

    def snakemake(self, *arguments: str, timeout: float = 800) -> subprocess.CompletedProcess[str]:
        target = [] if arguments else ["results/small/report.html"]
        return self._call("-m", "snakemake", "--cores", "2", *target, *arguments, timeout=timeout)

    def harness(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._call("-m", "harness.cli", *arguments, timeout=120)

    def _call(self, *arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, sys.executable, *arguments],
            cwd=self.path,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


@pytest.fixture(scope="module")
def module_workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_workspace(tmp_path_factory.mktemp("grid"))


def make_workspace(folder: Path) -> Workspace:
    for name in ("Snakefile", "workflows", "profiles"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    (folder / "specs").mkdir()
    environment = {**os.environ, "HARNESS_CACHE": str(folder / ".cache"), "COLUMNS": "80", "NO_COLOR": "1"}
    made = Workspace(folder, environment)
    made.spec(SPEC)
    return made


@pytest.fixture
def edited() -> Callable[[str, str], str]:
    """The small spec with one piece replaced; fails where the piece is not there."""

    def edit(old: str, new: str) -> str:
        assert old in SPEC
        return SPEC.replace(old, new)

    return edit
