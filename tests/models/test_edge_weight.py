"""The sampler's edge weights reach every convolution and every aggregation, forward and backward."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
import torch

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation
from harness.models.block import to_torch
from harness.models.build import build_model
from harness.models.convolutions import convolution
from harness.models.errors import Unsupported
from harness.spec.options import Model, Options

CPU = torch.device("cpu")
AGGREGATIONS = ["scatter", "segment", "spmm"]
X = torch.tensor([[1.0], [10.0], [100.0]])


def weighted_block() -> Block:
    """Node 0 holds two of four edges, from 1 (weight 2) and 2 (weight 1/2); node 1 its only one, from 0 (weight 3)."""
    return Block(
        np.array([0, 2, 3]),
        np.array([1, 2, 0]),
        3,
        in_degree=np.array([4, 1]),
        src_degree=np.array([4, 1, 0]),
        edge_weight=np.array([2.0, 0.5, 3.0], dtype=np.float32),
    )


def with_weights(blocks: tuple[Block, ...], seed: int = 0) -> tuple[Block, ...]:
    """Hop-wise blocks whose edges have random weights, an edge the same one in each layer."""
    weight = np.random.default_rng(seed).uniform(0.2, 3.0, blocks[0].num_edges).astype(np.float32)
    return tuple(replace(block, edge_weight=weight[: block.num_edges]) for block in blocks)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_mean_by_hand(aggregation):
    """Weighted messages over the number of edges held, not over the sum of weights."""
    mean = Aggregation(aggregation).mean(X, to_torch(weighted_block(), CPU))
    assert mean.flatten().tolist() == pytest.approx([(2 * 10 + 0.5 * 100) / 2, 3.0])


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_gin_by_hand(aggregation):
    """Weighted messages times in-degree over edges held."""
    total = Aggregation(aggregation).scaled_sum(X, to_torch(weighted_block(), CPU))
    assert total.flatten().tolist() == pytest.approx([(2 * 10 + 0.5 * 100) * 4 / 2, 3.0])


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_gcn_by_hand(aggregation):
    """On top of gcn's own weights, 1 / sqrt(d_i d_j) with d = 5, 2, 1; the self-loops keep theirs."""
    total = Aggregation(aggregation).sum(X, to_torch(weighted_block(), CPU).normalised)
    first = 4 / 2 * (2 * 10 / sqrt(5 * 2) + 0.5 * 100 / sqrt(5 * 1)) + 1 / 5
    second = 3 * 1 / sqrt(2 * 5) + 10 / 2
    assert total.flatten().tolist() == pytest.approx([first, second])


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("form", ["mean", "scaled_sum"])
def test_gradient_by_hand(aggregation, form):
    x = X.clone().requires_grad_()
    getattr(Aggregation(aggregation), form)(x, to_torch(weighted_block(), CPU)).sum().backward()
    scale = {"mean": 1 / 2, "scaled_sum": 4 / 2}[form]
    assert x.grad.flatten().tolist() == pytest.approx([3.0, 2 * scale, 0.5 * scale])


@pytest.mark.parametrize("conv", ["sage", "gin", "gcn"])
@pytest.mark.parametrize("aggregation", ["segment", "spmm"])
@pytest.mark.parametrize("kind", ["cluster", "neighbor"])
def test_equals_scatter(graphs, batches, conv, aggregation, kind):
    """Logits and gradients, on a graph with self-loops and repeated edges, which gcn drops and keeps."""
    graph = graphs()
    nodes, blocks = batches(graph, kind, 2)
    found, expected, unweighted = (
        _logits_and_gradients(conv, how, torch.from_numpy(graph.x[nodes]).double(), given)
        for how, given in (
            (aggregation, with_weights(blocks)),
            ("scatter", with_weights(blocks)),
            (aggregation, blocks),
        )
    )
    for a, b, plain in zip(found, expected, unweighted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
        assert float((a - plain).abs().max()) > 1e-3


def _logits_and_gradients(conv, aggregation, x, blocks):
    torch.manual_seed(0)
    net = build_model(Model(conv=conv, layers=2, hidden=8, dropout=0.0), 12, 4, Options(aggregation=aggregation))
    net = net.double()
    x = x.clone().requires_grad_()
    logits = net(x, blocks)
    (logits * torch.arange(4.0)).sum().backward()
    return logits.detach(), x.grad, torch.cat([p.grad.flatten() for p in net.parameters()])


@pytest.mark.parametrize("conv", ["sage", "gin", "gcn"])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_weights_of_one_change_nothing(graphs, batches, conv, aggregation):
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 1)
    ones = tuple(replace(b, edge_weight=np.ones(b.num_edges, np.float32)) for b in blocks)
    torch.manual_seed(0)
    layer = convolution(conv, 12, 8, heads=1, dropout=0.0, norm="none", last=False)
    rows = layer.send(torch.from_numpy(graph.x[nodes]))
    found, expected = (
        layer.receive(rows, tuple(r[: b.num_dst] for r in rows), to_torch(b, CPU), Aggregation(aggregation))
        for (b,) in (ones, blocks)
    )
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(aggregation, dtype):
    mean = Aggregation(aggregation, dtype).mean(X, to_torch(weighted_block(), CPU))
    assert mean.dtype == dtype
    torch.testing.assert_close(mean.float().flatten(), torch.tensor([35.0, 3.0]), rtol=1e-2, atol=0)


def test_attention_refuses_them(graphs, batches):
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 2)
    net = build_model(Model(conv="gat", layers=2, hidden=8, heads=2), 12, 4, Options())
    with pytest.raises(Unsupported, match=r"attention is normalised.*sampling.reweight: false"):
        net(torch.from_numpy(graph.x[nodes]), with_weights(blocks))


def test_own_models_refuse_them(graphs, batches, tmp_path):
    (tmp_path / "weightless.py").write_text(
        "import torch\n"
        "class Mine(torch.nn.Linear):\n"
        "    def forward(self, x, edge_index):\n"
        "        return super().forward(x)\n"
    )
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 2)
    net = build_model(Model(class_path="weightless:Mine", layers=2), 12, 4, Options(), [tmp_path])
    assert net(torch.from_numpy(graph.x[nodes]), blocks).shape == (6, 4)
    with pytest.raises(Unsupported, match=r"weightless:Mine cannot take the weights.*sampling.reweight: false"):
        net(torch.from_numpy(graph.x[nodes]), with_weights(blocks))
