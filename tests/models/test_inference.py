"""Inference is exact, in float32, and leaves no trace."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.models import inference
from harness.models.build import build_model
from harness.models.inference import Inference
from harness.spec.options import Model, Options

CONVS = ["gcn", "sage", "gat", "gin", "mpnn"]


def trained(conv, graph, blocks, **options):
    torch.manual_seed(0)
    model = Model(conv=conv, layers=3, hidden=8, heads=2, norm="batch")
    net = build_model(model, 12, 4, Options(**options), edge_features=3)
    net(torch.from_numpy(graph.x), blocks)  # batch norm has statistics now
    return net


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("conv", CONVS)
def test_equals_the_model_on_the_full_graph(graphs, whole, tmp_path, monkeypatch, conv, rows):
    """However few destinations, or edges with a message of their own, a chunk has."""
    monkeypatch.setattr(inference, "ROWS_BYTES", 4 * 512 * rows)
    monkeypatch.setattr(inference, "MESSAGES_BYTES", 4 * 8 * rows)
    graph = graphs()
    blocks = whole(graph, 3)
    net = trained(conv, graph, blocks)
    found = Inference(graph.on_disk(tmp_path), "cpu").logits(net)
    expected = net.eval()(torch.from_numpy(graph.x), blocks).detach()
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("conv", CONVS)
def test_is_float32_whatever_the_precision(graphs, whole, tmp_path, conv):
    graph = graphs()
    blocks = whole(graph, 3)
    half = trained(conv, graph, blocks, precision="bf16")
    exact = build_model(half.model, 12, 4, Options(), edge_features=3)
    exact.load_state_dict(half.state_dict())
    engine = Inference(graph.on_disk(tmp_path), "cpu")
    assert torch.equal(engine.logits(half), engine.logits(exact))


@pytest.mark.parametrize("checkpointing", [False, True])
def test_leaves_no_trace(graphs, whole, tmp_path, checkpointing):
    graph = graphs()
    net = trained("gat", graph, whole(graph, 3), checkpointing=checkpointing).train()
    counters, state = net.counters(), {k: v.clone() for k, v in net.state_dict().items()}
    random = torch.get_rng_state()
    engine = Inference(graph.on_disk(tmp_path), "cpu")
    first = engine.logits(net)
    assert torch.equal(first, engine.logits(net))
    assert not first.requires_grad
    assert net.training
    assert net.counters() == counters
    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(v, state[k]) for k, v in net.state_dict().items())


def test_features_can_be_given(graphs, whole, tmp_path):
    graph = graphs()
    net = trained("sage", graph, whole(graph, 3))
    engine = Inference(graph.on_disk(tmp_path), "cpu")
    given = engine.logits(net, torch.from_numpy(graph.x) + 1)
    assert not torch.equal(given, engine.logits(net))
    assert torch.equal(engine.logits(net, torch.from_numpy(graph.x)), engine.logits(net))


@pytest.mark.parametrize("conv", ["sage", "gat", "mpnn"])
def test_memory_does_not_grow_with_the_edges(build_graph, tmp_path, monkeypatch, conv):
    """No tensor has a row of features for each edge: the largest allocation stays below that of such a tensor."""
    rng = np.random.default_rng(0)
    edges, nodes, width = 200_000, 2_000, 64
    graph = build_graph(rng.integers(0, nodes, edges), rng.integers(0, nodes, edges), nodes, features=width)
    net = build_model(Model(conv=conv, layers=2, hidden=width, heads=2), width, 4, Options(), edge_features=3)
    monkeypatch.setattr(inference, "EDGES", 20_000)
    monkeypatch.setattr(inference, "MESSAGES_BYTES", 20_000 * width * 4)
    engine = Inference(graph.on_disk(tmp_path), "cpu")
    engine.logits(net)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        engine.logits(net)
    largest = max(event.cpu_memory_usage for event in profile.events())
    assert largest < edges * width * 4 / 4
