"""The stage clock loses no second and counts none twice."""

from __future__ import annotations

import pytest
import torch

from harness.runs import stages
from harness.runs.stages import NoClock, StageClock
from harness.spec.stages import STAGES


@pytest.fixture
def ticks(monkeypatch):
    """A clock that a test sets: `ticks.append(t)` is what the next reading gives."""
    readings: list[float] = []
    monkeypatch.setattr(stages, "perf_counter", lambda: readings.pop(0))
    return readings


def test_stages_add_up_to_the_time_between_enter_and_pause(ticks):
    clock = StageClock(torch.device("cpu"))
    ticks += [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]
    for stage in ("sample", "fetch", "compute", "update", "sample"):
        clock.enter(stage)
    clock.pause()
    found = clock.per_epoch(1)
    assert (found.sample_s, found.fetch_s, found.compute_s, found.update_s) == (1.0 + 5.0, 2.0, 3.0, 4.0)


def test_paused_time_belongs_to_no_stage(ticks):
    clock = StageClock(torch.device("cpu"))
    ticks += [0.0, 1.0, 101.0, 103.0]
    clock.enter("sample")
    clock.pause()
    clock.enter("compute")
    clock.pause()
    found = clock.per_epoch(1)
    assert (found.sample_s, found.compute_s) == (1.0, 2.0)


def test_means_are_per_epoch_and_the_first_can_be_forgotten(ticks):
    clock = StageClock(torch.device("cpu"))
    ticks += [0.0, 50.0, 60.0, 64.0]
    clock.enter("compute")
    clock.pause()
    clock.reset()
    clock.enter("compute")
    clock.pause()
    assert clock.per_epoch(2).compute_s == 2.0


def test_no_epoch_has_no_mean():
    with pytest.raises(ValueError, match="there was none"):
        StageClock(torch.device("cpu")).per_epoch(0)


def test_every_change_of_stage_waits_for_the_device(monkeypatch):
    waited = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    device = torch.device("cuda:0")
    clock = StageClock(device)
    for stage in STAGES:
        clock.enter(stage)
    clock.pause()
    assert waited == [device] * 5
    NoClock().enter("sample")
    NoClock().pause()
    assert len(waited) == 5
