"""The main job on a small graph: what runs, what runs again, and what a person is told."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness.verdicts.model import Verdicts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def grid(module_workspace):
    """The grid run once, with everything off the straight road in it."""
    module_workspace.spec(FAILING)
    (module_workspace.path / "specs" / "broken.py").write_text(BROKEN)
    if subprocess.run([*OFFLINE, "true"], capture_output=True, check=False).returncode == 0:
        module_workspace.prefix = OFFLINE
    done = module_workspace.snakemake()
    return module_workspace, done


OFFLINE = ("unshare", "--map-root-user", "--net")
BROKEN = """\
import os, signal, torch


class Killed(torch.nn.Linear):
    def forward(self, x, edge_index):
        os.kill(os.getpid(), signal.SIGKILL)


class Raising(torch.nn.Linear):
    def forward(self, x, edge_index):
        raise KeyError("no such layer")
"""


FAILING = """\
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
  diverging: {set: {training.lr: 1.0e+30}}
  slow: {set: {training.epochs: 1000000}}
  huge: {set: {model.layers: 3, model.hidden: 8000, sampling.fanout: [5, 5, 5]}}
  attention: {set: {model.conv: gat, aggregation: spmm}}
  killed: {set: {model.conv: null, model.class: "broken:Killed"}}
  raising: {set: {model.conv: null, model.class: "broken:Raising"}}
seeds: {looks: [3]}
timing: {looks: [4], warmup_epochs: 1, epochs: 2, max_repeats: 0}
limits: {time_s: 10, memory_mb: 300}
device: cpu
"""


def statuses(workspace, variant):
    result = json.loads(workspace.results(f"variants/{variant}.json").read_text())
    return {run["status"] for run in result["runs"]}


def test_failures_are_rows_and_the_grid_ends_well(grid):
    workspace, done = grid
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(workspace, "spmm") == {"ok"}
    assert statuses(workspace, "diverging") == {"diverged"}
    assert statuses(workspace, "slow") == {"timeout"}
    assert statuses(workspace, "huge") == {"oom"}
    assert statuses(workspace, "killed") == {"killed"}
    assert statuses(workspace, "raising") == {"error"}
    verdicts = Verdicts.model_validate_json(workspace.results("verdicts.json").read_text())
    by_name = {c.variant: c.verdict for c in verdicts.comparisons}
    assert by_name["attention"] == "skipped"
    assert {by_name[n] for n in ("diverging", "slow", "huge", "killed", "raising")} == {"dnf"}
    assert by_name["spmm"] in ("accept", "no-gain", "inconclusive")


def test_no_network_was_needed(grid):
    workspace, done = grid
    if not workspace.prefix:
        pytest.skip("this system gives no network namespace to a test (unshare --map-root-user --net)")
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    alone = subprocess.run([*OFFLINE, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Network is unreachable" in alone.stderr
    assert done.returncode == 0


def test_terminal_ends_with_the_verdicts_at_80_columns(grid):
    _, done = grid
    lines = done.stdout.splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("variant ")) :]
    for name in ("spmm", "diverging", "slow", "huge", "attention", "killed", "raising"):
        assert [line for line in table if line.startswith(name)]
    assert max(len(line) for line in table) <= 80


def test_reports_are_written(grid):
    workspace, _ = grid
    for name in ("report.html", "report.md", "report.tex", "report.csv"):
        assert "diverging" in workspace.results(name).read_text()
    assert list(workspace.results("figures").glob("*.svg"))


def test_second_call_has_nothing_to_do(grid):
    workspace, _ = grid
    workspace.spec(FAILING)  # touched, not changed
    again = workspace.snakemake()
    assert again.returncode == 0
    assert "Nothing to be done" in again.stdout + again.stderr


def test_retry_runs_failed_ones_again(grid):
    workspace, _ = grid
    before = record_times(workspace)
    done = workspace.harness("retry", "small", "--status", "timeout")
    assert done.returncode == 0
    assert "slow seed 0 (timeout)" in done.stdout
    gone = set(before) - set(record_times(workspace))
    assert gone
    again = workspace.snakemake()
    assert again.returncode == 0, again.stdout + again.stderr
    assert statuses(workspace, "slow") == {"timeout"}
    after = record_times(workspace)
    assert gone <= set(after)  # made again
    assert {name: after[name] for name in set(before) - gone} == {name: before[name] for name in set(before) - gone}


def record_times(workspace):
    return {p.name: p.stat().st_mtime_ns for p in (workspace.path / "results/runs").glob("*.json")}


def test_a_new_variant_runs_alone(workspace, edited):
    assert workspace.snakemake().returncode == 0
    kept = {
        path: path.stat().st_mtime_ns
        for folder in ("variants", "timing")
        for path in workspace.results(folder).glob("*.json")
    }
    records = {p.name for p in (workspace.path / "results/runs").glob("*.json")}
    workspace.spec(edited("variants:\n", "variants:\n  thin: {set: {sampling.fanout: [2, 2]}}\n"))
    assert workspace.snakemake().returncode == 0
    assert {p: p.stat().st_mtime_ns for p in kept} == kept
    assert workspace.results("variants/thin.json").exists()
    new = {p.name for p in (workspace.path / "results/runs").glob("*.json")} - records
    quality = [json.loads((workspace.path / "results/runs" / n).read_text()) for n in new]
    trained = [r for r in quality if r["purpose"] == "quality"]
    assert {tuple(r["options"]["sampling"]["fanout"]) for r in trained} == {(2, 2)}


def test_killing_snakemake_loses_at_most_the_runs_in_flight(workspace, edited):
    workspace.spec(edited("epochs: 3", "epochs: 40"))
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", "results/small/report.html"],
        cwd=workspace.path,
        env=workspace.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = workspace.path / "results" / "runs"
    deadline = time.monotonic() + 120
    while len(list(runs.glob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(2)  # children notice that their parent died
    finished = {p: p.stat().st_mtime_ns for p in runs.glob("*.json")}
    assert len(finished) >= 2
    done = workspace.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    assert {p: p.stat().st_mtime_ns for p in finished} == finished
    assert workspace.results("verdicts.json").exists()


def test_a_bad_spec_stops_snakemake_with_2_and_no_traceback(workspace, edited):
    workspace.spec(edited("aggregation: spmm", "aggregation: sppm"))
    done = workspace.snakemake()
    assert done.returncode == 2
    assert "specs/small.yaml:10:29: variants.spmm.set.aggregation:" in done.stderr
    assert "spmm" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
