"""Residual links, jumping knowledge, PairNorm and what is held: the formulas, in batches and in inference."""

from __future__ import annotations

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import DeepGCNLayer
from torch_geometric.nn import PairNorm as PygPairNorm

from harness.models import inference
from harness.models.build import build_model
from harness.models.inference import Inference
from harness.models.normalisation import PairNorm
from harness.spec.options import Model, Options

CONVS = ["gcn", "sage", "gat", "gin"]
PARTS = [
    {"residual": True},
    {"jumping": "cat"},
    {"jumping": "max"},
    {"norm": "pair"},
    {"residual": True, "jumping": "max", "norm": "pair"},
]


def build(conv: str, layers: int = 3, options: Options | None = None, **parts):
    torch.manual_seed(0)
    model = Model.model_validate({"conv": conv, "layers": layers, "hidden": 8, "heads": 2, **parts})
    return build_model(model, 12, 4, options or Options())


def test_pair_norm_is_pygs():
    x = torch.randn(50, 7) + 3
    torch.testing.assert_close(PairNorm()(x), PygPairNorm()(x), rtol=1e-5, atol=1e-6)


def test_pair_norm_keeps_the_mean_distance_of_pairs():
    distances = torch.cdist(*[PairNorm()(torch.randn(300, 7, dtype=torch.float64) * 5 + 2)] * 2).square()
    assert float(distances.mean()) == pytest.approx(2.0, rel=1e-5)


@pytest.mark.parametrize("rows", [1, 2])
def test_pair_norm_of_few_or_equal_rows_is_finite(rows):
    x = torch.ones(rows, 5, requires_grad=True)
    out = PairNorm()(x)
    out.sum().backward()
    assert torch.equal(out, torch.zeros(rows, 5))
    assert torch.isfinite(x.grad).all()


def test_pair_norm_in_half_precision_counts_in_float32():
    """The squares of rows of 300 are beyond float16."""
    x = 300 * torch.randn(40, 9).half()
    found = PairNorm()(x)
    assert found.dtype == torch.float16
    torch.testing.assert_close(found.float(), PygPairNorm()(x.float()), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("sizes", [[50], [1] * 50, [7, 43]])
def test_pair_norm_by_pieces(sizes):
    x = torch.randn(50, 7) + 10
    pieces = x.clone().split(sizes)
    PairNorm().over_pieces(pieces)
    torch.testing.assert_close(torch.cat(pieces), PairNorm()(x), rtol=1e-5, atol=1e-6)


def test_a_residual_layer_is_the_res_block_of_deep_gcns(graphs, whole):
    graph = graphs()
    net = build("sage", residual=True, norm="layer", dropout=0.0)
    layer = net.layers[1]
    reference = DeepGCNLayer(layer.conv, layer.norm, nn.ReLU(), block="res", dropout=0.0)
    x, (block, *_) = torch.randn(graph.num_nodes, 8), net.prepare(whole(graph, 3), torch.device("cpu"))
    torch.testing.assert_close(layer(x, block), reference(x, graph.edge_index), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["full", "neighbor"])
def test_the_input_is_added_projected_where_widths_differ(graphs, batches, kind):
    graph = graphs()
    nodes, blocks = batches(graph, kind, 3)
    net = build("gcn", residual=True).eval()
    plain = build("gcn").eval()
    assert sum(p.numel() for p in net.parameters()) == sum(p.numel() for p in plain.parameters()) + 12 * 8
    plain.load_state_dict({k: v for k, v in net.state_dict().items() if "shortcut" not in k})
    x = torch.from_numpy(graph.x[nodes])
    first, second, third = net.prepare(blocks, x.device)
    one = plain.layers[0](x, first) + x[: first.num_dst] @ net.layers[0].shortcut.weight.t()
    two = plain.layers[1](one, second) + one[: second.num_dst]
    torch.testing.assert_close(net(x, blocks), plain.layers[2](two, third), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["full", "neighbor"])
@pytest.mark.parametrize("mode", ["cat", "max"])
def test_jumping_reads_every_layer_at_the_last_destinations(graphs, batches, mode, kind):
    graph = graphs()
    nodes, blocks = batches(graph, kind, 3)
    net = build("gin", jumping=mode).eval()
    x = h = torch.from_numpy(graph.x[nodes])
    outputs = []
    for layer, block in zip(net.layers, net.prepare(blocks, x.device), strict=True):
        h = layer(h, block)
        assert h.shape[1] == 8
        outputs.append(h[: blocks[-1].num_dst])
    joined = torch.cat(outputs, dim=1) if mode == "cat" else torch.stack(outputs).amax(dim=0)
    expected = F.linear(joined, net.jumping.read.weight, net.jumping.read.bias)
    torch.testing.assert_close(net(x, blocks), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("conv", CONVS)
def test_inference_equals_the_model_on_the_full_graph(graphs, whole, tmp_path, monkeypatch, conv, parts, rows):
    monkeypatch.setattr(inference, "ROWS_BYTES", 4 * 512 * rows)
    graph = graphs()
    blocks = whole(graph, 3)
    net = build(conv, **parts)
    found = Inference(graph.on_disk(tmp_path), "cpu").logits(net)
    expected = net.eval()(torch.from_numpy(graph.x), blocks).detach()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("jumping", ["none", "cat", "max"])
def test_inference_shows_every_layer(graphs, whole, tmp_path, jumping):
    graph = graphs()
    net = build("gcn", jumping=jumping, norm="pair").eval()
    x, block = torch.from_numpy(graph.x), net.prepare(whole(graph, 1), torch.device("cpu"))[0]
    expected = list(itertools.accumulate(net.layers, lambda h, layer: layer(h, block), initial=x))
    seen: list[torch.Tensor] = []
    logits = Inference(graph.on_disk(tmp_path), "cpu").logits(net, watch=lambda h: seen.append(h.clone()))
    if jumping != "none":
        expected.append(logits)
    assert torch.equal(seen[-1], logits)
    for found, wanted in zip(seen, expected, strict=True):
        torch.testing.assert_close(found, wanted.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["full", "neighbor"])
@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("conv", CONVS)
def test_checkpointing_changes_no_gradient(graphs, batches, conv, parts, kind):
    graph = graphs()
    nodes, blocks = batches(graph, kind, 3)
    y = torch.from_numpy(graph.y[nodes[: blocks[-1].num_dst]])
    found = []
    for checkpointing in (False, True):
        net = build(conv, options=Options(checkpointing=checkpointing), **parts)
        torch.manual_seed(1)
        F.cross_entropy(net(torch.from_numpy(graph.x[nodes]), blocks), y).backward()
        found.append([p.grad for p in net.parameters()])
        assert net.counters()["checkpoint_recomputations"] == 2 * checkpointing
    for plain, recomputed in zip(*found, strict=True):
        torch.testing.assert_close(recomputed, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("precision", ["bf16", "fp16-linear"])
@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("conv", CONVS)
def test_half_precision(graphs, batches, conv, parts, precision):
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 3)
    net = build(conv, options=Options(precision=precision), **parts)
    logits = net(torch.from_numpy(graph.x[nodes]), blocks)
    logits.sum().backward()
    assert logits.dtype == torch.float32
    assert all(torch.isfinite(p.grad).all() for p in net.parameters() if p.grad is not None)


def test_the_parts_are_counted_in_training_alone(graphs, whole):
    graph = graphs()
    x, blocks = torch.from_numpy(graph.x), whole(graph, 3)
    net = build("gcn", residual=True, norm="pair").eval()
    net(x, blocks)
    assert net.counters()["norm"] == ["none"] * 3
    net.train()(x, blocks)
    counters = net.counters()
    assert counters["norm"] == ["pair", "pair", "none"]
    assert counters["residual"] == ["projected", "input", "none"]
    assert counters["jumping"] == {"mode": "none", "layers": 0}


def test_the_norm_of_gins_inner_layer_is_no_pair_norm():
    net = build("gin", norm="pair")
    assert [type(layer.norm) for layer in net.layers] == [PairNorm, PairNorm, type(None)]
    assert not any(isinstance(m, PairNorm) for layer in net.layers for m in layer.conv.modules())


def test_outputs_are_held_until_they_are_released(graphs, whole):
    graph = graphs()
    x, blocks, rows = torch.from_numpy(graph.x), whole(graph, 3), graph.num_nodes
    net, plain = build("gcn", options=Options(retain="layer")), build("gcn")
    assert torch.equal(net.eval()(x, blocks), plain.eval()(x, blocks))
    assert net.counters()["retained_bytes"] == 0  # in training only
    net.train()(x, blocks).sum().backward()
    held = 4 * rows * (8 + 8 + 4)
    assert net.counters()["retained_bytes"] == held
    net(x, blocks)
    assert net.counters()["retained_bytes"] == 2 * held
    net.release()
    assert copy.deepcopy(net)._retained._outputs == net._retained._outputs == []
    assert plain.train()(x, blocks).requires_grad
    assert plain.counters()["retained_bytes"] == 0


def test_input_dropout_is_of_the_features_in_training_alone(graphs, whole):
    graph = graphs()
    x, blocks = torch.from_numpy(graph.x), whole(graph, 3)
    net, plain = build("gcn", input_dropout=0.4, dropout=0.0), build("gcn", dropout=0.0)
    torch.testing.assert_close(net.eval()(x, blocks), plain(x, blocks))
    torch.manual_seed(1)
    found = net.train()(x, blocks)
    torch.manual_seed(1)
    torch.testing.assert_close(found, plain(F.dropout(x, 0.4), blocks))
    counted = net.counters()["input_dropout"]
    assert counted["values"] == x.numel()
    assert counted["dropped"] == pytest.approx(0.4 * x.numel(), rel=0.2)


def test_input_dropout_looks_until_there_is_a_feature_to_drop(graphs, whole):
    graph = graphs()
    x, blocks = torch.from_numpy(graph.x), whole(graph, 3)
    net = build("gcn", input_dropout=0.4).train()
    for features in (torch.zeros_like(x), x, x):
        net(features, blocks)
    assert net.counters()["input_dropout"]["batches"] == 2
    assert net.counters()["input_dropout"]["values"] == x.numel()
