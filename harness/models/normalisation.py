"""The option `model.norm`: what is done to a hidden layer's rows before ReLU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation that takes a batch of one node, which has no variance: by the running statistics."""

    def forward(self, x: Tensor) -> Tensor:
        if self.training and len(x) < 2:
            return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        return super().forward(x)


class PairNorm(nn.Module):
    """``x_i' = (x_i - m) / sqrt(eps + mean_j |x_j - m|^2)``, m the mean row (Zhao and Akoglu 2020, with scale 1).

    It keeps the mean distance over all pairs of rows where it is, so that layers cannot draw all nodes together. The
    rows are those of the batch in training, and all nodes in inference: there are no parameters and no running
    statistics. A single row becomes 0. Statistics are at least in float32.
    """

    eps = 1e-5  # as in PyG's

    def forward(self, x: Tensor) -> Tensor:
        """Rows ``[n, F]`` normalised together, in their dtype."""
        exact = x if x.dtype == torch.float64 else x.float()
        centred = exact - exact.mean(dim=0, keepdim=True)
        return (centred * (self.eps + centred.square().sum(dim=-1).mean()).rsqrt()).to(x.dtype)

    def over_pieces(self, pieces: Sequence[Tensor]) -> None:
        """The same where the rows lie, for a table that is too large for a second one.

        Args:
            pieces: views of the table's rows, each row in one of them; overwritten.
        """
        rows = sum(len(piece) for piece in pieces)
        mean = sum(piece.sum(dim=0, dtype=torch.float64) for piece in pieces) / rows
        square = 0.0
        for piece in pieces:
            piece -= mean.to(piece.dtype)
            square += float(piece.square().sum(dtype=torch.float64))
        for piece in pieces:
            piece /= math.sqrt(self.eps + square / rows)


def normalisation(norm: str, width: int) -> nn.Module | None:
    """The option `model.norm`: over the nodes of a batch, over the features of a node, or over pairs of nodes."""
    if norm == "none":
        return None
    if norm == "pair":
        return PairNorm()
    return {"batch": BatchNorm, "layer": nn.LayerNorm}[norm](width)
