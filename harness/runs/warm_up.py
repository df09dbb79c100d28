"""What the fork server does once, so that each child need not: load the compiled loops, build each convolution.

It takes 0.3 s a child otherwise, and the memory of numba and PyG would be counted as the run's.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import torch

from harness.batches.clusters import ClusterBatches
from harness.batches.features.cache_policy import by_presampling, highest
from harness.batches.features.store import FeatureStore
from harness.batches.observed.edges import recount_edges
from harness.batches.sampling.choose import neighbor_batches
from harness.batches.self_loops import self_loops
from harness.graphs.graph import Graph, GraphMeta
from harness.models.build import build_model
from harness.runs import drawn_batch, execute, parity_check  # noqa: F401  # what children call
from harness.spec.options import Model, Options, Sampling

_NODES = 4


def warm_up() -> None:
    """Make a batch of each kind, fetch its features and build each model, on a graph of four nodes.

    Nothing here may start a thread or be computed by torch on several: see `harness.runs.server`.
    """
    graph = _ring()
    nodes = np.arange(_NODES, dtype=np.int64)
    self_loops(graph.indptr, graph.indices)  # samplers count them where the graph has some
    for method in get_args(Sampling.model_fields["method"].annotation):
        for weigh in {False, method == "importance"}:
            sampling = Sampling(method=method, fanout=(2, 1), weights="pagerank", reweight=weigh)
            batches = neighbor_batches(graph, sampling, _NODES, 0, Path(), torch.device("cpu"))
            batches.batch(1, 0)
    joined = ClusterBatches(graph, np.zeros(_NODES, np.int64), {}, per_batch=1, layers=2, seed=0, with_edges=True)
    recount_edges(graph, joined.batch(1, 0))
    cache = highest(by_presampling(batches.replay, 1, _NODES), 2)
    for half in (False, True):
        FeatureStore(graph.x, home="host", device=torch.device("cpu"), cache=cache, half=half).fetch(nodes)
    for conv in get_args(get_args(Model.model_fields["conv"].annotation)[0]):
        model = Model(conv=conv, hidden=2, layers=2)
        build_model(model, graph.num_features, graph.num_classes, Options(), edge_features=graph.meta.edge_features)


def _ring() -> Graph:
    """Each node receives from the next; all train."""
    nodes, nothing = np.arange(_NODES, dtype=np.int64), np.zeros(0, np.int64)
    meta = GraphMeta(
        name="ring",
        dataset={},
        fingerprint="",
        num_nodes=_NODES,
        num_edges=_NODES,
        num_features=2,
        edge_features=1,
        num_classes=2,
        class_names=["0", "1"],
        train_nodes=_NODES,
        val_nodes=0,
        test_nodes=0,
        directed=True,
        isolated_nodes=0,
        self_loops=0,
        duplicate_edges=0,
        max_in_degree=1,
        split="random",
    )
    return Graph(
        path=Path(),
        meta=meta,
        indptr=np.arange(_NODES + 1, dtype=np.int64),
        indices=((nodes + 1) % _NODES).astype(np.int32),
        x=np.ones((_NODES, 2), np.float32),
        y=nodes % 2,
        train=nodes,
        val=nothing,
        test=nothing,
        edge_attr=np.ones((_NODES, 1), np.float32),
    )
