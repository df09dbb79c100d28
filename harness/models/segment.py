"""Messages are gathered edge by edge, and the runs of a destination's edges, which are sorted by it, are summed.

The sum over runs is a product with a matrix of ones, whose columns are the edges in their order (`multiply`), since
`torch.segment_reduce` is slower than a scatter and adds half precision up in half. Backward, the edges of each source
are summed in an order that is made once a block: nothing is scattered. Where messages have no gradient of their own
(`gathered_sum`), theirs is their destination's, and is not gathered again.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from harness.models.adjacency import Adjacency
from harness.models.spmm import multiply


def gathered_sum(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Weighted sum of each destination's messages, ``[num_src, F]`` to ``[num_dst, F]``, as `segment_sum` of `gather`.

    Edge weights are taken in the dtype of `x`, and each message is rounded to it.
    """
    adjacency.summed_by = "segment"
    return _GatheredSum.apply(x, adjacency)


def gather(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Row of each edge's source, ``[num_src, ...]`` to ``[num_edges, ...]``."""
    return _Gather.apply(x.flatten(1), adjacency).view(adjacency.num_edges, *x.shape[1:])


def segment_sum(messages: Tensor, adjacency: Adjacency) -> Tensor:
    """Sum of each destination's messages; 0 without an edge.

    Args:
        messages: ``[num_edges, ...]``, in the order of the edges.

    Returns:
        ``[num_dst, ...]``, dtype of `messages`; half precision is added up in float32 and rounded once.
    """
    adjacency.summed_by = "segment"
    return _SegmentSum.apply(messages.flatten(1), adjacency).view(adjacency.num_dst, *messages.shape[1:])


def segment_softmax(scores: Tensor, adjacency: Adjacency) -> Tensor:
    """Softmax over each destination's edges, ``[num_edges, heads]``; every destination must have an edge."""
    with torch.no_grad():  # any shift gives the same softmax: the largest score is a constant
        largest = torch.segment_reduce(scores, "max", offsets=adjacency.indptr.long(), axis=0, unsafe=True)
    exponentials = (scores - largest.index_select(0, adjacency.dst)).exp()
    total = segment_sum(exponentials, adjacency)
    return exponentials / total.index_select(0, adjacency.dst)


class _GatheredSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        messages, weight = x.index_select(0, adjacency.indices), adjacency.weight(x.dtype)
        return multiply(adjacency.by_destination, messages if weight is None else messages.mul_(weight.view(-1, 1)))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return multiply(ctx.adjacency.transposed_matrix(gradient.dtype), gradient), None


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return x.index_select(0, adjacency.indices)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return multiply(ctx.adjacency.by_source, gradient), None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, messages: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return multiply(adjacency.by_destination, messages)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient.index_select(0, ctx.adjacency.dst), None
