"""Aggregation as a product with a sparse matrix, whose backward pass multiplies by the matrix transposed once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from harness.models.adjacency import Adjacency


def spmm_sum(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Weighted sum over each destination's edges.

    Args:
        x: ``[num_src, F]``; edge weights are taken in its dtype.

    Returns:
        ``[num_dst, F]``, dtype of `x`.
    """
    return _SparseSum.apply(x, adjacency)


def multiply(matrix: Tensor, x: Tensor) -> Tensor:
    """CSR matrix ``[n, m]`` times dense ``[m, F]``, no gradient.

    On the CPU only the form with a reduction has half-precision kernels; on CUDA only the plain product exists.
    """
    with torch.autocast(x.device.type, enabled=False):
        if x.device.type == "cpu":
            return torch.sparse.mm(matrix, x.contiguous(), "sum")
        return torch.sparse.mm(matrix, x.contiguous())


class _SparseSum(torch.autograd.Function):
    """`torch.sparse.mm` transposes in every backward pass; here the transpose is made once a batch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return multiply(adjacency.matrix(x.dtype), x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return multiply(ctx.adjacency.transposed_matrix(gradient.dtype), gradient), None
