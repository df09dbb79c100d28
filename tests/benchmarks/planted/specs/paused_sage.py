"""Two layers of GraphSAGE that wait a known time in each training step."""

from __future__ import annotations

import time
from itertools import cycle

from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

_SPIN_S = 50e-6  # at the end of a pause only the clock is read, so that it ends in time


class PausedSage(nn.Module):
    """Computes the same whatever the pause.

    Args:
        pause_ms: milliseconds on the clock that each forward pass in training takes longer. It waits awake, for a sleep
            ends up to a tenth of a millisecond late; and reads its data meanwhile, for caches that other work empties
            in a pause would make the step slower by more than that.
        label: changes nothing; a variant that sets it is the baseline under another name.
    """

    def __init__(
        self, in_channels: int, out_channels: int, width: int = 32, pause_ms: float = 0.0, label: str = ""
    ) -> None:
        super().__init__()
        self.first = SAGEConv(in_channels, width)
        self.second = SAGEConv(width, out_channels)
        self.pause_s = pause_ms / 1e3

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if self.training:
            _wait(time.perf_counter() + self.pause_s, [x, edge_index, *self.parameters()])
        return self.second(self.first(x, edge_index).relu(), edge_index)


def _wait(until: float, data: list[Tensor]) -> None:
    for tensor in cycle(data):
        if time.perf_counter() >= until - _SPIN_S:
            break
        tensor.detach().sum()
    while time.perf_counter() < until:
        pass
