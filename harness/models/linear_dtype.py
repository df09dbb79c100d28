"""In which dtype linear layers really compute: what autocast did, seen at the first training batch."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn.dense import Linear

from harness.models.first_call import FirstTrainingCall


class LinearDtypes:
    """Notes the dtype of each linear layer's output once.

    Args:
        model: its layers of torch's and PyG's `Linear` are looked at.
    """

    def __init__(self, model: nn.Module) -> None:
        self._seen: set[str] = set()
        layers = [m for m in model.modules() if isinstance(m, nn.Linear | Linear)]
        self._layers = len(layers)
        for layer in layers:
            FirstTrainingCall(layer, partial(_note, self._seen))

    def __len__(self) -> int:
        return self._layers

    def seen(self) -> list[str]:
        """Names of the dtypes, sorted; empty before the first training batch."""
        return sorted(self._seen)


def _note(seen: set[str], _: nn.Module, __: tuple[Any, ...], output: Tensor) -> None:
    seen.add(str(output.dtype).removeprefix("torch."))
