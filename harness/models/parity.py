"""Parity: an exact variant and its reference, on the same weights and the same batch."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.batches.batch import Block
from harness.models.block import TorchBlock
from harness.models.build import build_model
from harness.records.results import Parity
from harness.spec.options import Model, Options

MOST_RELATIVE_DIFFERENCE = 1e-4
LEAST_COSINE = 0.9999


@dataclass(frozen=True)
class Side:
    """One of the two.

    Attributes:
        model: in float32; its parameters' gradients are overwritten.
        x: features of the batch's nodes, as this side's path delivers them, on the model's device.
        blocks: of the batch.
        targets: rows of the output that carry a loss, int64.
        y: their classes, int64.
    """

    model: nn.Module
    x: Tensor
    blocks: Sequence[Block | TorchBlock]
    targets: Tensor
    y: Tensor


def parity_models(
    model: Model,
    in_channels: int,
    num_classes: int,
    reference: Options,
    variant: Options,
    seed: int = 0,
    folders: Sequence[Path | str] = (),
    edge_features: int = 0,
) -> tuple[nn.Module, nn.Module]:
    """Both models in float32 with the same weights, drawn from the seed; the random state stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first = build_model(model, in_channels, num_classes, _in_float32(reference), folders, edge_features)
        second = build_model(model, in_channels, num_classes, _in_float32(variant), folders, edge_features)
    second.load_state_dict(first.state_dict())
    return first, second


def parity(reference: Side, variant: Side, note: str = "") -> Parity:
    """Differences of logits and gradients with dropout off (evaluation mode).

    Returns:
        State `equal` where max |difference| is at most 1e-4 of max |logit| and the gradients' cosine at least 0.9999,
        else `differs`. Where a value is not finite, the difference is the largest float and the cosine 0.
    """
    logits, gradient = _run(reference)
    other_logits, other_gradient = _run(variant)
    largest, difference = _largest(logits), _largest(logits - other_logits)
    cosine = _cosine(gradient, other_gradient)
    equal = difference <= MOST_RELATIVE_DIFFERENCE * largest and cosine >= LEAST_COSINE
    return Parity(
        state="equal" if equal else "differs",
        max_abs_logit=largest,
        max_abs_difference=difference,
        gradient_cosine=cosine,
        note=note,
    )


def _in_float32(options: Options) -> Options:
    return options.model_copy(update={"precision": "fp32"})


def _run(side: Side) -> tuple[Tensor, Tensor]:
    """Logits, and the gradients of all parameters in one vector, float64, on the CPU."""
    training = side.model.training
    side.model.eval()
    side.model.zero_grad(set_to_none=True)
    logits = side.model(side.x, side.blocks)
    F.cross_entropy(logits[side.targets], side.y, reduction="sum").backward()
    parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in side.model.parameters()]
    gradient = torch.cat([p.detach().flatten().double().cpu() for p in parts])
    side.model.zero_grad(set_to_none=True)
    side.model.train(training)
    return logits.detach().double().cpu(), gradient


def _largest(values: Tensor) -> float:
    largest = float(values.abs().max()) if values.numel() else 0.0
    return largest if math.isfinite(largest) else sys.float_info.max


def _cosine(a: Tensor, b: Tensor) -> float:
    """Of two zero vectors 1, of one 0."""
    norms = float(a.norm()), float(b.norm())
    if 0.0 in norms:
        return float(norms[0] == norms[1])
    cosine = float(a @ b) / (norms[0] * norms[1])
    return min(1.0, cosine) if math.isfinite(cosine) else 0.0
