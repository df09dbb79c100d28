"""One aggregation of a real batch, forward and backward, by implementation and precision."""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
import torch

from harness.batches import NeighborSampler
from harness.batches.batch import Block
from harness.models.aggregation import Aggregation
from harness.models.block import to_torch
from tests.benchmarks.graphs import wordnet
from tests.benchmarks.result import Line, Result
from tests.benchmarks.timing import Work, alternated, median_ratio

TITLE = "sums over neighbours: gather and scatter over the others, one thread"
HOW = (
    "The first layer's block of a two-layer SAGE on WordNet, fan-out [25, 10], 1,024 training nodes: {dst:,} "
    "destinations, {src:,} sources, {edges:,} edges, largest degree {degree}. Mean, forward and backward, transpose "
    "and padded rows made anew each time, as in each batch. Processor time of one thread, A B B A, medians of ratios."
)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
WIDTHS = (256, 1024)
SIDES = ("scatter", "spmm", "segment", "dense")
FASTER = {(256, "spmm"): 4.0, (1024, "spmm"): 2.0, (256, "segment"): 1.0, (1024, "segment"): 1.0}  # float32


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    block = _block()
    lines = []
    for width in WIDTHS:
        for dtype in DTYPES:
            if width == WIDTHS[0] or dtype == "float32":
                lines += _compared(block, width, dtype, 3 if asked.quick else 16)
    how = HOW.format(
        dst=block.num_dst, src=block.num_src, edges=block.num_edges, degree=int(np.diff(block.indptr).max())
    )
    return Result("aggregation", TITLE, how, lines)


def _compared(block: Block, width: int, dtype: str, pieces: int) -> list[Line]:
    x = torch.randn(block.num_src, width, requires_grad=True)
    gradient = torch.randn(block.num_dst, width, dtype=DTYPES[dtype])
    sides = {name: _step(name, block, x, gradient) for name in SIDES}
    for work in sides.values():
        work(0)
    taken = alternated(sides, pieces, time.thread_time)
    what = f"{width} wide, {dtype}"
    required = FASTER if dtype == "float32" else {}
    return [
        Line(f"{what}: scatter", 1e3 * median(taken["scatter"]), "ms", samples=taken),
        *(
            Line(
                f"{what}: time, scatter over {name}",
                median_ratio(taken, "scatter", name),
                "x",
                at_least=required.get((width, name)),
            )
            for name in SIDES[1:]
        ),
        *(
            Line(f"{what}: time, dense over {name}", median_ratio(taken, "dense", name), "x")
            for name in ("segment", "spmm")
        ),
    ]


def _step(implementation: str, block: Block, x: torch.Tensor, gradient: torch.Tensor) -> Work:
    how = Aggregation(implementation, gradient.dtype)

    def step(_: int) -> None:
        x.grad = None
        how.mean(x, to_torch(block, x.device)).backward(gradient)

    return step


def _block() -> Block:
    graph = wordnet()
    seeds = np.random.default_rng(0).permutation(np.asarray(graph.train))[:1024]
    return NeighborSampler(graph.indptr, graph.indices, [25, 10]).sample(seeds).blocks[0]
