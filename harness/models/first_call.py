"""What a module did when training first called it: looked at once, so that no later step waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn


class FirstTrainingCall:
    """Hands a module's first call in training to `see`, and leaves. Evaluation is in float32 whatever the options.

    Args:
        module: as the network calls it.
        see: ``see(module, inputs, output)``, as of a forward hook.
    """

    def __init__(self, module: nn.Module, see: Callable[[nn.Module, tuple[Any, ...], Any], None]) -> None:
        self._see = see
        self._handle = module.register_forward_hook(self)

    def __call__(self, module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        if module.training:
            self._see(module, inputs, output)
            self._handle.remove()
