"""One second of the engine's own path: sample a block, sum over its edges, forward and backward.

``python -m harness.runs.trial_convolution cpu`` (or ``cuda:0``) prints a `Trial` as a line of JSON. Threads come from
the environment, as a run's do.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch

from harness.batches import NeighborSampler
from harness.batches.batch import Batch
from harness.models.build import build_model
from harness.runs.trial import Trial
from harness.spec.options import Model, Options

NODES, DEGREE, SEEDS, WIDTH = 50_000, 20, 8_000, 64
SECONDS = 1.0


def convolve(device: torch.device, seconds: float = SECONDS) -> Trial:
    """Measure one layer of sage with `scatter` on a sampled block of a random graph.

    Args:
        seconds: of the measured loop; a first pass, which compiles and warms up, is not counted.

    Raises:
        RuntimeError: as torch raises it.
    """
    sampler = _sampler()
    batch = _draw(sampler, 0)
    sampled = _rate(lambda turn: _draw(sampler, turn).num_edges, seconds / 4)
    torch.manual_seed(0)
    layer = build_model(Model(conv="sage", layers=1), WIDTH, WIDTH, Options()).to(device)
    x = torch.randn(len(batch.nodes), WIDTH, device=device, requires_grad=True)
    blocks = layer.prepare(batch.blocks, device)

    def step(turn: int) -> int:
        layer(x, blocks).sum().backward()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return batch.num_edges

    step(0)
    convolved = _rate(step, seconds)
    return Trial(
        convolved=convolved,
        sampled=sampled,
        threads=torch.get_num_threads(),
        width=WIDTH,
        finite=bool(torch.isfinite(layer(x, blocks)).all()),
    )


def _sampler() -> NeighborSampler:
    rng = np.random.default_rng(0)
    indptr = np.arange(0, (NODES + 1) * DEGREE, DEGREE, dtype=np.int64)
    indices = rng.integers(0, NODES, NODES * DEGREE, dtype=np.int64).astype(np.int32)
    return NeighborSampler(indptr, indices, fanout=[DEGREE // 2], seed=0)


def _draw(sampler: NeighborSampler, turn: int) -> Batch:
    return sampler.sample(np.arange(SEEDS, dtype=np.int64), epoch=turn)


def _rate(work: Callable[[int], int], seconds: float) -> float:
    """Edges a second, over at least one turn."""
    edges, turn, started = 0, 0, time.perf_counter()
    while True:
        turn += 1
        edges += work(turn)
        taken = time.perf_counter() - started
        if taken >= seconds:
            return edges / taken


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    sys.stdout.write(convolve(torch.device(sys.argv[1])).model_dump_json() + "\n")
