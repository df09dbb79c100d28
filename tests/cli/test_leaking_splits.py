"""A split that leaks is caught with one message: refused, or warned of in graph, plan, verdicts, terminal and page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SPEC = """\
version: 1
name: leaky
dataset: {source: files, path: g.npz, split: {kind: file, path: split.npz}, transform: {scale: standard, fit: all}}
model: {conv: sage, layers: 2}
baseline: {sampling: {fanout: [4, 3]}}
variants: {narrow: {set: {sampling.fanout: [2, 2]}}}
"""
COPIES = "10.0 % (2 of 20) of the test nodes have the features and the neighbours of a training node"
FITTED_ON_ALL = "transform.fit is all: the features hold what only validation and test nodes could tell"


def _harness(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache"), "COLUMNS": "80"}
    command = [sys.executable, "-m", "harness.cli", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    """A ring of 100 nodes, each with features of its own but for two test nodes, which are copies of training nodes."""
    rng, nodes = np.random.default_rng(0), np.arange(100)
    source, target = [*nodes, *((nodes + 1) % 100)], [*((nodes + 1) % 100), *nodes]
    x = rng.standard_normal((102, 4)).astype(np.float32)
    for copy, original in ((100, 10), (101, 20)):
        x[copy] = x[original]
        source += [original - 1, original + 1]
        target += [copy, copy]
    np.savez(tmp_path / "g.npz", edge_index=np.array([source, target]), x=x, y=np.arange(102) % 3)
    np.savez(tmp_path / "split.npz", train=nodes[:60], val=nodes[60:82], test=np.arange(82, 102))
    (tmp_path / "s.yaml").write_text(SPEC)
    return tmp_path


def test_copies_and_statistics_of_all_nodes_reach_whoever_reads_a_verdict(leaky: Path) -> None:
    from harness.plan.expand import make_plan
    from harness.plan.files import write_plan
    from harness.plan.machine import probe
    from harness.spec.load import load_spec

    plan = make_plan(load_spec(leaky / "s.yaml"), leaky / "s.yaml", probe(leaky / "cache"))
    write_plan(plan, leaky / "results")
    folder = "results/leaky"
    prepared = _harness(leaky, "prepare", "s.yaml")
    judged = _harness(leaky, "analyze", f"{folder}/plan.json", "--output", f"{folder}/verdicts.json")
    written = _harness(leaky, "report", folder)
    shown = _harness(leaky, "report", folder, "--show")
    assert [run.returncode for run in (prepared, judged, written, shown)] == [0] * 4, judged.stderr + written.stderr
    warnings = json.loads((leaky / folder / "verdicts.json").read_text())["warnings"]
    page = (leaky / folder / "report.html").read_text().replace("<wbr>", "")
    markdown = (leaky / folder / "report.md").read_text()
    for words in (COPIES, FITTED_ON_ALL):
        assert sum(words in warning for warning in warnings) == 1
        start = words.partition(": ")[0]
        for text in (prepared.stdout + prepared.stderr, shown.stdout, page, markdown):
            assert start in " ".join(text.replace("\n  ", " ").split())


def test_parts_that_share_nodes_are_refused(leaky: Path) -> None:
    np.savez(leaky / "split.npz", train=np.arange(60), val=np.arange(60, 82), test=np.arange(55, 102))
    refused = _harness(leaky, "prepare", "s.yaml")
    assert refused.returncode == 2
    message = " ".join(refused.stderr.split())
    assert "split.npz" in message
    assert "5 node(s) are in both train and test, e.g. node 55; parts must be disjoint" in message
    assert "Traceback" not in refused.stderr
