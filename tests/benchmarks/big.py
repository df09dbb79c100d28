"""A graph of 10 M nodes and 100 M edge ends: prepared, and an epoch of 200 k seeds sampled and fetched from disk."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from tests.benchmarks.result import Line, Result

if TYPE_CHECKING:  # the parent of the two processes stays small
    from harness.graphs.graph import Graph

TITLE = "10 M nodes, 100 M edge ends, 64 features from disk"
HOW = (
    "Synthetic, mean degree 10 counting both directions, features on disk; fan-out [15, 10, 5], batches of "
    "1,024 seeds. Preparing and sampling are a process each, with one torch thread. Peaks are looked at every "
    "20 ms: of anonymous memory, and of all resident pages, which hold pages of mapped files that the kernel "
    "takes back when it needs them."
)
MOST_GIB = 24
GIB = 2**30
NODES, SEEDS, FEATURES = 10_000_000, 200_000, 64
QUICK_NODES = 200_000


def run(asked: argparse.Namespace) -> Result:
    nodes = QUICK_NODES if asked.quick else NODES
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.environ.get("HARNESS_BENCH_DISK", asked.folder)) as cache:
        prepared, sampled = (_in_a_process(phase, nodes, cache) for phase in ("prepare", "epoch"))
    lines = []
    for what, found in (("preparing", prepared), ("an epoch", sampled)):
        lines += [
            Line(f"{what}: anonymous peak", found["anonymous"] / GIB, "GiB", at_most=MOST_GIB),
            Line(f"{what}: resident peak", found["resident"] / GIB, "GiB", at_most=MOST_GIB),
            Line(f"{what}: time", found["seconds"], "s"),
        ]
    lines += [
        Line("arrays on disk", prepared["bytes"] / GIB, "GiB", note=f"{nodes:,} nodes, {prepared['edges']:,.0f} edges"),
        Line(
            "an epoch: sampled",
            sampled["edges"] / sampled["seconds"] / 1e6,
            "M edges/s",
            note=f"{sampled['batches']:.0f} batches, {sampled['nodes'] / 1e6:.1f} M nodes fetched",
        ),
    ]
    return Result("big", TITLE, HOW, lines)


def _in_a_process(phase: str, nodes: int, cache: str) -> dict[str, float]:
    environment = {**os.environ, "HARNESS_CACHE": cache, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.benchmarks.big", phase, str(nodes)]
    done = subprocess.run(command, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"big: {phase} ended with code {done.returncode}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _phase(phase: str, nodes: int) -> dict[str, float]:
    from tests.benchmarks.memory import WatchedMemory

    started = time.perf_counter()
    with WatchedMemory() as memory:
        found = _prepare(nodes) if phase == "prepare" else _epoch(nodes)
    seconds = found.pop("seconds", time.perf_counter() - started)
    return {**found, "seconds": seconds, "anonymous": memory.anonymous, "resident": memory.resident}


def _prepare(nodes: int) -> dict[str, float]:
    from harness.graphs.store import graph_bytes

    graph = _graph(nodes)
    return {"bytes": graph_bytes(graph.num_nodes, graph.num_edges, graph.num_features, 0), "edges": graph.num_edges}


def _epoch(nodes: int) -> dict[str, float]:
    import torch

    from harness.batches.features.choose import store_of
    from harness.batches.plans import batches_of
    from harness.spec.options import Features, Options, Sampling, Training

    graph = _graph(nodes)
    options = Options(sampling=Sampling(fanout=(15, 10, 5)), features=Features(home="disk"))
    plan = batches_of(graph, options, Training(batch_size=1024), 3, seed=0)
    store = store_of(graph, options, plan, 1, torch.device("cpu"))
    batches = edges = fetched = 0
    started = time.perf_counter()
    for batch in plan.epoch(1):
        store.fetch(batch.nodes)
        batches, edges, fetched = batches + 1, edges + batch.num_edges, fetched + len(batch.nodes)
    return {"batches": batches, "edges": edges, "nodes": fetched, "seconds": time.perf_counter() - started}


def _graph(nodes: int) -> Graph:
    from harness.spec.dataset import Split, Synthetic
    from tests.benchmarks.graphs import prepared

    split = Split(kind="random", train=min(0.5, SEEDS / nodes), val=0.01, seed=0)
    return prepared(Synthetic(source="synthetic", nodes=nodes, mean_degree=10, features=FEATURES, split=split))


if __name__ == "__main__":
    print(json.dumps(_phase(sys.argv[1], int(sys.argv[2]))))
