"""A timing run: warm up, time whole epochs, then look once where the time goes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch

from harness.records.record import StageProfile
from harness.runs.memory import PeakMemory
from harness.runs.profile import ProfileClock
from harness.runs.stages import NoClock, synchronise
from harness.runs.train import Trainer


@dataclass(frozen=True)
class Timed:
    """What a timing run found.

    Attributes:
        epoch_s: seconds of each timed epoch, sampling and fetching included, evaluation never.
        profile: of one more epoch, in which the device is waited for at each change of stage. Where a loader prepares
            batches in the background, `sample` is the wait for the next one.
    """

    epoch_s: list[float]
    profile: StageProfile


def time_epochs(
    trainer: Trainer,
    warmup_epochs: int,
    timed_epochs: int,
    device: torch.device,
    memory: PeakMemory,
    report: Callable[[str], None],
    warmed_up: Callable[[], None] = lambda: None,
) -> Timed:
    """Time training alone, in a steady state.

    The clock is read with the device idle, before and after each epoch. Peak memory is that of the timed epochs.

    Args:
        warmed_up: called once after the warm-up, before the first clock starts: what is counted for the proof and
            costs time has to end then.

    Raises:
        Diverged: a training loss is not finite.
    """
    report("train")
    for epoch in range(1, warmup_epochs + 1):
        trainer.epoch(epoch, NoClock()).mean()
    warmed_up()
    memory.forget()
    gc.collect()  # what preparation left is not to be collected within a timed epoch
    report("time")
    epoch_s = [_time_epoch(trainer, warmup_epochs + i, device, memory) for i in range(1, timed_epochs + 1)]
    return Timed(epoch_s, _profile(trainer, warmup_epochs + timed_epochs + 1, device))


def _profile(trainer: Trainer, epoch: int, device: torch.device) -> StageProfile:
    """Of an epoch whose number is the same in every process of a block, since its batches have to be."""
    clock, before = ProfileClock(device), trainer.waited_s
    trainer.epoch(epoch, clock).mean()
    after = trainer.waited_s
    return clock.profile(epoch, None if before is None or after is None else after - before)


def _time_epoch(trainer: Trainer, epoch: int, device: torch.device, memory: PeakMemory) -> float:
    with memory.window():
        synchronise(device)
        started = perf_counter()
        losses = trainer.epoch(epoch, NoClock())
        synchronise(device)
        seconds = perf_counter() - started
    losses.mean()  # after the clock: it reads the losses from the device, and raises where one is not finite
    return seconds
