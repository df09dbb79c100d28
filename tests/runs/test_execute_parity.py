"""Parity: an exact variant passes, and whatever is not exact is told apart."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches.features.store import FeatureStore
from harness.batches.sampling.numba_sampler import NeighborSampler
from harness.graphs.prepare import prepare
from harness.records.results import Parity
from harness.runs.parity_check import run_parity
from harness.runs.request import RunRequest, Unsupported
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        yield prepare(Synthetic(source="synthetic", nodes=200, classes=3, features=8, split=split), "g", ".")


def _parity(graph: Path, reference=None, variant=None, conv="sage", hidden=(8, 8), lr=(0.01, 0.01)) -> Parity:
    threads = torch.get_num_threads()
    requests = [
        RunRequest(
            run_id="r", cell_id="c", purpose="quality", seed=1, graph_path=str(graph), spec_dir=str(graph),
            model=Model(conv=conv, hidden=width, norm="batch"), training=Training(batch_size=32, lr=rate), device="cpu",
            options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **(patch or {})}), threads=1,
        )
        for patch, width, rate in zip((reference, variant), hidden, lr, strict=True)
    ]  # fmt: skip
    try:
        return run_parity(*requests, lambda _: None)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(
    "patch",
    [
        {"aggregation": "spmm"},
        {"aggregation": "segment"},
        {"checkpointing": True},
        {"features": {"cache_ratio": 0.3}},
        {"features": {"home": "disk"}},
        {"loader": {"threads": 1}},
        {"loader": {"threads": 2, "depth": 3}, "features": {"cache_ratio": 0.3}},
    ],
    ids=str,
)
@pytest.mark.parametrize("conv", ["gcn", "sage", "gin"])
def test_exact_variants_pass(graph, conv, patch):
    found = _parity(graph, variant=patch, conv=conv)
    assert found.ok
    assert found.max_abs_difference <= 1e-4 * found.max_abs_logit
    assert found.gradient_cosine > 0.9999


def test_a_store_that_returns_other_rows_fails(graph, monkeypatch):
    """As a cache that mixes up its slots would."""
    fetch = FeatureStore.fetch

    def mixed_up(store: FeatureStore, nodes):
        rows = fetch(store, nodes)
        return rows.flip(0) if store.counters()["cache_nodes"] else rows

    monkeypatch.setattr(FeatureStore, "fetch", mixed_up)
    found = _parity(graph, variant={"features": {"cache_ratio": 0.5}})
    assert not found.ok
    assert found.max_abs_difference > 1e-3


def test_a_loader_whose_threads_return_other_rows_fails(graph, monkeypatch):
    """What is compared came through the loader, as the training's batches do."""
    fetch = FeatureStore.fetch

    def mixed_up(store: FeatureStore, nodes):
        rows = fetch(store, nodes)
        return rows if threading.current_thread() is threading.main_thread() else rows.flip(0)

    monkeypatch.setattr(FeatureStore, "fetch", mixed_up)
    assert _parity(graph, variant={"features": {"home": "disk"}}).ok
    before = threading.active_count()
    found = _parity(graph, variant={"loader": {"threads": 2}})
    assert not found.ok
    assert found.max_abs_difference > 1e-3
    assert threading.active_count() == before


@pytest.mark.parametrize(("by", "same"), [(1.0, True), (1.0 + 1e-7, True), (1.01, False), (None, False)])
def test_edges_that_weigh_something_else_differ(graph, monkeypatch, by, same):
    """As a backend would that weighs its sample otherwise, or not at all."""
    sample, weighted = NeighborSampler.sample, {"method": "importance", "fanout": [4, 3], "reweight": True}
    made = 0

    def other(self, *arguments, **named):
        nonlocal made
        made += 1
        found = sample(self, *arguments, **named)
        if made == 1:  # the reference's
            return found
        blocks = [replace(b, edge_weight=None if by is None else b.edge_weight * np.float32(by)) for b in found.blocks]
        return replace(found, blocks=tuple(blocks))

    monkeypatch.setattr(NeighborSampler, "sample", other)
    found = _parity(graph, {"sampling": weighted}, {"sampling": weighted})
    assert made == 2
    assert found.ok == same
    assert ("first training batches differ" in found.note) == (not same)


@pytest.mark.parametrize(
    ("patch", "note"),
    [
        ({"sampling": {"fanout": [2, 2]}}, "first training batches differ"),
        ({"batching": "full"}, "first training batches differ"),
        ({"precision": "fp16"}, "precision differs"),
    ],
)
def test_a_variant_that_is_not_exact_is_told_so(graph, patch, note):
    found = _parity(graph, variant=patch)
    assert found.state == "differs"
    assert note in found.note


def test_another_model_is_not_exact(graph):
    found = _parity(graph, hidden=(8, 16))
    assert found.state == "differs"
    assert "models differ" in found.note


def test_another_training_is_not_exact_although_one_batch_is_equal(graph):
    found = _parity(graph, lr=(0.01, 0.02))
    assert (found.state, found.note) == ("differs", "training differs (lr), so the variant is not exact")


def test_both_in_half_precision_are_compared_in_float32(graph):
    found = _parity(graph, {"precision": "fp16"}, {"precision": "fp16", "aggregation": "spmm"})
    assert found.ok


def test_an_aggregation_that_the_model_cannot_have(graph):
    with pytest.raises(Unsupported, match="gat"):
        _parity(graph, variant={"aggregation": "spmm"}, conv="gat")
