"""The option `model.input_dropout`: features are dropped before the first layer reads them."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


class InputDropout(nn.Module):
    """Zeroes each feature of each node with this probability in training, and scales the others up.

    As the papers of GCN (Kipf and Welling 2017) and GAT (Velickovic et al. 2018) do.

    Args:
        share: the probability.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self._batches = 0  # looked at: all up to the first with a value that is not zero
        self._values = self._dropped = 0  # not zero before, and zero after; of that one

    def forward(self, x: Tensor) -> Tensor:
        if not (self.training and self.share):
            return x
        out = F.dropout(x, self.share)
        if not self._values:  # once, since it waits for the device
            self._batches += 1
            self._values = int(x.count_nonzero())
            self._dropped = self._values - int(out.count_nonzero())
        return out

    def counters(self) -> dict[str, dict[str, int]]:
        """Batches and values looked at, and the values dropped; 0 each without dropout."""
        return {"input_dropout": {"batches": self._batches, "values": self._values, "dropped": self._dropped}}
