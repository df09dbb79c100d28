"""In which dtype linear layers really compute: what autocast did, seen at the first training batch."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.dense import Linear


class LinearDtypes:
    """Notes the dtype of each linear layer's output once, and then leaves: no later step waits for it.

    Args:
        model: its layers of torch's and PyG's `Linear` are looked at.
    """

    def __init__(self, model: nn.Module) -> None:
        self._seen: set[str] = set()
        self._layers = [m for m in model.modules() if isinstance(m, nn.Linear | Linear)]
        for layer in self._layers:
            _Once(self._seen).watch(layer)

    def __len__(self) -> int:
        return len(self._layers)

    def seen(self) -> list[str]:
        """Names of the dtypes, sorted; empty before the first training batch."""
        return sorted(self._seen)


class _Once:
    def __init__(self, seen: set[str]) -> None:
        self._seen = seen

    def watch(self, layer: nn.Module) -> None:
        self._handle = layer.register_forward_hook(self)

    def __call__(self, layer: nn.Module, _: Any, output: Tensor) -> None:
        if layer.training:  # evaluation is in float32 whatever the option
            self._seen.add(str(output.dtype).removeprefix("torch."))
            self._handle.remove()
