"""A mini-batch: nodes, hop-wise blocks, and which rows of the output carry a loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from harness.batches.edges import BatchEdges


@dataclass(frozen=True)
class Block:
    """The edges one layer needs, as CSR over local positions in `Batch.nodes`.

    Destinations are rows ``0 .. num_dst - 1``, sources rows ``0 .. num_src - 1``; destinations are the first
    rows of the sources (num_dst <= num_src).

    Attributes:
        indptr: int64, ``[num_dst + 1]``.
        indices: source position of each edge, int64, ``[num_edges]``.
        num_src: rows that the layer reads.
        in_degree: degree of each destination in the whole graph, int64, ``[num_dst]``: a sampled sum is
            scaled by in_degree over sampled degree where a convolution needs the whole sum (gcn).
        src_degree: in-degree of each source in the whole graph, int64, ``[num_src]`` (gcn's weights).
        src_self_loops: how many of `src_degree` are edges from the source to itself, int64, ``[num_src]``; None
            where the graph has no self-loops. gcn replaces them by one.
        edge_weight: what each edge's message is multiplied by, float32, ``[num_edges]``; None: all 1. Set by
            importance sampling with re-weighting, so that the mean of a destination's weighted messages is unbiased
            for the mean over all its neighbours of positive weight, and their sum times in_degree over sampled
            degree for in_degree times that mean: the whole sum, where no neighbour has weight 0.
        edges: which edges of the graph these are, for a model that reads their attributes; else None.
    """

    indptr: np.ndarray
    indices: np.ndarray
    num_src: int
    in_degree: np.ndarray
    src_degree: np.ndarray
    src_self_loops: np.ndarray | None = None
    edge_weight: np.ndarray | None = None
    edges: BatchEdges | None = None

    @property
    def num_dst(self) -> int:
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        return len(self.indices)

    @cached_property
    def dst(self) -> np.ndarray:
        """Destination position of each edge, int64, ``[num_edges]``."""
        return np.repeat(np.arange(self.num_dst), np.diff(self.indptr))

    @property
    def edge_ids(self) -> np.ndarray | None:
        """Place of each edge in the graph's indices, int64, ``[num_edges]``; None without `edges`."""
        return None if self.edges is None else self.edges.ids[: self.num_edges]

    @property
    def edge_attr(self) -> np.ndarray | None:
        """Attributes of each edge, float32, ``[num_edges, D]``; None without `edges`. Gathered when first asked for."""
        return None if self.edges is None else self.edges.attr[: self.num_edges]


@dataclass(frozen=True)
class Batch:
    """One step's graph.

    Attributes:
        nodes: global ids, int64, ``[n]``; for `neighbor` the seeds first, in their order, then hop by hop.
        blocks: one per layer, input layer first; ``blocks[0].num_src == n``, and for `neighbor`
            ``blocks[-1].num_dst == len(seeds)``. Each layer's destinations are the next layer's sources.
            For `cluster` and `full` all are the same square block.
        targets: rows of the last layer's output that carry a loss (training nodes), int64, ``[t]``; may be empty.
        epoch, index: which batch of which epoch.
    """

    nodes: np.ndarray
    blocks: tuple[Block, ...]
    targets: np.ndarray
    epoch: int = 0
    index: int = 0
    stats: dict[str, float] = field(default_factory=dict)

    @property
    def num_edges(self) -> int:
        """Edges of the batch, each once: the input layer's block holds them all."""
        return self.blocks[0].num_edges

    def fetch_edge_attr(self) -> None:
        """Gather the attributes of the edges now, if the batch is to carry any: in the background, say."""
        _ = self.blocks[0].edge_attr

    def edges(self) -> np.ndarray:
        """Edges as global ids, int64, ``[2, num_edges]``, source over target."""
        block = self.blocks[0]
        return np.stack([self.nodes[block.indices], self.nodes[block.dst]])
