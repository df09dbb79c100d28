"""How many mini-batches make a step: the one being gathered, and the sizes of those that were made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.spec.options import Training


class Gathering:
    """The step that is being gathered, and what its losses are weighted by.

    The step's loss is the mean over all its labelled nodes, N, whose number is known only when its last mini-batch is
    there. So the mean loss of a mini-batch with n of them goes into the backward pass times n / M, and the gradient is
    multiplied by M / N at the end: the sum of (n / M · M / N) · mean. M is the number of labelled nodes of the largest
    mini-batch that a step has begun with: then float16 gradients are of the size that they have without accumulation.
    Where a step is one mini-batch, M is n, and both factors are 1.

    Args:
        training: its `accumulate` and `accumulate_targets` say when a step has enough.
    """

    def __init__(self, training: Training) -> None:
        self._training, self._largest = training, 0
        self._nominal = 1
        self.batches = self.targets = self.targets_before_last = 0

    def weight(self, targets: int) -> float:
        """What the mean loss of the next mini-batch, with so many labelled nodes, is multiplied by: n / M."""
        if not self.batches:
            self._largest = max(self._largest, targets)
            self._nominal = self._largest if self._training.accumulates else targets
        return targets / self._nominal

    def add(self, targets: int) -> None:
        """A mini-batch with so many labelled nodes went through its backward pass."""
        self.batches += 1
        self.targets_before_last = self.targets
        self.targets += targets

    @property
    def full(self) -> bool:
        """Whether the step is to be made now; else it waits for more, or for the end of the epoch."""
        enough = self._training.accumulate_targets
        return self.batches >= self._training.accumulate if enough is None else self.targets >= enough

    def correction(self) -> float:
        """What the gradient of all mini-batches is multiplied by: M / N."""
        return self._nominal / self.targets

    def clear(self) -> None:
        """The step is made; the next one begins."""
        self.batches = self.targets = self.targets_before_last = 0


@dataclass
class Range:
    """Least, most and sum of whole numbers."""

    count: int = 0
    total: int = 0
    least: int = 0
    most: int = 0

    def add(self, value: int) -> None:
        self.least = min(self.least, value) if self.count else value
        self.most = max(self.most, value)
        self.count += 1
        self.total += value

    def found(self) -> dict[str, float] | None:
        """None where there was no number."""
        if not self.count:
            return None
        return {"min": self.least, "mean": self.total / self.count, "max": self.most}


@dataclass
class StepSizes:
    """Of the steps made or left out by a scaler: the mini-batches and labelled nodes that went into each.

    A step is *full* where it was made because it had enough, else the *rest* of an epoch.
    """

    batches: Range = field(default_factory=Range)
    targets: Range = field(default_factory=Range)
    full_batches: Range = field(default_factory=Range)
    full_targets: Range = field(default_factory=Range)
    rests: int = 0
    most_before_last: int = 0

    def add(self, gathered: Gathering, full: bool) -> None:
        """A step is made of what was gathered."""
        self.batches.add(gathered.batches)
        self.targets.add(gathered.targets)
        self.most_before_last = max(self.most_before_last, gathered.targets_before_last)
        if full:
            self.full_batches.add(gathered.batches)
            self.full_targets.add(gathered.targets)
        else:
            self.rests += 1

    def counters(self) -> dict[str, Any]:
        """``batches_per_step`` and ``targets_per_step`` (min, mean, max), and ``accumulated``."""
        return {
            "batches_per_step": self.batches.found(),
            "targets_per_step": self.targets.found(),
            "accumulated": {
                "batches": self.batches.total,
                "targets": self.targets.total,
                "rests": self.rests,
                "full_batches": self.full_batches.found(),
                "full_targets": self.full_targets.found(),
                "most_before_last": self.most_before_last,
            },
        }
