"""A timing run: warm up until the epochs have settled, time whole epochs, then look once where the time goes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import torch

from harness.records.record import DeviceTimes, StageProfile
from harness.runs.device_clock import DeviceClock, device_clock
from harness.runs.memory import PeakMemory
from harness.runs.profile import ProfileClock
from harness.runs.settled import enough, settled
from harness.runs.stages import NoClock, synchronise
from harness.runs.train import Trainer


@dataclass(frozen=True)
class Timed:
    """What a timing run found.

    Attributes:
        epoch_s: seconds of each timed epoch, sampling and fetching included, evaluation never.
        profile: of one more epoch, in which the device is waited for at each change of stage. Where a loader prepares
            batches in the background, `sample` is the wait for the next one.
        warmup_s: seconds of each epoch before the timed ones: those that were asked for, then those in which the
            process had not settled.
        settled: whether the timed epochs have, by `harness.runs.settled`.
        device_times: by the device's own clock; None on the CPU.
    """

    epoch_s: list[float]
    profile: StageProfile
    warmup_s: list[float]
    settled: bool
    device_times: DeviceTimes | None


def time_epochs(
    trainer: Trainer,
    warmup_epochs: int,
    timed_epochs: int,
    device: torch.device,
    memory: PeakMemory,
    report: Callable[[str], None],
    warmed_up: Callable[[], None] = lambda: None,
    first_epoch: Callable[[], None] = lambda: None,
) -> Timed:
    """Time training alone, in a steady state.

    The clock is read with the device idle, before and after each epoch. After the warm-up that was asked for, epochs
    go on until the last ``timed_epochs`` have settled, or the cap is reached; these are the timed ones, and peak memory
    is theirs. The others count as warm-up. Their numbers, and with them their batches, go round: any ``timed_epochs``
    in a row hold each of ``warmup_epochs + 1`` to ``warmup_epochs + timed_epochs`` once, so two processes are timed on
    the same batches however long each took to settle. The epoch after them is the one that stages are looked at in.

    Args:
        warmed_up: called once after the warm-up that was asked for: what is counted for the proof and costs time has
            to end then.
        first_epoch: called once after the first epoch of the warm-up, if there is one.

    Raises:
        Diverged: a training loss is not finite.
    """
    report("train")
    clock = device_clock(device)
    asked: list[float] = []
    for epoch in range(1, warmup_epochs + 1):
        asked.append(_time_epoch(trainer, epoch, device, clock))
        if epoch == 1:
            first_epoch()
    warmed_up()
    memory.keep(0)
    gc.collect()  # what preparation left is not to be collected within a timed epoch
    report("time")
    found: list[float] = []
    while not enough(found, timed_epochs):
        number = warmup_epochs + 1 + len(found) % timed_epochs
        with memory.window():
            found.append(_time_epoch(trainer, number, device, clock))
    memory.keep(timed_epochs)
    stages = ProfileClock(device, clock)
    profile = _profile(trainer, warmup_epochs + timed_epochs + 1, stages)
    return Timed(
        epoch_s=found[-timed_epochs:],
        profile=profile,
        warmup_s=asked + found[:-timed_epochs],
        settled=settled(found[-timed_epochs:]),
        device_times=clock and DeviceTimes(epoch_s=clock.epoch_s[-timed_epochs:], busy_share=stages.busy_share()),
    )


def _profile(trainer: Trainer, epoch: int, clock: ProfileClock) -> StageProfile:
    """Of an epoch whose number is the same in every process of a block, since its batches have to be."""
    before = trainer.waited_s
    trainer.epoch(epoch, clock).mean()
    after = trainer.waited_s
    return clock.profile(epoch, None if before is None or after is None else after - before)


def _time_epoch(trainer: Trainer, epoch: int, device: torch.device, clock: DeviceClock | None) -> float:
    synchronise(device)
    started = perf_counter()
    if clock is not None:
        clock.start()
    losses = trainer.epoch(epoch, NoClock())
    if clock is not None:
        clock.stop()
    synchronise(device)
    seconds = perf_counter() - started
    if clock is not None:
        clock.epoch_s.append(clock.read_s())
    losses.mean()  # after the clock: it reads the losses from the device, and raises where one is not finite
    return seconds
