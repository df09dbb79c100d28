"""Which parts of a network were called beside its convolutions, seen at the first training batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from torch import nn

from harness.models.first_call import FirstTrainingCall
from harness.models.jumping import Jumping
from harness.models.normalisation import BatchNorm, PairNorm

_NORMS = {BatchNorm: "batch", nn.LayerNorm: "layer", PairNorm: "pair"}


class PartsCalled:
    """Sees normalisations, residual links and jumping knowledge called in training.

    Args:
        norms: of each layer, None where it has none.
        shortcuts: likewise, what a layer's input passes before it is added.
        jumping: None where the network has none.
    """

    def __init__(
        self, norms: Sequence[nn.Module | None], shortcuts: Sequence[nn.Module | None], jumping: Jumping | None
    ) -> None:
        self._norms, self._shortcuts = ["none"] * len(norms), ["none"] * len(shortcuts)
        self._jumping: dict[str, Any] = {"mode": "none", "layers": 0}
        for index, norm in enumerate(norms):
            if norm is not None:
                FirstTrainingCall(norm, partial(_note, self._norms, index, _NORMS[type(norm)]))
        for index, shortcut in enumerate(shortcuts):
            if shortcut is not None:
                kind = "input" if isinstance(shortcut, nn.Identity) else "projected"
                FirstTrainingCall(shortcut, partial(_note, self._shortcuts, index, kind))
        if jumping is not None:
            FirstTrainingCall(jumping, self._jumped)

    def counters(self) -> dict[str, Any]:
        """By layer what normalised it and what was added to it; how many layers' outputs were joined."""
        return {"norm": list(self._norms), "residual": list(self._shortcuts), "jumping": dict(self._jumping)}

    def _jumped(self, jumping: Jumping, inputs: tuple[Any, ...], _: Any) -> None:
        self._jumping = {"mode": jumping.join.mode, "layers": len(inputs[0])}


def _note(seen: list[str], index: int, word: str, *_: Any) -> None:
    seen[index] = word
