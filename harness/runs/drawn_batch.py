"""A few targets with their sampled neighbourhood, drawn once after a job's runs: for people to see, not measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness.batches.batch import Batch
from harness.batches.neighbors import NeighborBatches
from harness.batches.plans import batches_of
from harness.graphs.store import open_graph
from harness.records.drawn_batch import DrawnBatch
from harness.runs.execute import settle
from harness.runs.request import RunRequest, Unsupported

MOST_TARGETS, MOST_NODES = 12, 150
_FIRST_EPOCH = 1  # of a training


def draw_batch(request: RunRequest, report: Callable[[str], None]) -> DrawnBatch:
    """The first targets of the run's first batch, and what its sampler, options and seed draw for them.

    As many targets as keep it within `MOST_NODES` nodes, at most `MOST_TARGETS`. The neighbourhood of a single target
    may be larger: then the first nodes reached are kept, and the edges among them.

    Raises:
        Unsupported: batches are not sampled neighbourhoods, or there is no training node.
    """
    if request.options.batching != "neighbor":
        raise Unsupported(f"batches of kind {request.options.batching} are no sampled neighbourhoods")
    device = settle(request)
    report("load")
    graph = open_graph(Path(request.graph_path))
    report("prepare")
    batches = batches_of(
        graph,
        request.options,
        request.training,
        request.model.layers,
        request.seed,
        spec_dir=Path(request.spec_dir),
        device=device,
    )
    assert isinstance(batches, NeighborBatches)
    if not len(graph.train):
        raise Unsupported("the graph has no training node")
    report("train")
    for targets in range(min(MOST_TARGETS, request.training.batch_size, len(graph.train)), 0, -1):
        batch = batches.of_first_seeds(_FIRST_EPOCH, targets)
        if len(batch.nodes) <= MOST_NODES:
            break
    report("done")
    return _drawn(batch, request)


def _drawn(batch: Batch, request: RunRequest) -> DrawnBatch:
    block = batch.blocks[0]
    kept = min(len(batch.nodes), MOST_NODES)
    inside = (block.indices < kept) & (block.dst < kept)
    # blocks go from the input on, so the last one's destinations are the seeds
    known = [batch.blocks[-1].num_dst, *(b.num_src for b in reversed(batch.blocks))]
    edges = np.stack([block.indices[inside], block.dst[inside]], axis=1)
    return DrawnBatch(
        method=request.options.sampling.method,
        fanout=list(request.options.sampling.fanout),
        targets=known[0],
        nodes=batch.nodes[:kept].tolist(),
        hops=np.searchsorted(known, np.arange(kept), side="right").tolist(),
        degrees=block.src_degree[:kept].tolist(),
        edges=[(int(source), int(destination)) for source, destination in edges],
        num_nodes=len(batch.nodes),
        num_edges=block.num_edges,
    )
