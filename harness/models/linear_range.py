"""Whether linear layers in float16 left its range: sampled, by outputs that are not finite though the input is."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from harness.models.linear_dtype import linear_layers
from harness.models.sparse_looks import is_looked_at


class LinearRange:
    """Looks at the first outputs in training of each linear layer and then at each sixteenth, where they are float16.

    An input that is not finite is no fault of the layer: what made it so is the fault. One that is finite in float32
    and not in float16, to which autocast casts it, is. bfloat16 has float32's range and is left alone. Nothing waits
    for the device until the counts are asked for.

    Args:
        model: its `linear_layers` are looked at.
        half: what they compute in; None for float32. Where it is not float16 no layer is watched.
    """

    def __init__(self, model: nn.Module, half: torch.dtype | None) -> None:
        watched = linear_layers(model) if half == torch.float16 else {}
        self._watches = {name: _Watch(layer) for name, layer in watched.items()}

    def counters(self) -> dict[str, Any]:
        """`linear_checked`, outputs looked at, and `linear_overflows`, by layer those that left the range."""
        found = {name: int(watch.overflows) for name, watch in self._watches.items()}
        return {
            "linear_checked": sum(watch.checked for watch in self._watches.values()),
            "linear_overflows": {name: count for name, count in found.items() if count},
        }


class _Watch:
    """Of one layer."""

    def __init__(self, layer: nn.Module) -> None:
        self.calls = self.checked = 0
        self.overflows: Tensor | int = 0  # a tensor on the device, once something was looked at
        layer.register_forward_hook(self)

    def __call__(self, layer: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        if not layer.training or output.dtype != torch.float16:
            return
        self.calls += 1
        if not is_looked_at(self.calls):
            return
        with torch.no_grad():
            self.checked += 1
            left = torch.isfinite(inputs[0]).all() & ~torch.isfinite(output).all()
            self.overflows = left.long() + self.overflows
