"""Sampling rate and the sampler's memory on graphs of 10^5 to 10^7 nodes."""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
import torch

from harness.batches import NeighborSampler
from tests.benchmarks.memory import WatchedMemory
from tests.benchmarks.result import Line, Result

TITLE = "sampling as the graph grows, one thread"
HOW = (
    "Power-law degrees of mean 10, random ends; fan-out [15, 10, 5], batches of 1,024 seeds, processor time of "
    "the one thread, median of batches. Memory: anonymous bytes over those held before the sampler was made."
)
SIZES = (100_000, 1_000_000, 10_000_000)
BATCH, BATCHES, FANOUT, MEAN_DEGREE = 1024, 40, [15, 10, 5], 10


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    _at_size(20_000)  # compiles, and lets the allocator settle
    lines = []
    for nodes in SIZES[:2] if asked.quick else SIZES:
        lines += _at_size(nodes)
    return Result("scale", TITLE, HOW, lines)


def _at_size(nodes: int) -> list[Line]:
    indptr, indices = _graph(nodes)
    seeds = np.random.default_rng(1).permutation(nodes)[: nodes // BATCH * BATCH].reshape(-1, BATCH)[:BATCHES]
    rates = []
    with WatchedMemory() as memory:
        sampler = NeighborSampler(indptr, indices, FANOUT, validate=False, has_self_loops=False)
        sampler.sample(seeds[0])
        for i, chosen in enumerate(seeds):
            started = time.thread_time()
            edges = sampler.sample(chosen, 1, i).num_edges
            rates.append(edges / (time.thread_time() - started))
    held = indptr.nbytes + indices.nbytes
    return [
        Line(f"{nodes:,} nodes: rate", median(rates) / 1e6, "M edges/s", samples={"edges_per_s": rates}),
        Line(
            f"{nodes:,} nodes: memory", (memory.anonymous - memory.base) / 1e6, "MB", note=f"graph {held / 1e6:,.0f} MB"
        ),
    ]


def _graph(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    weight = rng.pareto(1.5, nodes) + 1.0
    degree = rng.poisson(np.minimum(weight * (MEAN_DEGREE / weight.mean()), nodes / 10))
    indptr = np.concatenate([[0], np.cumsum(degree)])
    return indptr, rng.integers(0, nodes, indptr[-1], dtype=np.int32)
