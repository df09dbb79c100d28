"""Features larger than the memory that a run may have: on disk it trains and is evaluated, in memory it cannot."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.records.record import Record
from harness.records.store import RecordStore
from harness.runs.request import RunRequest
from harness.runs.supervisor import ForkServer, run_one
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Limits

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_DATA"),
]

LIMIT_MB = 200.0


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Rows of 4 kB, 307 MB of them."""
    split = Split(kind="random", train=0.02, val=0.02)
    section = Synthetic(
        source="synthetic", nodes=75_000, mean_degree=4.0, classes=3, features=1024, signal=1.0, split=split
    )
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(cache))
        folder = prepare(section, "wide", ".")
        assert open_graph(folder).x.nbytes > LIMIT_MB * 1e6
        yield folder
    shutil.rmtree(cache, ignore_errors=True)


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(1) as made:
        yield made


@pytest.fixture
def run(graph, server, tmp_path):
    def make(conv: str = "sage", limit: float | None = LIMIT_MB, **features) -> Record:
        request = RunRequest(
            run_id="r",
            cell_id="c",
            purpose="quality",
            seed=0,
            model=Model(conv=conv, hidden=8),
            training=Training(epochs=2, batch_size=256, lr=0.01),
            options=Options.model_validate({"sampling": {"fanout": [4, 3]}, "features": features}),
            graph_path=str(graph),
            spec_dir=str(tmp_path),
            device="cpu",
            threads=1,
        )
        limits = Limits(time_s=120, memory_mb=limit)
        return run_one(request, store=RecordStore(tmp_path / "runs"), server=server, limits=limits)

    return make


def test_a_host_home_larger_than_the_limit_is_oom(run) -> None:
    record = run(home="host")
    assert record.status == "oom", record.message
    assert record.phase == "prepare"


@pytest.mark.parametrize("conv", ["sage", "gcn"])
def test_a_disk_home_trains_and_is_evaluated(run, conv) -> None:
    record = run(conv, home="disk")
    assert (record.status, record.phase) == ("ok", "done"), record.message
    assert record.metrics == run(conv, limit=None, home="host").metrics
    assert record.counters["feature_home"] == "disk"
    assert record.counters["fetched_bytes"] == record.counters["cache_requests"] * 4096


@pytest.mark.parametrize("policy", ["presample", "optimal"])
def test_a_cache_of_what_is_free_lies_beside_it(run, policy) -> None:
    """Half of what the limit leaves, whatever the machine has."""
    record = run(home="disk", cache_bytes="auto", policy=policy)
    assert record.status == "ok", record.message
    assert 0 < record.counters["cache_free_bytes"] <= LIMIT_MB * 1e6 * 1.05
    assert 20e6 < record.counters["cache_bytes"] <= record.counters["cache_free_bytes"] / 2
    assert 0 < record.counters["cache_hits"] <= record.counters["cache_hits_optimal"]
