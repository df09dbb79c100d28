"""The array of parts against what was asked; the batches against the parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Partition

TINY_PART = 8  # nodes


def cluster_faults(asked: Partition, counters: dict[str, Any]) -> Iterator[str]:
    """The array of parts against what was asked; the batches against the parts."""
    partition, found, (smallest, largest) = counters["partition"], counters["parts_found"], counters["part_sizes"]
    yield from equal("partition.method", asked.method, partition["method"])
    yield from equal("partition.parts", asked.parts, partition["parts"])
    yield from equal("partition.per_batch", asked.per_batch, counters["per_batch"])
    parts = min(asked.parts, counters["num_nodes"])
    tiny = asked.method == "metis" and counters["num_nodes"] < TINY_PART * parts  # METIS leaves some of those empty
    if found > parts or (found < parts and not tiny):
        yield f"partition.parts is {asked.parts}, but the nodes lie in {found} parts"
    if asked.method == "random" and largest - smallest > 1:
        yield f"partition.method is random, which deals evenly, but parts have {smallest} to {largest} nodes"
    joined = min(asked.per_batch, found)
    if counters["batches"] and counters["parts_joined"] != joined:
        yield f"partition.per_batch is {asked.per_batch}, but at most {counters['parts_joined']} parts were joined"
    batches = -(-found // asked.per_batch)
    if counters["batches"] != batches * counters["epochs"]:
        yield (
            f"batching cluster: {found} parts, {asked.per_batch} a batch, are {batches} batches an epoch, but "
            f"{counters['batches']} were used in {counters['epochs']} epochs"
        )
