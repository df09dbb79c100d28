"""Batches prepared in the background change no number of a training, hold little memory and leave nothing behind."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.batches.batch import Batch
from harness.batches.device_copy import SideStream
from harness.batches.epochs import BatchPlan
from harness.batches.features.store import FeatureStore
from harness.batches.neighbors import NeighborBatches
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.runs.execute import Assembled, assemble, execute
from harness.runs.process import sizes
from harness.runs.request import Diverged, RunRequest
from harness.runs.stages import NoClock, StageClock
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training

CPU = torch.device("cpu")
CLUSTER = {"batching": "cluster", "partition": {"method": "random", "parts": 12, "per_batch": 2}}
BUDGET = {"sampling": {"fanout": [4, 3], "node_edge_budget": 50_000}}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        section = Synthetic(source="synthetic", nodes=600, mean_degree=8.0, classes=3, features=40, split=split)
        yield prepare(section, "graph", ".")


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    torch_threads, threads = torch.get_num_threads(), threading.active_count()
    yield
    torch.set_num_threads(torch_threads)
    assert threading.active_count() == threads


def _request(graph: Path, options=None, threads: int = 0, depth: int = 2, **changes) -> RunRequest:
    loader = {"loader": {"threads": threads, "depth": depth}}
    return RunRequest(
        **{
            "run_id": "r", "cell_id": "c", "purpose": "quality", "seed": 0,
            "model": Model(conv="sage", hidden=16, layers=2, dropout=0.5, norm="batch"),
            "training": Training(epochs=3, batch_size=32), "graph_path": str(graph), "spec_dir": str(graph),
            "device": "cpu", "threads": 1,
            "options": Options.model_validate({"sampling": {"fanout": [4, 3]}, **loader, **(options or {})}),
            **changes,
        }
    )  # fmt: skip


def _assembled(graph: Path, options=None, threads: int = 0, depth: int = 2, **changes) -> Assembled:
    torch.set_num_threads(1)
    return assemble(_request(graph, options, threads, depth, **changes), open_graph(graph), CPU)


def _curve(run: Assembled, epochs: int = 2) -> list[bytes]:
    """Every loss of every batch, to the bit; dropout draws from torch's generator."""
    torch.manual_seed(0)
    losses = [loss for epoch in range(1, epochs + 1) for loss in run.trainer.epoch(epoch, NoClock()).losses]
    return [loss.numpy().tobytes() for loss in losses]


@pytest.mark.parametrize("cache", [{}, {"cache_ratio": 0.3}, {"home": "disk", "cache_ratio": 0.2, "policy": "optimal"}])
@pytest.mark.parametrize("options", [{}, CLUSTER, {"batching": "full"}, BUDGET])
def test_the_loss_curve_is_the_same_to_the_bit(graph, options, cache):
    options = {**options, "features": cache}
    plain = _assembled(graph, options)
    expected, weights = _curve(plain), [p.detach().clone() for p in plain.model.parameters()]
    for threads, depth in ((1, 1), (1, 2), (2, 2), (4, 6)):
        run = _assembled(graph, options, threads, depth)
        assert _curve(run) == expected
        assert all(torch.equal(a, b) for a, b in zip(run.model.parameters(), weights, strict=True))
        assert _counted(run) == _counted(plain)
    assert len(expected) >= 2


def _counted(run: Assembled) -> dict:
    """What may not depend on the loader: all but its own counters, times, and how far past an epoch's end it looked."""
    counters = run.counters()
    return {k: v for k, v in counters.items() if k not in ("loader", "partition", "samplings") and not k.endswith("_s")}


@pytest.mark.parametrize("options", [{}, CLUSTER, BUDGET])
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_run_says_where_its_batches_were_made(graph, options, threads):
    outcome = execute(_request(graph, options, threads, depth=2), lambda phase: None)
    found, batches = outcome.counters["loader"], outcome.counters["batches"]
    assert (found["threads"], found["submitted"]) == (threads, max(2, threads) if threads else 0)
    assert min(threads, 1) <= found["threads_used"] <= threads
    assert found["made_in_background"] == found["prepared"] == (batches if threads else 0)
    assert found["most_ahead"] <= max(2, threads)
    assert ("wait_share" in found) == (threads > 0)
    assert 0 <= found.get("wait_share", 0) <= 1


@pytest.mark.parametrize("threads", [0, 2])
def test_batches_without_a_target_are_not_fetched(graph, threads):
    parts = {"batching": "cluster", "partition": {"method": "random", "parts": 600, "per_batch": 1}}
    run = _assembled(graph, parts, threads)
    _curve(run, epochs=1)
    counters = run.counters()
    assert counters["batches_without_target"] == 300  # a node a batch, and half of the nodes train
    assert counters["cache_requests"] == counters["targets"] == 300


@pytest.mark.parametrize(("threads", "depth"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_few_batches_are_alive_at_a_time(graph, monkeypatch, threads, depth):
    """Those ahead and the one in the step, also while the next is waited for."""
    run = _assembled(graph, None, threads, depth)
    alive: list[weakref.ref[Batch]] = []
    most = 0
    made = NeighborBatches.batch

    def watched(self, epoch, index):
        nonlocal most
        batch = made(self, epoch, index)
        alive.append(weakref.ref(batch))
        most = max(most, sum(ref() is not None for ref in list(alive)))
        return batch

    monkeypatch.setattr(NeighborBatches, "batch", watched)
    gc.collect()
    gc.disable()  # by reference counts alone
    try:
        run.trainer.epoch(1, NoClock())
        assert not any(ref() for ref in alive)
    finally:
        gc.enable()
    assert len(alive) == 10
    assert most <= max(depth, threads) + 1


@pytest.mark.parametrize("threads", [1, 3])
def test_what_fails_in_the_background_comes_out_in_the_training(graph, monkeypatch, threads):
    run = _assembled(graph, None, threads)
    fetch = FeatureStore.fetch

    def failing(self, nodes):
        if run.trainer.totals.steps >= 2:
            raise MemoryError("Unable to allocate")
        return fetch(self, nodes)

    monkeypatch.setattr(FeatureStore, "fetch", failing)
    with pytest.raises(MemoryError, match="Unable to allocate"):
        run.trainer.epoch(1, NoClock())


@pytest.mark.parametrize("threads", [1, 3])
def test_a_step_that_fails_ends_the_threads(graph, monkeypatch, threads):
    """Even while the traceback still holds every frame."""
    run, before = _assembled(graph, None, threads), threading.active_count()
    monkeypatch.setattr(run.trainer, "_optimiser", None)
    with pytest.raises(AttributeError) as raised:
        run.trainer.epoch(1, NoClock())
    assert threading.active_count() == before
    assert raised.traceback


def test_a_loss_that_is_not_finite_is_named_as_without_a_loader(graph):
    said = []
    for threads in (0, 2):
        run = _assembled(graph, None, threads)
        torch.nn.init.constant_(next(run.model.parameters()), float("nan"))
        with pytest.raises(Diverged) as raised:
            run.trainer.epoch(1, NoClock()).mean()
        said.append(str(raised.value))
    assert said[0] == said[1]


def test_an_epoch_given_up_half_way_changes_nothing_later(graph):
    plain, stopped = _assembled(graph), _assembled(graph, None, 2)
    batches: BatchPlan = stopped.batches
    for _ in batches.prepared_epoch(7, lambda batch: stopped.store.fetch(batch.nodes), 2, 4):
        break
    assert _curve(stopped) == _curve(plain)


def test_stages_with_a_loader_are_the_models_view(graph):
    run = _assembled(graph, None, 2)
    clock = StageClock(CPU)
    run.trainer.epoch(1, clock)
    stages = clock.per_epoch(1)
    assert stages.sample_s > 0
    assert stages.fetch_s < stages.sample_s + stages.compute_s  # the gather is no longer in it


def test_on_the_cpu_what_is_sent_is_there_at_once():
    side = SideStream(CPU)
    tensors = torch.arange(3), torch.ones(2)
    with side.current():
        arriving = side.send(*tensors)
    assert all(a is b for a, b in zip(arriving.ready(), tensors, strict=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_what_is_sent_to_a_device_is_what_was_there():
    device = torch.device("cuda:0")
    side = SideStream(device)
    for i in range(50):
        host = torch.full((100_000,), float(i))
        with side.current():
            arriving = side.send(host, torch.full((1000,), float(i), device=device))
        moved, there = arriving.ready()
        del arriving
        assert moved.device.type == "cuda"
        assert float((moved.sum() - host.sum().to(device)).abs() + (there - i).abs().sum()) == 0.0


@pytest.mark.skipif("RssAnon" not in sizes(), reason="only Linux tells a process's anonymous memory")
def test_anonymous_memory_is_flat_over_fifty_epochs(graph):
    run = _assembled(graph, {"features": {"cache_ratio": 0.2}}, threads=2, depth=3)
    resident = []
    for epoch in range(1, 51):
        run.trainer.epoch(epoch, NoClock()).mean()
        resident.append(sizes()["RssAnon"])
    assert max(resident[-20:]) - resident[29] < 2 * 2**20
