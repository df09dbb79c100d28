"""Options to a sampler: which implementation draws, by which method and weights."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.batches.neighbors import NeighborBatches
from harness.batches.sampler import Sampler
from harness.batches.sampling.importance_weights import importance_weights
from harness.batches.sampling.numba_sampler import NeighborSampler
from harness.batches.sampling.torch_sampler import TorchNeighborSampler
from harness.graphs.graph import Graph
from harness.spec.errors import InputError, Problem
from harness.spec.options import Sampling
from harness.spec.places import find_file


def neighbor_batches(
    graph: Graph,
    sampling: Sampling,
    batch_size: int,
    seed: int,
    spec_dir: Path,
    device: torch.device,
    with_edges: bool = False,
) -> NeighborBatches:
    """The batches that these options ask for, with the sampler that draws them.

    Args:
        with_edges: the blocks carry the attributes of their edges, which the graph must have.

    Raises:
        InputError: a file of weights that cannot be weights of this graph, or a backend that cannot sample here.
    """
    started = time.perf_counter()
    weights = importance_weights(graph, sampling.weights, spec_dir) if sampling.method == "importance" else None
    weights_s = time.perf_counter() - started
    by_file = sampling.method == "importance" and sampling.weights.endswith(".npy")
    sampler = _sampler(graph, sampling, seed, weights, device, graph.edge_attr if with_edges else None)
    return NeighborBatches(
        graph,
        sampler,
        batch_size,
        seed,
        node_edge_budget=sampling.node_edge_budget,
        weights=weights,
        weights_file=find_file(sampling.weights, spec_dir) if by_file else None,
        weights_s=weights_s,
    )


def _sampler(
    graph: Graph,
    sampling: Sampling,
    seed: int,
    weights: np.ndarray | None,
    device: torch.device,
    edge_attr: np.ndarray | None,
) -> Sampler:
    asked: tuple[Any, ...] = (graph.indptr, graph.indices, sampling.fanout, sampling.method, seed)
    reweight = sampling.reweight and sampling.method == "importance"  # the plan says that it has no effect elsewhere
    named: dict[str, Any] = {
        "weights": weights,
        "reweight": reweight,
        "edge_attr": edge_attr,
        "validate": False,
        "has_self_loops": graph.meta.self_loops > 0,
    }
    if sampling.backend == "numba":
        return NeighborSampler(*asked, **named)
    if device.type == "cuda":
        return TorchNeighborSampler(*asked, **named, device=device)
    reason = f"torch samples on a GPU, and this run is on {device}; on the CPU numba draws the same batches"
    raise InputError(Problem(file="spec", path="sampling.backend", message=reason))
