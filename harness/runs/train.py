"""One epoch of training: batches in, weights changed, and a count of all that went through."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch
import torch.nn.functional as F

from harness.batches.batch import Batch
from harness.batches.device_copy import Arriving, SideStream
from harness.batches.loader import LoaderWatch
from harness.models.network import Network
from harness.models.precision import Precision, update
from harness.runs.accumulation import Gathering, StepSizes
from harness.runs.gradient_norms import GradientNorms
from harness.runs.request import Diverged
from harness.runs.stages import NoClock, StageClock
from harness.spec.options import Loader, Training


class Batches(Protocol):
    """What `harness.batches.plans.batches_of` gives."""

    def epoch(self, epoch: int) -> Iterable[Batch]:
        """The batches of this epoch, in order."""

    def prepared_epoch(
        self,
        epoch: int,
        prepare: Callable[[Batch], Arriving | None],
        threads: int,
        depth: int,
        watch: LoaderWatch,
        around: Callable[[], AbstractContextManager[object]],
    ) -> Generator[tuple[Batch, Arriving | None], None, None]:
        """The same, each prepared in the background; asked for only where the loader has threads."""


class Features(Protocol):
    """What `harness.batches.features.store.FeatureStore` gives."""

    def fetch(self, nodes: np.ndarray) -> torch.Tensor:
        """Rows of these nodes on the device, float32, ``[len(nodes), features]``."""


@dataclass
class Totals:
    """Sums over all training epochs of a run (warm-up and profile epoch included), beside those the batches count."""

    epochs: int = 0
    batches_without_target: int = 0
    backward_passes: int = 0
    steps: int = 0  # updates the optimiser really made
    targets: int = 0


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


@dataclass(frozen=True)
class FirstFed:
    """The first batch with a target and, on the device, its features ``[nodes, features]``, and the class and the row
    of each target, int64."""

    batch: Batch
    x: torch.Tensor
    labels: torch.Tensor
    targets: torch.Tensor


class Trainer:
    """A model, its optimiser and what feeds it.

    With `fp16` and `fp16-linear` the loss is scaled; the scaler leaves out a step whose gradients are not finite. Such
    steps are counted, and end no training as long as the loss itself is finite.

    With `training.accumulate` or `training.accumulate_targets` a step has the gradient of the mean loss over the
    labelled nodes of several mini-batches, as if they were one; what is left at the end of an epoch makes a step too.
    Only what a mini-batch computes over its own nodes (the statistics of batch norm) is still of each alone.

    Args:
        labels: class of every node, int64, ``[num_nodes]``.
        precision: as in the options; decides whether the loss is scaled. The model itself casts.
        loader: as in the options; by default none. With threads, batches and what they need are prepared in the
            background. That changes no number: no draw, no order and no operation depends on it.
        curves: whether each epoch is to have a gradient norm (`gradient_norms`): one look an epoch, off where epochs
            are timed. It changes no number either.
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
        loader: Loader | None = None,
        curves: bool = False,
    ) -> None:
        self.model = model
        self.totals = Totals()
        self._batches, self._features, self._labels = batches, features, labels
        self._clip, self._device = training.clip, device
        self._gathered, self._sizes = Gathering(training), StepSizes()
        self._norms = GradientNorms(training.clip, curves)
        self._loader, self._loader_watch, self._side = loader or Loader(), LoaderWatch(), SideStream(device)
        self._waited_s = self._epochs_s = 0.0
        self._optimiser = torch.optim.Adam(model.parameters(), lr=training.lr, weight_decay=training.weight_decay)
        self._optimiser.register_step_post_hook(self._count_step)  # the scaler does not call a step it leaves out
        self.scaler = Precision(precision, device.type).scaler()

    def epoch(self, epoch: int, clock: StageClock | NoClock) -> EpochLosses:
        """Train on every batch of this epoch (numbered from 1) that has a target; the others are not computed."""
        self.model.train()
        found = EpochLosses(epoch, [], [], [])
        self.totals.epochs += 1
        self._norms.begin_epoch()
        clock.enter("sample")
        with closing(self._fed(epoch)) as batches:
            for batch, prepared in batches:
                clock.see(batch)
                self.totals.targets += len(batch.targets)
                if len(batch.targets):
                    found.losses.append(self._backward(batch, prepared, clock))
                    found.targets.append(len(batch.targets))
                    found.batches.append(batch.index)
                    if self._gathered.full:
                        self._update(clock, full=True)
                else:
                    self.totals.batches_without_target += 1
                del batch, prepared  # or they would be held while the next ones are waited for
                clock.enter("sample")
        if self._gathered.batches:
            self._update(clock, full=False)
        clock.pause()
        self._norms.read()
        return found

    def first_fed(self) -> FirstFed:
        """What the first step of epoch 1 is fed with, by the way that it is fed: through the loader, if it has threads.

        Raises:
            ValueError: no batch holds a training node.
        """
        with closing(self._fed(1)) as batches:
            for batch, prepared in batches:
                if len(batch.targets):
                    return FirstFed(batch, *self._arrived(batch, prepared))
        raise ValueError("no batch holds a training node")

    @property
    def waited_s(self) -> float | None:
        """Seconds so far in which the model waited for the loader's next batch; None without background threads."""
        return self._waited_s if self._loader.threads else None

    @property
    def gradient_norms(self) -> list[float | None]:
        """Median of the gradient's global norm, epoch by epoch, of the steps that were looked at; see
        `GradientNorms`."""
        return self._norms.by_epoch

    def counters(self) -> dict[str, Any]:
        """Totals as JSON values, and those of `StepSizes` and `GradientNorms`."""
        return vars(self.totals) | {
            "skipped_steps": self._sizes.batches.count - self.totals.steps,
            "loss_scale": self.scaler.get_scale() if self.scaler.is_enabled() else None,
            **self._sizes.counters(),
            **self._norms.counters(),
            "optimiser": {name: self._optimiser.param_groups[0][name] for name in ("lr", "weight_decay")},
            "loader": self._loader_counters(),
        }

    def _loader_counters(self) -> dict[str, Any]:
        watch = self._loader_watch
        found: dict[str, Any] = {
            "threads": watch.threads,
            "threads_used": watch.threads_used,
            "submitted": watch.submitted,
            "prepared": watch.made,
            "made_in_background": watch.made_in_background,
            "most_ahead": watch.most_ahead,
        }
        if self._loader.threads:
            found["wait_share"] = self._waited_s / self._epochs_s if self._epochs_s else 0.0
        return found

    def _fed(self, epoch: int) -> Generator[tuple[Batch, Arriving | None], None, None]:
        """The batches of an epoch; from a loader with threads each with what `_needed` sent, if it has a target."""
        if self._loader.threads == 0:
            for batch in self._batches.epoch(epoch):
                yield batch, None
                del batch
            return
        started = perf_counter()
        items = self._batches.prepared_epoch(
            epoch,
            lambda batch: self._needed(batch) if len(batch.targets) else None,
            self._loader.threads,
            self._loader.depth,
            self._loader_watch,
            self._side.current,
        )
        with closing(items):
            while True:
                asked = perf_counter()
                item = next(items, None)
                self._waited_s += perf_counter() - asked
                if item is None:
                    break
                yield item
                del item
        self._epochs_s += perf_counter() - started

    def _needed(self, batch: Batch) -> Arriving:
        """Features, labels and rows of the targets; here torch must not compute on several threads, since each thread
        that it is called from would have threads of its own."""
        batch.fetch_edge_attr()
        labels = torch.from_numpy(self._labels[batch.nodes[batch.targets]])
        return self._side.send(self._features.fetch(batch.nodes), labels, torch.from_numpy(batch.targets))

    def _arrived(self, batch: Batch, prepared: Arriving | None) -> tuple[torch.Tensor, ...]:
        """Features, labels and rows of the targets, on the device."""
        if prepared is not None:
            return prepared.ready()
        x = self._features.fetch(batch.nodes)
        batch.fetch_edge_attr()
        labels = torch.from_numpy(self._labels[batch.nodes[batch.targets]]).to(self._device)
        return x, labels, torch.from_numpy(batch.targets).to(self._device)

    def _backward(self, batch: Batch, prepared: Arriving | None, clock: StageClock | NoClock) -> torch.Tensor:
        """Add a batch's gradient to the step's; its mean loss, on the device."""
        clock.enter("fetch")
        x, labels, targets = self._arrived(batch, prepared)
        clock.enter("compute")
        loss = F.cross_entropy(self.model(x, batch.blocks)[targets].float(), labels)
        del x  # where the backward pass does not need the features (gin, input dropout), nobody does
        if not self._gathered.batches:
            self._optimiser.zero_grad(set_to_none=True)
        weight = self._gathered.weight(len(batch.targets))
        self.scaler.scale(loss if weight == 1.0 else loss * weight).backward()
        self.totals.backward_passes += 1
        self._gathered.add(len(batch.targets))
        return loss.detach()

    def _update(self, clock: StageClock | NoClock, full: bool) -> None:
        """Make the step of what was gathered, or leave it out as the scaler says."""
        clock.enter("update")
        norm = update(
            self.model,
            self._optimiser,
            self.scaler,
            self._clip,
            correction=self._gathered.correction(),
            wants_norm=self._norms.due(),
        )
        if norm is not None:
            self._norms.add(norm, self.model.parameters())
        if isinstance(self.model, Network):
            self.model.release()
        self._sizes.add(self._gathered, full)
        self._gathered.clear()

    def _count_step(self, *_: Any) -> None:
        self.totals.steps += 1
