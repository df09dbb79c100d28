"""Jumping knowledge: a linear layer reads the outputs of all layers (Xu et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import JumpingKnowledge


class Jumping(nn.Module):
    """``W f(h_1, ..., h_L) + b``, f the outputs side by side (`cat`) or their maximum, feature by feature (`max`).

    Args:
        mode: ``cat`` or ``max``.
        layers: whose outputs are read.
        hidden: width of each.
        num_classes: width of the logits.
    """

    def __init__(self, mode: str, layers: int, hidden: int, num_classes: int) -> None:
        super().__init__()
        self.mode, self.hidden = mode, hidden
        self.join = JumpingKnowledge(mode)
        self.read = nn.Linear(hidden * layers if mode == "cat" else hidden, num_classes)

    def forward(self, outputs: Sequence[Tensor]) -> Tensor:
        """Logits ``[n, num_classes]`` from each layer's output ``[n, hidden]``."""
        return self.read(self.join(list(outputs)))

    def follow(self, so_far: Tensor | None, layer: int, output: Tensor) -> Tensor:
        """What is left to keep of the outputs up to this layer, for whoever cannot hold them all.

        Args:
            so_far: from the layer before, or None; overwritten.
            layer: number of this layer, from 0.
            output: its output ``[n, hidden]``; for `max` the first one is kept as it is, and so overwritten later.

        Returns:
            The maximum so far, ``[n, hidden]``, or for `cat` the part of the logits, ``[n, num_classes]``.
        """
        if self.mode == "max":
            return output if so_far is None else torch.maximum(so_far, output, out=so_far)
        columns = self.read.weight[:, layer * self.hidden : (layer + 1) * self.hidden]
        if so_far is None:
            return F.linear(output, columns, self.read.bias)
        return so_far.addmm_(output, columns.t())

    def logits(self, followed: Tensor) -> Tensor:
        """Logits from what `follow` has left after the last layer."""
        return self.read(followed) if self.mode == "max" else followed
