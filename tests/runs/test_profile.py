"""The profile of an epoch says which batches it is of, and counts no second of finding that out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.batches.batch import Batch, Block
from harness.runs import profile, stages
from harness.runs.profile import ProfileClock

CPU = torch.device("cpu")


def batch(*nodes: int, edges: int = 2) -> Batch:
    ids = np.array(nodes, np.int64)
    indptr = np.array([0, edges] + [edges] * (len(ids) - 1), np.int64)
    degrees = np.zeros(len(ids), np.int64)
    block = Block(indptr, np.zeros(edges, np.int64), len(ids), degrees, degrees)
    return Batch(ids, (block,), np.zeros(1, np.int64))


def checksum(*batches: Batch) -> int:
    clock = ProfileClock(CPU)
    for one in batches:
        clock.see(one)
    return clock.profile(1, None).batches_crc32


@pytest.fixture
def ticks(monkeypatch):
    readings: list[float] = []
    for module in (stages, profile):
        monkeypatch.setattr(module, "perf_counter", lambda: readings.pop(0))
    return readings


def test_looking_at_a_batch_is_in_no_stage(ticks):
    clock = ProfileClock(CPU)
    ticks += [0.0, 1.0, 51.0, 52.0, 55.0]  # sampled 1 s, looked at for 50 s, 1 s more, 3 s of computing
    clock.enter("sample")
    clock.see(batch(4, 2))
    clock.enter("compute")
    clock.pause()
    found = clock.profile(9, 0.5)
    assert (found.stages.sample_s, found.stages.compute_s, found.seconds) == (2.0, 3.0, 5.0)
    assert (found.epoch, found.batches, found.nodes, found.edges, found.wait_s) == (9, 1, 2, 2, 0.5)


def test_the_checksum_tells_batches_apart_by_nodes_and_order():
    assert checksum(batch(4, 2), batch(7)) == checksum(batch(4, 2), batch(7))
    for other in ((batch(2, 4), batch(7)), (batch(7), batch(4, 2)), (batch(4, 2),), (batch(4, 2), batch(8))):
        assert checksum(*other) != checksum(batch(4, 2), batch(7))
