"""Real trainings in forked children, and every way they can fail."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.graphs.prepare import prepare
from harness.records.store import RecordStore
from harness.runs.request import RunRequest
from harness.runs.supervisor import ForkServer, run_one
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Limits

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_DATA")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    dataset = Synthetic(
        source="synthetic",
        nodes=400,
        mean_degree=6.0,
        classes=3,
        features=16,
        signal=1.0,
        split=Split(kind="random", train=0.5, val=0.25),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield prepare(dataset, "small", ".")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    """One server for all: each run must work whatever happened to the one before."""
    with ForkServer(2) as made:
        yield made


@pytest.fixture
def run(graph, server, tmp_path):
    store = RecordStore(tmp_path / "runs")

    def make(limits=None, **changes):
        fields = {
            "run_id": "r",
            "cell_id": "c",
            "purpose": "quality",
            "seed": 0,
            "model": Model(conv="sage", hidden=8),
            "training": Training(epochs=2, batch_size=64, lr=0.01),
            "options": Options.model_validate({"sampling": {"fanout": [4, 3]}}),
            "graph_path": str(graph),
            "spec_dir": str(tmp_path),
            "device": "cpu",
            "threads": 2,
        }
        request = RunRequest(**{**fields, **changes})
        return run_one(request, store=store, server=server, limits=limits or Limits(time_s=120))

    return make


ENDLESS = Training(epochs=1_000_000, batch_size=64, lr=0.01)


def test_a_training_that_ends_well(run):
    record = run()
    assert (record.status, record.phase) == ("ok", "done"), record.message
    assert record.metrics.epochs == 2
    assert record.environment["threads"] == 2
    assert record.environment["omp_num_threads"] == "2"


def test_a_loss_that_is_not_finite_is_diverged(run):
    record = run(training=Training(epochs=20, batch_size=64, lr=1e30))
    assert (record.status, record.phase) == ("diverged", "train"), record.message


def test_bfloat16_keeps_no_kernel_for_every_size_of_a_batch(run):
    """120 batches, hardly two of one size: about 4 MB each with AVX-512 if all kernels of theirs were kept."""
    options = Options.model_validate({"sampling": {"fanout": [4, 3]}, "precision": "bf16"})
    record = run(training=Training(epochs=30, batch_size=64, lr=0.01), options=options)
    assert record.status == "ok", record.message
    assert record.environment["kernels_kept"] == "16"
    assert record.memory.peak_bytes < 40e6


def test_over_the_time_limit(run):
    record = run(Limits(time_s=1.5), training=ENDLESS)
    assert record.status == "timeout"


def test_killed(run, server):
    """The child is found as a stranger would find it, and killed while it trains."""

    def kill() -> None:
        for _ in range(600):
            children = psutil.Process(server.pid).children() if server.pid else []
            if children:
                time.sleep(0.2)
                os.kill(children[0].pid, signal.SIGKILL)
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    record = run(training=ENDLESS)
    killer.join()
    assert (record.status, record.message) == ("killed", "killed by SIGKILL")


@linux
def test_over_the_memory_limit_is_oom_in_the_allocators_words(run):
    """The middle layer alone has 2 · 8,000² weights, 512 MB."""
    record = run(
        Limits(time_s=120, memory_mb=300.0),
        model=Model(conv="sage", hidden=8_000, layers=3),
        options=Options.model_validate({"sampling": {"fanout": [4, 3, 2]}}),
    )
    assert record.status == "oom", record.message
    assert "allocate" in record.message


@linux
def test_a_memory_limit_that_suffices_changes_nothing(run):
    assert run(Limits(time_s=120, memory_mb=300.0)).status == "ok"


def test_a_model_of_ones_own_that_raises_is_an_error_in_one_line(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self, in_channels, out_channels):\n"
        "        super().__init__()\n"
        "        self.weight = torch.nn.Linear(in_channels, out_channels)\n"
        "    def forward(self, x, edge_index):\n"
        "        raise KeyError('no such layer')\n"
    )
    record = run(model=Model(class_path="mine:Net"))
    assert record.status == "error"
    assert "no such layer" in record.message
    assert "\n" not in record.message


def test_a_timing_run_has_its_epochs_and_no_metrics(run):
    record = run(purpose="timing", warmup_epochs=1, timed_epochs=3)
    assert record.status == "ok", record.message
    assert len(record.epoch_s) == 3
    assert record.metrics is None
    assert record.stages is not None
    assert record.memory.peak_bytes > 0


@linux
def test_the_server_is_fit_to_fork(run, server):
    """One thread, no CUDA context, no ogb: a child of anything else hangs or aborts."""
    assert run().status == "ok"
    threads = [path.name for path in Path(f"/proc/{server.pid}/task").iterdir()]
    assert threads == [str(server.pid)]
    maps = Path(f"/proc/{server.pid}/maps").read_text()
    assert "/dev/nvidia" not in maps
    assert "libtorch_cpu" in maps
