"""Aggregation as a product with a sparse matrix, whose backward pass multiplies by the matrix transposed once."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from harness.models.adjacency import Adjacency, Csr

BAGS = (torch.float32, torch.float16)  # dtypes in which torch's bags are the faster product, to the same bits


def spmm_sum(x: Tensor, adjacency: Adjacency) -> Tensor:
    """Weighted sum over each destination's edges.

    Args:
        x: ``[num_src, F]``; edge weights are taken in its dtype.

    Returns:
        ``[num_dst, F]``, dtype of `x`. Where `x` needs no gradient, as a first layer's features, nothing is transposed.
    """
    adjacency.summed_by = "spmm"
    return _SparseSum.apply(x, adjacency)


def multiply(matrix: Csr, x: Tensor) -> Tensor:
    """Sparse ``[n, m]`` times dense ``[m, F]``, no gradient: what calls it backward must be `once_differentiable`.

    On the CPU the entries of a row are added up in their order, half precision in float32 and rounded once. There a row
    is a bag of torch's `embedding_bag` for float32 and float16, which takes half the time of `torch.sparse.mm` and
    gives the same bits; bfloat16 (of which a bag rounds ties up) and float64 go to `torch.sparse.mm`, in the form with
    a reduction, since only that has kernels for half. CUDA has the plain product alone.
    """
    with torch.no_grad(), torch.autocast(x.device.type, enabled=False):
        x = x.contiguous()
        if x.device.type == "cpu" and x.dtype in BAGS:
            indptr, columns, values, _ = matrix
            return F.embedding_bag(columns, x, indptr, mode="sum", per_sample_weights=values, include_last_offset=True)
        return torch.sparse.mm(_to_torch(matrix, x), x, *(("sum",) if x.device.type == "cpu" else ()))


def _to_torch(matrix: Csr, x: Tensor) -> Tensor:
    values = x.new_ones(len(matrix.columns)) if matrix.values is None else matrix.values
    shape = (len(matrix.indptr) - 1, matrix.num_columns)
    return torch.sparse_csr_tensor(matrix.indptr, matrix.columns, values, size=shape, check_invariants=False)


class _SparseSum(torch.autograd.Function):
    """`torch.sparse.mm` transposes in every backward pass; here the transpose is made once a batch."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, adjacency: Adjacency) -> Tensor:
        ctx.adjacency = adjacency
        return multiply(adjacency.matrix(x.dtype), x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return multiply(ctx.adjacency.transposed_matrix(gradient.dtype), gradient), None
