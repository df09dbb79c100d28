"""One epoch of training: batches in, weights changed, and a count of all that went through."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F

from harness.batches.batch import Batch
from harness.runs.request import Diverged
from harness.runs.stages import NoClock, StageClock
from harness.spec.options import Training


class Batches(Protocol):
    """What `harness.batches.plans.batches_of` gives."""

    def epoch(self, epoch: int) -> Iterable[Batch]:
        """The batches of this epoch, in order."""


class Features(Protocol):
    """What `harness.batches.features.FeatureStore` gives."""

    def fetch(self, nodes: np.ndarray) -> torch.Tensor:
        """Rows of these nodes on the device, float32, ``[len(nodes), features]``."""


@dataclass
class Totals:
    """Sums over all training epochs of a run (warm-up and profile epoch included)."""

    epochs: int = 0
    batches: int = 0
    batches_without_target: int = 0
    backward_passes: int = 0
    steps: int = 0  # updates the optimiser really made
    nodes: int = 0
    edges: int = 0
    targets: int = 0
    gradient_norms: list[torch.Tensor] = field(default_factory=list)


@dataclass(frozen=True)
class EpochLosses:
    """The losses of one epoch, still on the device: reading them would wait for it."""

    epoch: int
    losses: list[torch.Tensor]
    targets: list[int]
    batches: list[int]

    def mean(self) -> float:
        """Mean over the targets of the epoch; NaN where no batch had one.

        Raises:
            Diverged: a batch's loss is not finite.
        """
        if not self.losses:
            return math.nan
        values = torch.stack(self.losses).cpu().numpy()
        for value, batch in zip(values, self.batches, strict=True):
            if not math.isfinite(value):
                raise Diverged(f"the training loss is {value} in epoch {self.epoch}, batch {batch}")
        return float(np.average(values, weights=self.targets))


class Trainer:
    """A model, its optimiser and what feeds it.

    With `fp16` (and `fp16-linear`) the loss is scaled, and the order is unscale, clip, step. A scaler leaves out a step
    whose gradients are not finite; such steps are counted as attempts less updates.

    Args:
        labels: class of every node, int64, ``[num_nodes]``.
        precision: as in the options; decides whether the loss is scaled. The model itself casts.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        batches: Batches,
        features: Features,
        labels: np.ndarray,
        training: Training,
        precision: str,
        device: torch.device,
    ) -> None:
        self.model = model
        self.totals = Totals()
        self._batches, self._features, self._labels = batches, features, labels
        self._clip, self._device = training.clip, device
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._optimiser = torch.optim.Adam(self._parameters, lr=training.lr, weight_decay=training.weight_decay)
        self._optimiser.register_step_post_hook(self._count_step)  # asking the scaler instead would wait for the device
        self.scaler = torch.amp.GradScaler(device.type, enabled=precision.startswith("fp16"))

    def epoch(self, epoch: int, clock: StageClock | NoClock) -> EpochLosses:
        """Train on every batch of this epoch (numbered from 1) that has a target; the others make no step."""
        self.model.train()
        found = EpochLosses(epoch, [], [], [])
        self.totals.epochs += 1
        clock.enter("sample")
        for batch in self._batches.epoch(epoch):
            self._count(batch)
            if len(batch.targets):
                found.losses.append(self._step(batch, clock))
                found.targets.append(len(batch.targets))
                found.batches.append(batch.index)
            clock.enter("sample")
        clock.pause()
        return found

    def counters(self) -> dict[str, Any]:
        """Totals as JSON values; `gradient_norm` (quantiles before clipping) only where gradients are clipped."""
        totals = {k: v for k, v in vars(self.totals).items() if k != "gradient_norms"}
        totals["skipped_steps"] = self.totals.backward_passes - self.totals.steps
        totals["loss_scale"] = self.scaler.get_scale() if self.scaler.is_enabled() else None
        if self._clip is not None:
            totals["gradient_norm"] = _quantiles(self.totals.gradient_norms)
            totals["clipped_steps"] = _above(self.totals.gradient_norms, self._clip)
        return totals

    def _step(self, batch: Batch, clock: StageClock | NoClock) -> torch.Tensor:
        clock.enter("fetch")
        x = self._features.fetch(batch.nodes)
        labels = torch.from_numpy(self._labels[batch.nodes[batch.targets]]).to(self._device)
        clock.enter("compute")
        targets = torch.from_numpy(batch.targets).to(self._device)
        loss = F.cross_entropy(self.model(x, batch.blocks)[targets].float(), labels)
        self._optimiser.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        clock.enter("update")
        self._update()
        return loss.detach()

    def _update(self) -> None:
        self.totals.backward_passes += 1
        if self._clip is not None:
            self.scaler.unscale_(self._optimiser)  # else the scaled gradients would be clipped
            norm = torch.nn.utils.clip_grad_norm_(self._parameters, self._clip)
            self.totals.gradient_norms.append(norm.detach())
        self.scaler.step(self._optimiser)
        self.scaler.update()

    def _count(self, batch: Batch) -> None:
        self.totals.batches += 1
        self.totals.batches_without_target += not len(batch.targets)
        self.totals.nodes += len(batch.nodes)
        self.totals.edges += batch.num_edges
        self.totals.targets += len(batch.targets)

    def _count_step(self, *_: Any) -> None:
        self.totals.steps += 1


def _quantiles(norms: list[torch.Tensor]) -> dict[str, float] | None:
    """Of the finite gradient norms; None where there is none."""
    finite = _finite(norms)
    if not len(finite):
        return None
    low, median, high = np.quantile(finite, [0.05, 0.5, 0.95])
    return {"q05": float(low), "median": float(median), "q95": float(high), "max": float(finite.max())}


def _above(norms: list[torch.Tensor], clip: float) -> int:
    return int((_finite(norms) > clip).sum())


def _finite(norms: list[torch.Tensor]) -> np.ndarray:
    values = torch.stack(norms).float().cpu().numpy() if norms else np.empty(0, dtype=np.float32)
    return values[np.isfinite(values)]
