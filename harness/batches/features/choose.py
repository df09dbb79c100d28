"""Options to a feature store: where the rows lie, and which of them the device keeps."""

from __future__ import annotations

import torch

from harness.batches.epochs import BatchPlan
from harness.batches.features.cache_policy import CachedNodes, Scores, by_degree, by_hindsight, by_presampling, highest
from harness.batches.features.cache_size import CacheSize, cache_size, free_bytes
from harness.batches.features.store import FeatureStore
from harness.graphs.graph import Graph
from harness.graphs.half_features import HalfCopy, half_copy
from harness.spec.options import Options


def store_of(graph: Graph, options: Options, batches: BatchPlan, epochs: int, device: torch.device) -> FeatureStore:
    """The feature store that these options ask for.

    Args:
        graph: a prepared graph.
        options: ``features``; with ``batching: full`` or ``home: device`` all rows are on the device, and no cache is
            made whatever they say (the planner tells that those options have no effect).
        batches: of the training; some of them are made in advance where the policy asks for it.
        epochs: that the training will have, numbered from 1; for the policy `optimal` alone.
        device: where fetched rows go.

    Raises:
        NothingCached: the cache asked for holds not one row.
        TooLargeForHalf: with `precision: fp16-features`, a feature is beyond float16.
    """
    wanted = options.features
    cached = wanted.cached and wanted.home != "device" and options.batching != "full"
    cache = _cache(graph, options, batches, epochs, device) if cached else None
    ahead = max(options.loader.depth, options.loader.threads)
    spare = ahead + 2  # one in the step, one being written, and those ahead
    sources = graph.indices if wanted.policy == "degree" else None
    half: HalfCopy | bool = options.stored_bytes == 2
    if half and wanted.home == "disk":
        half = half_copy(graph.path, graph.x)
    return FeatureStore(graph.x, home=wanted.home, device=device, cache=cache, spare=spare, sources=sources, half=half)


def _cache(graph: Graph, options: Options, batches: BatchPlan, epochs: int, device: torch.device) -> CachedNodes:
    size = _size(graph, options, device)  # first: it costs nothing and may refuse
    return highest(_scores(graph, options, batches, epochs), size.nodes, size.free_bytes)


def _size(graph: Graph, options: Options, device: torch.device) -> CacheSize:
    wanted, free = options.features, None
    row_bytes = graph.num_features * options.stored_bytes
    if wanted.cache_bytes == "auto":
        free = free_bytes(device)
        if wanted.home == "host" and device.type == "cpu":
            free = max(0, free - graph.num_nodes * row_bytes)  # the slow home will be there too
    return cache_size(graph.num_nodes, row_bytes, wanted.cache_ratio, wanted.cache_bytes, free)


def _scores(graph: Graph, options: Options, batches: BatchPlan, epochs: int) -> Scores:
    wanted = options.features
    if wanted.policy == "presample":
        return by_presampling(batches.replay, wanted.presample_epochs, graph.num_nodes)
    if wanted.policy == "optimal":
        return by_hindsight(batches.replay, epochs, graph.num_nodes)
    return by_degree(graph.indices, graph.num_nodes)
