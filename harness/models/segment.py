"""Reductions over edges that are sorted by destination: no index is needed, only where each row begins."""

from __future__ import annotations

import torch
from torch import Tensor

from harness.models.adjacency import Adjacency


def segment_sum(messages: Tensor, indptr: Tensor) -> Tensor:
    """Sum of each row's messages; 0 for an empty row.

    Args:
        messages: ``[num_edges, ...]``, in the order of the rows.
        indptr: ``[num_dst + 1]``.

    Returns:
        ``[num_dst, ...]``, dtype of `messages`.
    """
    return torch.segment_reduce(messages, "sum", offsets=indptr.long(), axis=0, unsafe=True)


def segment_softmax(scores: Tensor, adjacency: Adjacency) -> Tensor:
    """Softmax over each destination's edges, ``[num_edges, heads]``; every destination must have an edge."""
    with torch.no_grad():  # any shift gives the same softmax: the largest score is a constant
        largest = torch.segment_reduce(scores, "max", offsets=adjacency.indptr.long(), axis=0, unsafe=True)
    exponentials = (scores - largest.index_select(0, adjacency.dst)).exp()
    total = segment_sum(exponentials, adjacency.indptr)
    return exponentials / total.index_select(0, adjacency.dst)
