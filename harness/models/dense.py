"""Aggregation over padded neighbours with a mask: what articles compare sparse aggregation with.

Every destination gets as many slots as the largest degree of the block, ``[num_dst, max_degree, F]``, so that a sum
over neighbours is a sum over an axis. The price is the empty slots: one hub makes all rows as long as its own.
"""

from __future__ import annotations

import torch
from torch import Tensor

from harness.models.adjacency import Adjacency


def dense_sum(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Weighted sum over each destination's edges.

    Args:
        x: ``[num_src, F]``; edge weights are taken in its dtype.

    Returns:
        ``[num_dst, F]``, dtype of `x`, in which torch rounds once: half precision is added up in float32.
    """
    adjacency.summed_by = "dense"
    slots, weight = _sources(x, adjacency), adjacency.weight(x.dtype)
    return (slots if weight is None else _in_slots(weight, adjacency).unsqueeze(-1) * slots).sum(dim=1)


def dense_reduce(messages: Tensor, adjacency: Adjacency) -> Tensor:
    """Sum of each destination's messages, ``[num_edges, F]`` to ``[num_dst, F]``."""
    adjacency.summed_by = "dense"
    return _in_slots(messages, adjacency).sum(dim=1)


def dense_attend(x: Tensor, attention: Tensor, adjacency: Adjacency) -> Tensor:
    """Sum of each destination's sources ``[num_src, heads, F]`` weighted by attention ``[num_edges, heads]``."""
    adjacency.summed_by = "dense"
    return (_in_slots(attention, adjacency).unsqueeze(-1) * _sources(x, adjacency)).sum(dim=1)


def dense_softmax(scores: Tensor, adjacency: Adjacency) -> Tensor:
    """Softmax over each destination's edges, ``[num_edges, heads]``."""
    # not minus infinity: a destination without an edge would have no softmax, and its gradient would not be a number
    lowest = torch.finfo(scores.dtype).min
    return _in_slots(scores, adjacency, lowest).softmax(dim=1).flatten(0, 1).index_select(0, adjacency.padded.slot)


def _sources(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Rows of `x` in the slots of the edges that they are sources of, ``[num_dst, max_degree, ...]``."""
    padded = adjacency.padded
    return _filled(x, padded.source, padded.empty, 0.0)


def _in_slots(of_edges: Tensor, adjacency: Adjacency, empty: float = 0.0) -> Tensor:
    """Rows of the edges in their slots, ``[num_dst, max_degree, ...]``."""
    padded = adjacency.padded
    return _filled(of_edges, padded.edge, padded.empty, empty)


def _filled(rows: Tensor, index: Tensor, empty: Tensor, value: float) -> Tensor:
    gathered = rows.index_select(0, index.flatten()).view(*index.shape, *rows.shape[1:])
    return gathered.masked_fill_(empty.view(*empty.shape, *[1] * (rows.dim() - 1)), value)
