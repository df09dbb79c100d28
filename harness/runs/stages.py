"""Where a training step spends its time: one clock that is always in exactly one of four stages."""

from __future__ import annotations

from time import perf_counter
from typing import Literal

import torch

from harness.batches.batch import Batch
from harness.records.record import Stages

Stage = Literal["sample", "fetch", "compute", "update"]
STAGES: tuple[Stage, ...] = ("sample", "fetch", "compute", "update")


def synchronise(device: torch.device) -> None:
    """Wait for all work queued on the device; nothing to wait for on the CPU.

    CUDA calls return before their work is done: a clock read without this measures the queueing (a 45-fold error
    in one published suite).
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)


class StageClock:
    """Adds up the seconds between changes of stage.

    ``enter("fetch")`` closes the stage before it, so the four stages add up to the time between the first ``enter``
    and ``pause`` and no second is counted twice or lost. On CUDA each change waits for the device, which is why the
    epochs of a timing run are measured without this clock (`NoClock`) and the stages in an epoch of their own.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._seconds: dict[Stage, float] = dict.fromkeys(STAGES, 0.0)
        self._stage: Stage | None = None
        self._since = 0.0

    def enter(self, stage: Stage) -> None:
        """The stage before ends and this one begins."""
        now = self._close()
        self._stage, self._since = stage, now

    def see(self, batch: Batch) -> None:
        """What the next seconds are of; for clocks that look at it."""

    def pause(self) -> None:
        """The present stage ends and none begins."""
        self._close()
        self._stage = None

    def reset(self) -> None:
        """Forget everything so far (the first epoch, which compiles and fills caches)."""
        self._seconds = dict.fromkeys(STAGES, 0.0)

    def per_epoch(self, epochs: int) -> Stages:
        """Mean seconds per epoch in each stage, over this many epochs."""
        if epochs < 1:
            raise ValueError(f"stages are per epoch and there was none: epochs is {epochs}")
        return Stages(**{f"{stage}_s": seconds / epochs for stage, seconds in self._seconds.items()})

    def _close(self) -> float:
        synchronise(self._device)
        now = perf_counter()
        if self._stage is not None:
            self._seconds[self._stage] += now - self._since
        return now


class NoClock:
    """In the place of a `StageClock` where only whole epochs are timed."""

    def enter(self, stage: Stage) -> None:
        """Do nothing, at no cost and without waiting for the device."""

    def see(self, batch: Batch) -> None:
        """Do nothing."""

    def pause(self) -> None:
        """Do nothing."""
