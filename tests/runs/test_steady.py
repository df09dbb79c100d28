"""What a timing run does with its epochs: which are timed, on which batches, and what is left as it was."""

from __future__ import annotations

import math

import pytest
import torch

from harness.runs import steady
from harness.runs.memory import PeakMemory
from harness.runs.stages import NoClock
from harness.runs.steady import time_epochs

CPU = torch.device("cpu")


class Losses:
    def mean(self) -> float:
        return 0.0


class Planted:
    """A trainer that computes nothing, on a clock on which its epochs take so long."""

    def __init__(self, monkeypatch, *epoch_s: float) -> None:
        self.numbers: list[int] = []
        self.waited_s: float | None = None
        self.profiled: list[int] = []
        self._left, self._now = list(epoch_s), 0.0
        monkeypatch.setattr(steady, "perf_counter", lambda: self._now)

    def epoch(self, number: int, clock) -> Losses:
        if isinstance(clock, NoClock):
            self.numbers.append(number)
            self._now += self._left.pop(0)
        else:
            self.profiled.append(number)
            clock.enter("compute")
            clock.pause()
        return Losses()


class Windows(PeakMemory):
    """Remembers what was kept of the windows."""

    def __init__(self) -> None:
        super().__init__(CPU)
        self.kept: list[int] = []

    def keep(self, last: int) -> None:
        super().keep(last)
        self.kept.append(len(self._peaks))


def test_a_steady_process_times_its_first_epochs_after_the_warm_up(monkeypatch):
    trainer = Planted(monkeypatch, 9.0, 3.0, 1.0, 1.0, 1.0)
    timed = time_epochs(trainer, 2, 3, CPU, PeakMemory(CPU), lambda _: None)
    assert (timed.warmup_s, timed.epoch_s, timed.settled) == ([9.0, 3.0], [1.0, 1.0, 1.0], True)
    assert (trainer.numbers, trainer.profiled) == ([1, 2, 3, 4, 5], [6])
    assert timed.device_times is None


def test_epochs_go_on_until_the_last_ones_have_settled(monkeypatch):
    trainer = Planted(monkeypatch, 9.0, 4.0, 2.0, 1.0, 1.0, 1.0)
    timed = time_epochs(trainer, 1, 3, CPU, PeakMemory(CPU), lambda _: None)
    assert (timed.warmup_s, timed.epoch_s, timed.settled) == ([9.0, 4.0, 2.0], [1.0, 1.0, 1.0], True)


def test_however_long_it_takes_the_same_epochs_are_timed_and_profiled(monkeypatch):
    """Two arms of a block then differ in no batch, only in the order."""
    quick = Planted(monkeypatch, 1.0, *[1.0] * 3)
    time_epochs(quick, 1, 3, CPU, PeakMemory(CPU), lambda _: None)
    slow = Planted(monkeypatch, 1.0, 8.0, 4.0, 1.0, 1.0, 1.0)
    time_epochs(slow, 1, 3, CPU, PeakMemory(CPU), lambda _: None)
    assert quick.numbers == [1, 2, 3, 4]
    assert slow.numbers == [1, 2, 3, 4, 2, 3]
    assert set(slow.numbers[-3:]) == set(quick.numbers[-3:])
    assert quick.profiled == slow.profiled == [5]


def test_one_that_never_settles_ends_at_the_cap_and_says_so(monkeypatch):
    trainer = Planted(monkeypatch, *[1.5**i for i in range(1 + 3 * 2)])
    timed = time_epochs(trainer, 1, 2, CPU, PeakMemory(CPU), lambda _: None)
    assert timed.settled is False
    assert timed.epoch_s == pytest.approx([1.5**5, 1.5**6])
    assert len(timed.warmup_s) == 1 + 4


def test_proofs_end_with_the_warm_up_that_was_asked_for(monkeypatch):
    """Before any epoch that can count, however many more turn out to be warm-up."""
    trainer, at = Planted(monkeypatch, 9.0, 9.0, 4.0, 2.0, 1.0, 1.0), []
    time_epochs(trainer, 2, 2, CPU, PeakMemory(CPU), lambda _: None, lambda: at.append(list(trainer.numbers)))
    assert at == [[1, 2]]


def test_peak_memory_is_that_of_the_timed_epochs(monkeypatch):
    windows = Windows()
    time_epochs(Planted(monkeypatch, 9.0, 4.0, 2.0, 1.0, 1.0), 1, 2, CPU, windows, lambda _: None)
    assert windows.kept == [0, 2]


# --- a device with a clock of its own, in whose place the tests put one ---------------------------------------------


class Event:
    """A CUDA event on a device that is told when it gets there."""

    at = 0.0

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing
        self.when = math.nan

    def record(self) -> None:
        self.when = Event.at

    def elapsed_time(self, other: Event) -> float:
        return (other.when - self.when) * 1e3


class OnDevice(Planted):
    """Epochs that take the device half as long as the host's clock says, and a profile of 1, 2, 3 and 4 s."""

    def epoch(self, number: int, clock) -> Losses:
        if isinstance(clock, NoClock):
            Event.at += self._left[0] / 2
            return super().epoch(number, clock)
        for stage, seconds in (("sample", 1.0), ("fetch", 2.0), ("compute", 3.0), ("update", 4.0)):
            clock.enter(stage)
            self._now += seconds
            Event.at += seconds / 2
        clock.pause()
        return Losses()


def test_a_device_is_timed_by_its_own_clock_too_and_its_busy_share_looked_at(monkeypatch):
    from harness.runs import stages

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    trainer = OnDevice(monkeypatch, 9.0, 4.0, 1.0, 1.0)
    monkeypatch.setattr(stages, "perf_counter", lambda: trainer._now)
    timed = time_epochs(trainer, 1, 2, torch.device("cuda:0"), PeakMemory(CPU), lambda _: None)
    assert timed.epoch_s == [1.0, 1.0]
    assert timed.device_times.epoch_s == pytest.approx([0.5, 0.5])
    assert timed.device_times.busy_share == pytest.approx((3.0 + 4.0) / 2 / 10.0)
    assert timed.profile.stages.compute_s == pytest.approx(3.0)
