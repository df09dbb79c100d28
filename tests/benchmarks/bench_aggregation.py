"""Milliseconds of one aggregation, and of one training step of sage, by implementation and precision.

    python tests/benchmarks/bench_aggregation.py [--edges 50000] [--width 256] [--threads 1]

A bipartite block like a sampled one: 8,000 destinations, 30,000 sources, 50,000 edges. Medians of seven, after one
that is not counted; the transpose that spmm's backward pass needs is made anew in each step, as in each batch.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
import torch.nn.functional as F

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation
from harness.models.block import to_torch
from harness.models.build import build_model
from harness.spec.options import Model, Options


def block(edges: int, destinations: int, sources: int) -> Block:
    rng = np.random.default_rng(0)
    rows = np.sort(rng.integers(0, destinations, edges))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=destinations))])
    degree = np.diff(indptr)
    everyone = np.concatenate([degree, np.ones(sources - destinations, dtype=np.int64)])
    return Block(indptr, rng.integers(0, sources, edges), sources, degree, everyone)


def milliseconds(step: Callable[[], None], device: torch.device, times: int = 7) -> float:
    taken = []
    for _ in range(times + 1):
        _wait(device)
        started = time.perf_counter()
        step()
        _wait(device)
        taken.append(1e3 * (time.perf_counter() - started))
    return median(taken[1:])


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def aggregation(implementation: str, dtype: torch.dtype, made: Block, width: int, device: torch.device) -> float:
    how = Aggregation(implementation, dtype)
    x = torch.randn(made.num_src, width, device=device, requires_grad=True)
    gradient = torch.randn(made.num_dst, width, device=device, dtype=dtype)

    def step() -> None:
        x.grad = None
        how.mean(x, to_torch(made, device)).backward(gradient)

    return milliseconds(step, device)


def training_step(implementation: str, precision: str, made: Block, width: int, device: torch.device) -> float:
    model = Model(conv="sage", layers=1, hidden=width)
    net = build_model(model, width, 40, Options(aggregation=implementation, precision=precision)).to(device)
    x, y = torch.randn(made.num_src, width, device=device), torch.zeros(made.num_dst, dtype=torch.int64, device=device)

    def step() -> None:
        net.zero_grad(set_to_none=True)
        F.cross_entropy(net(x, (to_torch(made, device),)), y).backward()

    return milliseconds(step, device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    made = block(asked.edges, 8_000, 30_000)
    print(
        f"{asked.edges} edges, {asked.width} wide, {device.type}, {asked.threads} thread(s); forward and backward, ms"
    )
    print(f"{'':10}{'fp32':>10}{'bf16':>10}{'fp16':>10}{'sage step, fp32':>18}")
    for implementation in ("scatter", "segment", "spmm"):
        times = [
            aggregation(implementation, dtype, made, asked.width, device)
            for dtype in (torch.float32, torch.bfloat16, torch.float16)
        ]
        step = training_step(implementation, "fp32", made, asked.width, device)
        print(f"{implementation:10}" + "".join(f"{t:10.1f}" for t in times) + f"{step:18.1f}")


if __name__ == "__main__":
    main()
