"""Edges sampled on one thread: the compiled sampler, the torch oracle, and libraries where they are installed."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median

import numpy as np
import torch

from harness.batches import NeighborSampler
from harness.batches.sampling.methods import METHODS
from harness.batches.sampling.torch_sampler import TorchNeighborSampler
from tests.benchmarks.graphs import power_law
from tests.benchmarks.result import Line, Result
from tests.benchmarks.timing import Work, alternated, median_ratio

TITLE = "sampling by ours and by others, one thread"
HOW = (
    "Fan-out [15, 10, 5], batches of 1,024 seeds, processor time of the one thread, the same seeds for each "
    "side in the order A B B A, medians of ratios. Graphs: power-law degrees, random ends. Edges a second are "
    "of sampled edges."
)
FANOUT, BATCH = [15, 10, 5], 1024
GRAPHS = {"170 k nodes, 2.3 M edges": (170_000, 2_300_000, 2.2), "2 M nodes, 30 M edges": (2_000_000, 30_000_000, 1.8)}


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    lines = []
    for name, (nodes, edges, least) in GRAPHS.items():
        lines += _on_graph(name, power_law(nodes, edges), least, 4 if asked.quick else 24)
    lines += _methods(power_law(*GRAPHS["170 k nodes, 2.3 M edges"][:2]), 2 if asked.quick else 12)
    return Result("sampler", TITLE, HOW, lines)


def _on_graph(name: str, graph: tuple[np.ndarray, np.ndarray], least: float, pieces: int) -> list[Line]:
    seeds = _seeds(len(graph[0]) - 1, pieces)
    counted: dict[str, int] = {}
    sides = {"ours": _ours(NeighborSampler(*graph, FANOUT), seeds, counted, "ours")}
    sides["torch"] = _ours(TorchNeighborSampler(*graph, FANOUT), seeds, counted, "torch")
    absent = []
    for library, make in LIBRARIES.items():
        if find_spec(library) is None:
            absent.append(library)
        else:
            sides[library] = make(graph, seeds)
    for work in sides.values():
        work(0)  # compiles
    counted.clear()
    taken = alternated(sides, pieces, time.thread_time)
    speed = counted["ours"] / sum(taken["ours"]) / 1e6
    lines = [
        Line(
            f"{name}: time, torch over ours", median_ratio(taken, "torch", "ours"), "x", at_least=least, samples=taken
        ),
        Line(f"{name}: ours", speed, "M edges/s"),
    ]
    for library in LIBRARIES:
        value = None if library in absent else median_ratio(taken, library, "ours")
        lines.append(Line(f"{name}: time, {library} over ours", value, "x", note="" if value else "not installed"))
    return lines


def _methods(graph: tuple[np.ndarray, np.ndarray], pieces: int) -> list[Line]:
    """Each method's cost for an edge, over that of uniform: methods draw different numbers of edges."""
    seeds = _seeds(len(graph[0]) - 1, pieces)
    lines, counted = [], {}
    sides = {m: _ours(NeighborSampler(*graph, FANOUT, m), seeds, counted, m) for m in METHODS}
    for work in sides.values():
        work(0)
    counted.clear()
    taken = alternated(sides, pieces, time.thread_time)
    cost = {m: median(taken[m]) * pieces / counted[m] for m in METHODS}
    for method in METHODS:
        if method != "uniform":
            ratio = cost[method] / cost["uniform"]
            drawn = counted[method] / counted["uniform"]
            lines.append(
                Line(
                    f"170 k nodes: time an edge, {method} over uniform",
                    ratio,
                    "x",
                    note=f"draws {drawn:.2f} times the edges",
                    samples={method: taken[method]},
                )
            )
    return lines


def _seeds(nodes: int, pieces: int) -> np.ndarray:
    return np.random.default_rng(1).permutation(nodes)[: pieces * BATCH].reshape(pieces, BATCH)


def _ours(
    sampler: NeighborSampler | TorchNeighborSampler, seeds: np.ndarray, counted: dict[str, int], name: str
) -> Work:
    def sample(piece: int) -> None:
        drawn = sampler.sample(seeds[piece], epoch=1, batch=piece).num_edges
        counted[name] = counted.get(name, 0) + drawn

    return sample


def _pyg_lib(graph: tuple[np.ndarray, np.ndarray], seeds: np.ndarray) -> Work:
    from pyg_lib.sampler import neighbor_sample

    indptr, indices = torch.from_numpy(graph[0]), torch.from_numpy(graph[1]).long()
    return lambda piece: neighbor_sample(indptr, indices, torch.from_numpy(seeds[piece]), FANOUT)


def _torch_sparse(graph: tuple[np.ndarray, np.ndarray], seeds: np.ndarray) -> Work:
    import torch_sparse  # noqa: F401 (registers the operator)

    indptr, indices = torch.from_numpy(graph[0]), torch.from_numpy(graph[1]).long()
    sample = torch.ops.torch_sparse.neighbor_sample
    return lambda piece: sample(indptr, indices, torch.from_numpy(seeds[piece]), FANOUT, False, True)


LIBRARIES: dict[str, Callable[[tuple[np.ndarray, np.ndarray], np.ndarray], Work]] = {
    "pyg_lib": _pyg_lib,
    "torch_sparse": _torch_sparse,
}
