"""Precision: what autocast makes half, what the messages are cast to, and steps with a scaled loss."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Precision:
    """The option `precision` on one kind of device.

    ``fp16`` and ``bf16``: linear layers in half (autocast), and messages and edge weights cast to half before they are
    summed. ``fp16-linear`` and ``bf16-linear``: linear layers in half, messages float32. Autocast alone would
    aggregate in float32 in most layers and in half in some. Parameters, logits and loss are float32 in all of them.
    ``fp16-features`` is float32 here: the feature store widens the rows before they come.
    """

    name: str
    device_type: str

    @property
    def half(self) -> torch.dtype | None:
        """Dtype of the linear layers, None for float32."""
        return {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.name.removesuffix("-linear"))

    @property
    def message_dtype(self) -> torch.dtype | None:
        """What messages are cast to; None: left as they are."""
        if self.half is None:
            return None
        return torch.float32 if self.name.endswith("-linear") else self.half

    def autocast(self) -> torch.autocast:
        """The context of a forward pass."""
        return torch.autocast(self.device_type, dtype=self.half or torch.bfloat16, enabled=self.half is not None)

    def scaler(self) -> torch.amp.GradScaler:
        """Scales the loss for float16, whose gradients underflow below 6e-8; for the others it does nothing."""
        return torch.amp.GradScaler(self.device_type, enabled=self.half == torch.float16)


def update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    clip: float | None = None,
    correction: float = 1.0,
    wants_norm: bool = False,
) -> Tensor | None:
    """Unscale, correct, clip, step, and adapt the scale, in this order: before unscaling and correcting, the norm is
    that of another loss.

    Asks the device nothing beyond what the scaler asks itself, i.e. whether all gradients are finite: where they are
    not, it leaves the step out and lowers its scale. Steps made are counted by a hook of the optimizer.

    Args:
        clip: largest global norm of the gradients; None leaves them as they are.
        correction: what the gradients are multiplied by, where the loss was divided by another number than it should.
        wants_norm: give the norm also where nothing is clipped.

    Returns:
        The global norm before clipping, unscaled, on the device; None where it is neither clipped at nor wanted.
    """
    norm = None
    if clip is not None or wants_norm or correction != 1.0:
        scaler.unscale_(optimizer)
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        if correction != 1.0:
            for gradient in gradients:
                gradient.mul_(correction)
        if clip is not None:
            norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
        elif wants_norm:
            norm = nn.utils.get_total_norm(gradients)
    scaler.step(optimizer)
    scaler.update()
    return norm
