"""Options to batches: which plan a training takes its batches from."""

from __future__ import annotations

from pathlib import Path

import torch

from harness.batches.clusters import ClusterBatches
from harness.batches.epochs import BatchPlan
from harness.batches.full import FullBatch
from harness.batches.sampling.choose import neighbor_batches
from harness.graphs import cached_partition
from harness.graphs.graph import Graph
from harness.spec.errors import InputError, Problem
from harness.spec.options import Options, Training
from harness.spec.places import cache_root


def batches_of(
    graph: Graph,
    options: Options,
    training: Training,
    layers: int,
    seed: int,
    *,
    cache_dir: Path | None = None,
    spec_dir: Path | None = None,
    device: torch.device | None = None,
    with_edges: bool = False,
) -> BatchPlan:
    """The batches that these options ask for.

    Args:
        graph: a prepared graph.
        options: ``batching``, ``sampling``, ``partition``.
        training: ``batch_size`` (neighbor).
        layers: of the model, one block each; for `neighbor` the fan-out must have one hop a layer.
        seed: the run's seed: of the order of nodes or parts, of the draws, and of the partition.
        cache_dir: where partitions are kept; default ``$HARNESS_CACHE/partitions``.
        spec_dir: where the path of a file of weights starts; default the working folder.
        device: that samples where `sampling.backend` is torch; default the CPU.
        with_edges: the blocks carry the attributes of their edges, where the graph has some.

    Raises:
        InputError: as many hops as layers are needed, a backend cannot sample here, or a file of weights is wrong.
    """
    if options.batching == "full":
        return FullBatch(graph, layers, with_edges)
    if options.batching == "cluster":
        wanted = options.partition
        folder = cache_dir or cache_root() / "partitions"
        try:
            part, report = cached_partition(graph, wanted.parts, wanted.method, seed, folder, wanted.passes)
        except ValueError as error:
            raise InputError(Problem(file="spec", path="partition.method", message=str(error))) from error
        return ClusterBatches(graph, part, report, wanted.per_batch, layers, seed, with_edges)
    if len(options.sampling.fanout) != layers:
        raise InputError(
            Problem(
                file="spec",
                path="sampling.fanout",
                message=f"{list(options.sampling.fanout)} has {len(options.sampling.fanout)} hops for a model of "
                f"{layers} layers; give one number a layer, the seeds' hop first",
            )
        )
    folder, where = spec_dir or Path(), device or torch.device("cpu")
    return neighbor_batches(graph, options.sampling, training.batch_size, seed, folder, where, with_edges)
