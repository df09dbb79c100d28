"""One aggregation, forward and backward, by implementation and precision."""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np
import torch

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation
from harness.models.block import to_torch
from tests.benchmarks.result import Line, Result
from tests.benchmarks.timing import Work, alternated, median_ratio

TITLE = "sums over neighbours: gather and scatter over the others, one thread"
HOW = (
    "A block like a sampled one: 8,000 destinations, 30,000 sources, 50,000 edges; mean, forward and backward, "
    "the transpose made anew each time as in each batch. Processor time of the one thread, A B B A, medians."
)
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
WIDTHS = (256, 1024)


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    made = _block(50_000, 8_000, 30_000)
    lines = []
    for width in WIDTHS:
        for dtype in DTYPES:
            if width == WIDTHS[0] or dtype == "float32":
                lines += _compared(made, width, dtype, 2 if asked.quick else 8)
    return Result("aggregation", TITLE, HOW, lines)


def _compared(made: Block, width: int, dtype: str, pieces: int) -> list[Line]:
    x = torch.randn(made.num_src, width, requires_grad=True)
    gradient = torch.randn(made.num_dst, width, dtype=DTYPES[dtype])
    sides = {name: _step(name, made, x, gradient) for name in ("scatter", "segment", "spmm")}
    for work in sides.values():
        work(0)
    taken = alternated(sides, pieces, time.thread_time)
    what = f"{width} wide, {dtype}"
    return [
        Line(f"{what}: scatter", 1e3 * median(taken["scatter"]), "ms", samples=taken),
        *(
            Line(f"{what}: time, scatter over {name}", median_ratio(taken, "scatter", name), "x")
            for name in ("segment", "spmm")
        ),
    ]


def _step(implementation: str, made: Block, x: torch.Tensor, gradient: torch.Tensor) -> Work:
    how = Aggregation(implementation, gradient.dtype)

    def step(_: int) -> None:
        x.grad = None
        how.mean(x, to_torch(made, x.device)).backward(gradient)

    return step


def _block(edges: int, destinations: int, sources: int) -> Block:
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, destinations, edges))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=destinations))])
    degree = np.diff(indptr)
    everyone = np.concatenate([degree, np.ones(sources - destinations, dtype=np.int64)])
    return Block(indptr, rng.integers(0, sources, edges), sources, degree, everyone)
