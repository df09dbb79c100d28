"""The same seed gives the same run, bit for bit; the option holds for one process, and says what torch cannot do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.records.record import Metrics
from harness.runs.determinism import determinism_counters, use_deterministic_algorithms
from harness.runs.execute import assemble, execute, settle, translated
from harness.runs.memory import PeakMemory
from harness.runs.request import RunRequest, Unsupported
from harness.runs.seeding import seed_everything
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Large enough that torch shares its operations among threads: 1,000 nodes of 64 features."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        section = Synthetic(source="synthetic", nodes=1000, mean_degree=8.0, classes=4, features=64, split=split)
        return prepare(section, "graph", ".")


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    use_deterministic_algorithms(False)


def _request(path: Path, threads: int, conv: str, seed: int = 0, **options) -> RunRequest:
    return RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=seed, graph_path=str(path), spec_dir=str(path), device="cpu",
        threads=threads, training=Training(epochs=2, batch_size=500, lr=0.01),
        model=Model(conv=conv, hidden=32, layers=2, norm="batch"),
        options=Options.model_validate({"sampling": {"fanout": [6, 4]}, **options}),
    )  # fmt: skip


def _trained(request: RunRequest) -> tuple[Metrics, list[torch.Tensor]]:
    device = settle(request)
    run = assemble(request, open_graph(Path(request.graph_path)), device)
    seed_everything(request.seed, "train")
    found = run.measure(request, PeakMemory(device), lambda phase: None)
    assert found.metrics is not None
    return found.metrics, [v.clone() for v in run.model.state_dict().values()]


def _equal(one: tuple[Metrics, list[torch.Tensor]], other: tuple[Metrics, list[torch.Tensor]]) -> bool:
    return one[0] == other[0] and all(torch.equal(a, b) for a, b in zip(one[1], other[1], strict=True))


@pytest.mark.parametrize(("threads", "deterministic"), [(1, False), (1, True), (2, False)])
@pytest.mark.parametrize("aggregation", ["scatter", "spmm", "segment", "dense"])
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin"])
def test_the_same_seed_gives_the_same_run(graph, conv, aggregation, threads, deterministic):
    """Losses, scores, predictions and weights; on the CPU without the option too."""
    if (conv, aggregation) == ("gat", "spmm"):
        return  # there is no such thing: see harness.plan.capabilities
    request = _request(graph, threads, conv, aggregation=aggregation, deterministic=deterministic)
    assert _equal(_trained(request), _trained(request))


@pytest.mark.parametrize("batching", ["cluster", "full"])
def test_the_same_seed_gives_the_same_run_however_it_is_batched(graph, batching):
    options = {"batching": batching, "partition": {"method": "random", "parts": 6, "per_batch": 2}}
    for conv in ("sage", "gat"):
        request = _request(graph, 2, conv, deterministic=True, **options)
        assert _equal(_trained(request), _trained(request)), conv


def test_another_seed_gives_another_run(graph):
    assert not _equal(*(_trained(_request(graph, 1, "sage", seed)) for seed in (0, 1)))


def test_the_option_holds_for_the_run_alone(graph, monkeypatch):
    seen = []
    for on in (True, False):
        counters = execute(_request(graph, 1, "sage", deterministic=on), lambda phase: None).counters
        seen.append((counters["deterministic_algorithms"], counters["cudnn_deterministic"]))
    assert seen == [(True, True), (False, False)]
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_a_workspace_that_is_deterministic_already_is_kept(monkeypatch):
    for given, kept in ((":16:8", ":16:8"), (":0:0", ":4096:8")):
        monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", given)
        use_deterministic_algorithms(True)
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == kept


def test_an_operation_that_may_only_warn_is_not_deterministic():
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert not determinism_counters()["deterministic_algorithms"]


def test_what_torch_cannot_do_deterministically_is_unsupported_in_its_words():
    """Max-unpooling is one of the few operations without it on the CPU."""
    use_deterministic_algorithms(True)
    pooled, at = torch.nn.functional.max_pool1d(torch.ones(1, 1, 4), 2, return_indices=True)
    words = r"^deterministic: true: max_unpool.* does not have a deterministic .*\.$"
    with pytest.raises(Unsupported, match=words), translated():
        torch.nn.functional.max_unpool1d(pooled, at, 2)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"), translated():
        torch.ones(2) @ torch.ones(3)
