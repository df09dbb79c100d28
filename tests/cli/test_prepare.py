"""Preparing a spec by hand also cuts its graph; preparing what Snakemake hands over does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SPEC = """\
version: 1
name: parts
dataset: {source: synthetic, nodes: 300, mean_degree: 8, classes: 3, features: 4}
model: {conv: sage, layers: 2}
baseline: {batching: cluster, partition: {method: metis, parts: 8, per_batch: 2}}
variants: {other: {grid: {partition.method: [random, fennel, ldg]}}}
"""


def _harness(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache"), "COLUMNS": "80"}
    command = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec, what Snakemake would hand over, and the graph prepared from that, as in a grid."""
    from harness.plan.expand import make_plan
    from harness.plan.files import write_plan
    from harness.plan.machine import probe
    from harness.spec.load import load_spec

    folder = tmp_path_factory.mktemp("parts")
    (folder / "s.yaml").write_text(SPEC)
    write_plan(make_plan(load_spec(folder / "s.yaml"), folder / "s.yaml", probe(folder / "cache")), folder / "results")
    return folder


def test_a_person_gets_the_partitions_and_snakemake_the_graph_alone(folder: Path) -> None:
    handed_over = _harness(folder, "prepare", "results/parts/plan/dataset.json", "--output", "dataset.json")
    assert "partition" not in handed_over
    assert " ".join(handed_over.split()).startswith("Graph 'synthetic-300': 300 nodes, ")
    assert max(map(len, handed_over.splitlines())) <= 80
    assert not (folder / "cache" / "partitions").exists()
    assert "not made yet; `harness prepare s.yaml` makes them" in " ".join(_harness(folder, "plan", "s.yaml").split())
    assert "partition" not in _harness(folder, "prepare", "s.yaml", "--no-partitions")

    lines = [line for line in _harness(folder, "prepare", "s.yaml").splitlines() if line.startswith("partition ")]
    names = ["metis 8", "random 8", "fennel 8, 10 passes", "ldg 8"]
    assert [line.split(", seed 0 ...")[0] for line in lines] == [f"partition {name}" for name in names]
    assert all("% of edges kept, made in" in line for line in lines)

    shown = _harness(folder, "plan", "s.yaml").splitlines()
    start = shown.index("Partitions (seed 0)")
    assert [line.split("  ")[0] for line in shown[start + 2 : start + 6]] == names
    assert max(map(len, shown[start:])) <= 80
    assert "not made yet" not in " ".join(shown)


def test_a_wrong_file_of_weights_is_found_before_anything_trains(folder: Path, tmp_path: Path) -> None:
    text = SPEC.replace("variants: {", "variants: {by-file: {set: {batching: neighbor, sampling.method: importance, ")
    text = text.replace("other: {grid", "sampling.weights: w.npy, sampling.fanout: [3, 3]}}, other: {grid")
    (tmp_path / "s.yaml").write_text(text)
    command = [sys.executable, "-m", "harness.cli", "prepare", "s.yaml", "--no-partitions"]
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache")}
    for weights, code, words in ((np.ones(299), 2, "one number a node"), (np.ones(300), 0, "weights w.npy: ok")):
        np.save(tmp_path / "w.npy", weights)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, words in done.stdout + done.stderr) == (code, True), done.stderr
        assert "Traceback" not in done.stderr
