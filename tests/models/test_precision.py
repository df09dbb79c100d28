"""What is half in each precision, and the order of a step with a scaled loss."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from harness.models.build import build_model
from harness.models.precision import Precision, update
from harness.spec.options import Model, Options

EXPECTED = {
    "fp32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp16-linear": "float32",
    "bf16-linear": "float32",
}


def network(conv, precision, aggregation="scatter", norm="batch"):
    torch.manual_seed(0)
    model = Model(conv=conv, layers=2, hidden=8, heads=2, norm=norm)
    return build_model(model, 12, 4, Options(precision=precision, aggregation=aggregation), edge_features=3)


@pytest.mark.parametrize("precision", EXPECTED)
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin", "mpnn"])
def test_every_layer_aggregates_in_the_dtype_of_the_option(graphs, batches, conv, precision):
    """Under autocast alone gcn and gat would aggregate in float32 in each layer, sage and gin in the first."""
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 2)
    linear_outputs = set()
    net = network(conv, precision)
    for module in net.modules():
        if "Linear" in type(module).__name__:
            module.register_forward_hook(lambda _, __, out: linear_outputs.add(out.dtype))
    logits = net(torch.from_numpy(graph.x[nodes]), blocks)
    counters = net.counters()
    assert counters["aggregation_dtype"] == [EXPECTED[precision]] * 2
    assert logits.dtype == torch.float32
    assert linear_outputs == {Precision(precision, "cpu").half or torch.float32}


@pytest.mark.parametrize("precision", ["bf16", "fp16", "fp16-linear", "bf16-linear"])
def test_half_is_close_to_float32(graphs, batches, precision):
    graph = graphs()
    nodes, blocks = batches(graph, "full", 2)
    x = torch.from_numpy(graph.x[nodes])
    exact, half = (network("gcn", p, norm="none").eval()(x, blocks).detach() for p in ("fp32", precision))
    difference = float((exact - half).abs().max() / exact.abs().max())
    assert 0 < difference < (0.03 if "bf16" in precision else 0.005)


def test_float32_linear_is_finite_where_float16_overflows(build_graph, whole):
    """A hub with 4,000 neighbours whose features are 100: the sum is beyond 65,504."""
    sources = torch.arange(4000).numpy()
    graph = build_graph(sources, sources * 0, 4000)
    x = torch.full((4000, 12), 100.0)
    for precision, finite in (("fp16", False), ("fp16-linear", True)):
        net = network("sage", precision, norm="none")
        assert bool(torch.isfinite(net(x, whole(graph, 2))).all()) == finite
        assert (net.counters()["nonfinite_aggregations"] > 0) == (not finite)


@pytest.mark.parametrize("precision", ["fp16", "fp16-linear"])
def test_training_with_a_scaler_lowers_the_loss(graphs, batches, precision):
    graph = graphs()
    nodes, blocks = batches(graph, "full", 2)
    x, y = torch.from_numpy(graph.x[nodes]), torch.from_numpy(graph.y[nodes])
    net = network("sage", precision)
    scaler, optimizer = Precision(precision, "cpu").scaler(), torch.optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(net(x, blocks), y)
        scaler.scale(loss).backward()
        update(net, optimizer, scaler, clip=1.0)
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.8 * losses[0]


def test_gradients_are_clipped_after_unscaling():
    """Clipped before, a scaled gradient would end as clip / scale."""
    layer = torch.nn.Linear(2, 1, bias=False)
    before = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(layer(torch.tensor([[3.0, 4.0]])).sum()).backward()
    assert float(update(layer, optimizer, scaler, clip=1.0)) == pytest.approx(5.0)
    torch.testing.assert_close(before - layer.weight, torch.tensor([[0.6, 0.8]]))


@pytest.mark.parametrize("clip", [None, 1.0])
def test_a_step_with_infinite_gradients_is_not_made(clip):
    layer = torch.nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    made: list[object] = []
    optimizer.register_step_post_hook(lambda *_: made.append(1))
    scaler.scale(layer(torch.tensor([[3e38, 3e38]])).sum() * 3e38).backward()
    update(layer, optimizer, scaler, clip)
    assert not made
    assert torch.equal(layer.weight, before)
    assert scaler.get_scale() == 1.0


@pytest.mark.parametrize(("precision", "scales"), [("fp32", False), ("bf16", False), ("bf16-linear", False)])
def test_only_float16_scales_its_loss(precision, scales):
    assert Precision(precision, "cpu").scaler().is_enabled() == scales
    assert Precision("fp16-linear", "cpu").scaler().is_enabled()
