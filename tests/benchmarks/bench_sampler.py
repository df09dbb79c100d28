"""Edges sampled per second of CPU time on one thread: the compiled sampler against the torch oracle.

    python tests/benchmarks/bench_sampler.py [--nodes 170000] [--edges 2300000] [--fanout 15 10 5]

Takes the best of a few rounds over the same seeds, after a warm-up that compiles.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from harness.batches import NeighborSampler
from harness.batches.torch_sampling import TorchNeighborSampler


def power_law_graph(nodes: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    """CSR with heavy-tailed in- and out-degrees, int64 and int32."""
    rng = np.random.default_rng(0)
    weight = rng.pareto(1.5, nodes) + 1.0
    source, target = (rng.choice(nodes, edges, p=weight / weight.sum()) for _ in range(2))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=nodes))])
    return indptr, source[np.argsort(target, kind="stable")].astype(np.int32)


def edges_per_second(sampler: NeighborSampler | TorchNeighborSampler, batches: np.ndarray, rounds: int) -> float:
    sampler.sample(batches[0])
    best = 0.0
    for epoch in range(rounds):
        started = time.thread_time()
        edges = sum(sampler.sample(seeds, epoch, i).num_edges for i, seeds in enumerate(batches))
        best = max(best, edges / (time.thread_time() - started))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=170_000)
    parser.add_argument("--edges", type=int, default=2_300_000)
    parser.add_argument("--fanout", type=int, nargs="+", default=[15, 10, 5])
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--batches", type=int, default=30)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    graph = power_law_graph(asked.nodes, asked.edges)
    seeds = np.random.default_rng(1).permutation(asked.nodes)[: asked.batches * asked.batch_size]
    batches = seeds.reshape(-1, asked.batch_size)
    compiled = edges_per_second(NeighborSampler(*graph, asked.fanout), batches, rounds=5)
    oracle = edges_per_second(TorchNeighborSampler(*graph, asked.fanout), batches, rounds=2)
    print(f"{asked.nodes:,} nodes, {asked.edges:,} edges, fan-out {asked.fanout}, batch {asked.batch_size}, one thread")
    print(f"compiled {compiled / 1e6:6.1f} M edges/s")
    print(f"torch    {oracle / 1e6:6.1f} M edges/s")
    print(f"ratio    {compiled / oracle:6.1f}")


if __name__ == "__main__":
    main()
