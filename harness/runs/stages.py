"""Where a training step spends its time: one clock that is always in exactly one of four stages."""

from __future__ import annotations

from time import perf_counter

import torch

from harness.batches.batch import Batch
from harness.records.record import Stages
from harness.runs.device_clock import DeviceClock
from harness.spec.stages import STAGES, Stage

BUSY = ("compute", "update")  # stages whose work is the device's


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

    Args:
        on_device: the device's own clock, which then measures `compute` and `update` beside the host's; None for none.
    """

    def __init__(self, device: torch.device, on_device: DeviceClock | None = None) -> None:
        self._device, self._on_device, self._busy_s = device, on_device, 0.0
        self._seconds: dict[Stage, float] = dict.fromkeys(STAGES, 0.0)
        self._stage: Stage | None = None
        self._since = 0.0

    def enter(self, stage: Stage) -> None:
        """The stage before ends and this one begins."""
        now = self._close()
        self._stage, self._since = stage, now
        if self._on_device is not None and stage in BUSY:
            self._on_device.start()

    def see(self, batch: Batch) -> None:
        """What the next seconds are of; for clocks that look at it."""

    def pause(self) -> None:
        """The present stage ends and none begins."""
        self._close()
        self._stage = None

    def reset(self) -> None:
        """Forget everything so far (the first epoch, which compiles and fills caches)."""
        self._seconds, self._busy_s = dict.fromkeys(STAGES, 0.0), 0.0

    def busy_share(self) -> float | None:
        """Share of all seconds in which, by its own clock, the device was at `compute` or `update`.

        The time from the first to the last operation of a stage, gaps in which the device waited to be told included:
        an upper bound of what its kernels take. None without a device's clock, or before any second has passed.
        """
        total = sum(self._seconds.values())
        return self._busy_s / total if self._on_device is not None and total else None

    def per_epoch(self, epochs: int) -> Stages:
        """Mean seconds per epoch in each stage, over this many epochs."""
        if epochs < 1:
            raise ValueError(f"stages are per epoch and there was none: epochs is {epochs}")
        return Stages(**{f"{stage}_s": seconds / epochs for stage, seconds in self._seconds.items()})

    def _close(self) -> float:
        measured = self._on_device if self._stage in BUSY else None
        if measured is not None:
            measured.stop()
        synchronise(self._device)
        now = perf_counter()
        if measured is not None:
            self._busy_s += measured.read_s()
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
