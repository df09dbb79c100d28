"""Checkpointing changes memory, and nothing else."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from harness.models.build import build_model
from harness.models.checkpointing import checkpointed
from harness.models.normalisation import BatchNorm
from harness.spec.options import Model, Options

CONVS = ["gcn", "sage", "gat", "gin", "mpnn"]


def pair(conv, norm="batch", layers=3, precision="fp32", dropout=0.5):
    torch.manual_seed(0)
    model = Model(conv=conv, layers=layers, hidden=8, heads=2, dropout=dropout, norm=norm)
    plain = build_model(model, 12, 4, Options(precision=precision), edge_features=3)
    recomputing = build_model(model, 12, 4, Options(precision=precision, checkpointing=True), edge_features=3)
    recomputing.load_state_dict(copy.deepcopy(plain.state_dict()))
    return plain, recomputing


def train_step(net, x, blocks, y):
    torch.manual_seed(1)
    loss = F.cross_entropy(net(x, blocks), y)
    loss.backward()
    return loss.detach(), torch.cat([p.grad.flatten() for p in net.parameters()]), torch.rand(1)


@pytest.mark.parametrize("kind", ["full", "neighbor"])
@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("conv", CONVS)
def test_gradients_statistics_and_random_state_are_equal(graphs, batches, conv, norm, kind):
    graph = graphs()
    nodes, blocks = batches(graph, kind, 3)
    x = torch.from_numpy(graph.x[nodes])
    y = torch.from_numpy(graph.y[nodes[: blocks[-1].num_dst]])
    plain, recomputing = pair(conv, norm)
    loss, gradient, after = train_step(plain, x, blocks, y)
    other_loss, other_gradient, other_after = train_step(recomputing, x, blocks, y)
    assert torch.equal(loss, other_loss)
    torch.testing.assert_close(gradient, other_gradient, rtol=1e-6, atol=1e-6)
    assert torch.equal(after, other_after)
    for (name, buffer), other in zip(plain.named_buffers(), recomputing.buffers(), strict=True):
        assert torch.equal(buffer, other), name
    assert recomputing.counters()["checkpoint_recomputations"] == 2  # the last layer is not dropped
    assert plain.counters()["checkpoint_recomputations"] == 0


@pytest.mark.parametrize("precision", ["fp16", "bf16", "bf16-linear"])
def test_in_half_precision_the_same_half_is_computed_again(graphs, batches, precision):
    graph = graphs()
    nodes, blocks = batches(graph, "full", 3)
    x, y = torch.from_numpy(graph.x[nodes]), torch.from_numpy(graph.y[nodes])
    plain, recomputing = pair("sage", precision=precision)
    _, gradient, _ = train_step(plain, x, blocks, y)
    _, other_gradient, _ = train_step(recomputing, x, blocks, y)
    torch.testing.assert_close(gradient, other_gradient, rtol=1e-6, atol=1e-6)


def test_a_single_layer_is_recomputed(graphs, batches):
    graph = graphs()
    nodes, blocks = batches(graph, "full", 1)
    _, recomputing = pair("gcn", layers=1)
    train_step(recomputing, torch.from_numpy(graph.x[nodes]), blocks, torch.from_numpy(graph.y[nodes]))
    assert recomputing.counters()["checkpoint_recomputations"] == 1


def test_nothing_is_recomputed_without_gradients(graphs, batches):
    graph = graphs()
    nodes, blocks = batches(graph, "full", 3)
    _, recomputing = pair("gcn")
    with torch.no_grad():
        recomputing(torch.from_numpy(graph.x[nodes]), blocks)
    assert recomputing.counters()["checkpoint_recomputations"] == 0


@pytest.mark.parametrize("conv", CONVS)
def test_fewer_activations_are_kept(build_graph, whole, conv):
    """Bytes kept for the backward pass, the layers' inputs included, fall by more than half."""
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(0, 300, (2, 3000), generator=generator).numpy()
    graph = build_graph(edges[0], edges[1], 300)
    blocks = whole(graph, 4)
    kept = [kept_bytes(net, torch.from_numpy(graph.x), blocks) for net in pair(conv, layers=4)]
    assert kept[1] < 0.5 * kept[0]


def kept_bytes(net: nn.Module, x: torch.Tensor, blocks) -> int:
    """Distinct storage of activations that the graph of a forward pass holds on to, parameters left out."""
    parameters = {p.data_ptr() for p in net.parameters()} | {b.data_ptr() for b in net.buffers()}
    storages: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and tensor.data_ptr() not in parameters:
            storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    def keep_input(_: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        keep(inputs[0])

    hooks = [layer.register_forward_pre_hook(keep_input) for layer in net.layers]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        logits = net(x, blocks)
    for hook in hooks:
        hook.remove()
    assert logits.requires_grad
    return sum(storages.values())


def test_running_statistics_survive_an_infinite_activation():
    """Restoring them is not an update with momentum 0, which would make them NaN."""
    layer = nn.Sequential(nn.Linear(3, 3), BatchNorm(3))
    x = torch.randn(8, 3)
    seen = []
    out = checkpointed(layer, x, recomputed=lambda: seen.append(1))
    statistics = {k: v.clone() for k, v in layer[1].named_buffers()}
    identity = layer[1].running_mean
    layer[0].weight.data.fill_(float("inf"))
    out.sum().backward()
    assert seen == [1]
    assert layer[1].running_mean is identity
    for name, buffer in layer[1].named_buffers():
        assert torch.equal(buffer, statistics[name])


def test_batch_norm_takes_a_batch_of_one_node():
    norm = BatchNorm(3)
    assert torch.equal(norm(torch.ones(1, 3)), norm.eval()(torch.ones(1, 3)))
    assert norm.num_batches_tracked == 0
