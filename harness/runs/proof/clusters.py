"""The array of parts against what was asked and against chance; the batches against the parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.graphs.partitioning.streaming import load_cap
from harness.runs.proof.equal import equal
from harness.spec.options import Partition

TINY_PART = 24  # nodes; METIS leaves some of those empty where a graph is made of stars
NOT_CHANCE = 4.0  # standard deviations above random parts; these exceed it once in 30,000 times
NOT_RANDOM = 20.0  # and this never, where some edges can be kept
FEW_EDGES = 8.0  # expected inside random parts: with fewer, a lucky edge is many standard deviations


def cluster_faults(asked: Partition, counters: dict[str, Any]) -> Iterator[str]:
    """The array of parts against what was asked; the batches against the parts."""
    partition, found = counters["partition"], counters["parts_found"]
    yield from equal("partition.method", asked.method, partition["method"])
    yield from equal("partition.parts", asked.parts, partition["parts"])
    yield from equal("partition.per_batch", asked.per_batch, counters["per_batch"])
    if asked.method == "fennel":
        yield from equal("partition.passes", asked.passes, partition["passes"])
    yield from _sizes(asked, counters)
    yield from _against_chance(asked, partition)
    joined = min(asked.per_batch, found)
    if counters["batches"] and counters["parts_joined"] != joined:
        yield f"partition.per_batch is {asked.per_batch}, but at most {counters['parts_joined']} parts were joined"
    batches = -(-found // asked.per_batch)
    if counters["batches"] != batches * counters["epochs"]:
        yield (
            f"batching cluster: {found} parts, {asked.per_batch} a batch, are {batches} batches an epoch, but "
            f"{counters['batches']} were used in {counters['epochs']} epochs"
        )
    if counters["batches"] and counters["kept_edge_share"] < partition["kept_edge_share"] - 1e-9:
        yield (
            f"partition.method: the parts are said to keep {partition['kept_edge_share']:.4f} of the edges, but the "
            f"batches made of them kept {counters['kept_edge_share']:.4f}"
        )


def _sizes(asked: Partition, counters: dict[str, Any]) -> Iterator[str]:
    """How many nodes each method lets into a part, and whether it may leave one empty."""
    nodes, found, (smallest, largest) = counters["num_nodes"], counters["parts_found"], counters["part_sizes"]
    parts = min(asked.parts, nodes)
    streamed = asked.method in ("fennel", "ldg")  # these can leave a part empty where the others have room for all
    tiny = asked.method == "metis" and nodes < TINY_PART * parts
    if found != counters["partition"]["non_empty_parts"]:
        yield (
            f"partition.method: {counters['partition']['non_empty_parts']} parts are said to have nodes, but the nodes "
            f"lie in {found} parts"
        )
    if found > parts or (found < parts and not tiny and not streamed):
        yield f"partition.parts is {asked.parts}, but the nodes lie in {found} parts"
    if streamed and largest > load_cap(asked.method, nodes, parts):
        yield (
            f"partition.method is {asked.method}, which puts at most {load_cap(asked.method, nodes, parts)} of "
            f"{nodes} nodes in one of {asked.parts} parts, but there is one of {largest}"
        )
    if asked.method == "random" and largest - smallest > 1:
        yield f"partition.method is random, which deals evenly, but parts have {smallest} to {largest} nodes"


def _against_chance(asked: Partition, partition: dict[str, Any]) -> Iterator[str]:
    """Random parts keep what chance gives; the others more, where a second cut shows that they can."""
    sigmas, reachable = partition["kept_sigmas"], partition["reachable_sigmas"]
    over = f"{partition['kept_over_random']:.2f} times what random parts of the same sizes keep"
    if partition["kept_by_chance"] < FEW_EDGES:
        return
    if asked.method == "random":
        if sigmas > NOT_RANDOM:
            yield f"partition.method is random, but the parts keep {over}: chance does not give that"
    elif sigmas < NOT_CHANCE and reachable is not None and reachable > NOT_RANDOM:
        yield (
            f"partition.method is {asked.method}, but the parts keep {over}, as random parts do, and this graph has "
            f"more to keep"
        )
