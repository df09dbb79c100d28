"""In which dtype linear layers really compute: what autocast did, seen at the first training batch."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.dense import Linear

from harness.models.first_call import FirstTrainingCall


def linear_layers(model: nn.Module) -> dict[str, nn.Module]:
    """The model's layers of torch's and PyG's `Linear`, by name."""
    return {name: module for name, module in model.named_modules() if isinstance(module, nn.Linear | Linear)}


class LinearDtypes:
    """Notes the dtype of each linear layer's output once.

    Args:
        model: its `linear_layers` are looked at.
    """

    def __init__(self, model: nn.Module) -> None:
        self._seen: set[str] = set()
        layers = linear_layers(model)
        self._layers = len(layers)
        for layer in layers.values():
            FirstTrainingCall(layer, partial(_note, self._seen))

    def __len__(self) -> int:
        return self._layers

    def seen(self) -> list[str]:
        """Names of the dtypes, sorted; empty before the first training batch."""
        return sorted(self._seen)


def _note(seen: set[str], _: nn.Module, __: tuple[Any, ...], output: Tensor) -> None:
    seen.add(str(output.dtype).removeprefix("torch."))
