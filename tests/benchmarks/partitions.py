"""Edges cut and time taken by each way of partitioning."""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from harness.graphs import partition
from harness.graphs.partitioning import METHODS, edge_cut
from tests.benchmarks.graphs import block_model, debian, wordnet
from tests.benchmarks.result import Line, Result

TITLE = "share of edges cut into 32 parts, and processor time"
HOW = (
    "Each method once, seed 0, fennel with 10 passes; processor time of the one thread, the symmetrising "
    "included. The block model has 50,000 nodes, 100 communities, mean degree 14, 80 % of the edges inside "
    "communities."
)
PARTS = 32
FENNEL_BY_METIS, LDG_UNDER_RANDOM = 1.15, 15.0


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    small = block_model(2_000, 20)
    for method in METHODS:
        partition(*small, PARTS, method)  # compiles
    lines = _on_graph("block model", block_model(), required=True)
    if not asked.quick:
        for name, graph in (("wordnet", wordnet()), ("debian", debian())):
            if graph is None:
                lines.append(Line(name, None, note="HARNESS_DATA has no files/debian12_deps.npz"))
            else:
                lines += _on_graph(name, (np.asarray(graph.indptr), np.asarray(graph.indices)), required=False)
    return Result("partitions", TITLE, HOW, lines)


def _on_graph(name: str, graph: tuple[np.ndarray, np.ndarray], required: bool) -> list[Line]:
    cut, seconds = {}, {}
    for method in METHODS:
        started = time.thread_time()
        part = partition(*graph, PARTS, method)
        seconds[method] = time.thread_time() - started
        cut[method] = edge_cut(*graph, part)
    lines = [
        Line(
            f"{name}: {method} cuts",
            100 * cut[method],
            "%",
            note=f"in {seconds[method]:.2f} s",
            samples={"seconds": [seconds[method]]},
        )
        for method in METHODS
    ]
    if required:
        lines += [
            Line(f"{name}: cut, fennel over metis", cut["fennel"] / cut["metis"], "x", at_most=FENNEL_BY_METIS),
            Line(f"{name}: ldg under random", 100 * (cut["random"] - cut["ldg"]), "points", at_least=LDG_UNDER_RANDOM),
        ]
    return lines
