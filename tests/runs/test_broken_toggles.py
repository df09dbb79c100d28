"""A toggle broken inside the engine ends the run: the proof looks at what was done, not at what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches import clusters, features, neighbors, plans
from harness.graphs.prepare import prepare
from harness.runs.execute import execute
from harness.runs.proof import ToggleNotProven
from harness.runs.request import RunRequest
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        section = Synthetic(source="synthetic", nodes=300, mean_degree=9.0, classes=3, features=6, split=split)
        yield prepare(section, "graph", ".")


def _run(graph: Path, **options) -> None:
    threads = torch.get_num_threads()
    try:
        execute(
            RunRequest(
                run_id="r", cell_id="c", purpose="quality", seed=0, model=Model(conv="sage", hidden=8, layers=2),
                training=Training(epochs=1, batch_size=64), graph_path=str(graph), spec_dir=str(graph), device="cpu",
                options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **options}), threads=1,
            ),
            lambda phase: None,
        )  # fmt: skip
    finally:
        torch.set_num_threads(threads)


CACHE = {"features": {"cache_ratio": 0.3}}
CLUSTER = {"batching": "cluster", "partition": {"method": "random", "parts": 8, "per_batch": 2}}


def _sampler(**changed):
    real = neighbors.NeighborSampler

    class Broken(real):
        """Says what was asked for, and draws something else."""

        def __init__(self, indptr, indices, fanout, method, *rest, **named):
            super().__init__(
                indptr, indices, changed.get("fanout", fanout), changed.get("method", method), *rest, **named
            )
            self.fanout, drawn_with = fanout, self.method
            self.sample_method, self.method = drawn_with, method

        def sample(self, *arguments, **named):
            asked, self.method = self.method, self.sample_method
            try:
                return super().sample(*arguments, **named)
            finally:
                self.method = asked

    return Broken


@pytest.mark.parametrize(
    ("options", "changed", "named"),
    [
        ({}, {"fanout": (3, 3)}, "sampling.fanout is 4 in hop 1"),
        ({}, {"method": "fixed"}, "sampling.method is uniform"),
        ({"sampling": {"fanout": [4, 3], "method": "fixed"}}, {"method": "uniform"}, "sampling.method is fixed"),
    ],
)
def test_a_sampler_that_draws_something_else(graph, monkeypatch, options, changed, named):
    _run(graph, **options)
    monkeypatch.setattr(neighbors, "NeighborSampler", _sampler(**changed))
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, **options)


def test_a_cache_that_keeps_the_wrong_nodes(graph, monkeypatch):
    _run(graph, **CACHE)
    argsort = np.argsort
    monkeypatch.setattr(features.np, "argsort", lambda values, **named: argsort(values, **named)[::-1])
    with pytest.raises(ToggleNotProven, match=r"features\.cache_ratio"):
        _run(graph, **CACHE)


def test_a_disk_home_that_is_in_memory(graph, monkeypatch):
    _run(graph, features={"home": "disk"})
    store = features.FeatureStore
    monkeypatch.setattr("harness.runs.execute.FeatureStore", lambda x, **named: store(x, **named | {"home": "host"}))
    with pytest.raises(ToggleNotProven, match=r"features\.home is disk"):
        _run(graph, features={"home": "disk"})


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (lambda part: part // 2, "nodes lie in 4 parts"),
        (lambda part: np.where(np.arange(len(part)) < 10, 0, part), "deals evenly"),
    ],
)
def test_parts_other_than_asked(graph, monkeypatch, broken, named):
    _run(graph, **CLUSTER)
    cached = plans.cached_partition

    def other(*arguments):
        part, report = cached(*arguments)
        return broken(part), report

    monkeypatch.setattr(plans, "cached_partition", other)
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, **CLUSTER)


def test_batches_of_fewer_parts(graph, monkeypatch):
    batch = clusters.ClusterBatches.batch

    def fewer(self, epoch, index):
        made = batch(self, epoch, index)
        return replace(made, stats=made.stats | {"parts": 1})

    monkeypatch.setattr(clusters.ClusterBatches, "batch", fewer)
    with pytest.raises(ToggleNotProven, match="at most 1 parts were joined"):
        _run(graph, **CLUSTER)
