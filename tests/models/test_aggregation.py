"""The four aggregations are one function, and PyG's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_geometric.utils import scatter

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation, padding_share
from harness.models.block import BlockTensors, to_torch
from harness.models.build import build_model
from harness.models.convolutions import convolution
from harness.models.errors import Unsupported
from harness.spec.options import Model, Options

CPU = torch.device("cpu")
CONVS = ["gcn", "sage", "gat", "gin"]


def logits_and_gradients(aggregation, conv, x, y, blocks, dtype):
    torch.manual_seed(0)
    model = Model(conv=conv, layers=2, hidden=8, heads=2, dropout=0.0)
    net = build_model(model, x.shape[1], 4, Options(aggregation=aggregation)).to(dtype)
    logits = net(x.to(dtype), blocks)
    F.cross_entropy(logits, y[: len(logits)]).backward()
    return logits.detach(), torch.cat([p.grad.flatten() for p in net.parameters()])


@pytest.mark.parametrize("kind", ["full", "cluster", "neighbor"])
@pytest.mark.parametrize("conv", CONVS)
@pytest.mark.parametrize("aggregation", ["spmm", "segment", "dense"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-9)])
def test_equals_scatter(graphs, batches, kind, conv, aggregation, dtype, tolerance):
    if (conv, aggregation) == ("gat", "spmm"):
        with pytest.raises(Unsupported, match="attention"):
            build_model(Model(conv="gat"), 3, 2, Options(aggregation="spmm"))
        return
    graph = graphs()
    nodes, blocks = batches(graph, kind, 2)
    x, y = torch.from_numpy(graph.x[nodes]), torch.from_numpy(graph.y[nodes])
    expected = logits_and_gradients("scatter", conv, x, y, blocks, dtype)
    for found, wanted in zip(logits_and_gradients(aggregation, conv, x, y, blocks, dtype), expected, strict=True):
        assert float((found - wanted).abs().max() / wanted.abs().max()) < tolerance


@pytest.mark.parametrize("kind", ["full", "cluster", "neighbor"])
@pytest.mark.parametrize("aggregation", ["scatter", "segment", "dense"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_mean_of_messages_made_edge_by_edge(graphs, batches, kind, aggregation, dtype):
    nodes, blocks = batches(graphs(), kind, 1)
    block = to_torch(blocks[0], CPU)
    x = torch.randn(len(nodes), 5, dtype=torch.float64, requires_grad=True)
    messages = x[block.plain.indices]
    found = Aggregation(aggregation, dtype).reduce_mean(messages, block)
    expected = scatter(messages, block.plain.dst, dim=0, dim_size=block.num_dst, reduce="mean")
    assert found.dtype == dtype
    tolerance = {torch.float16: 2e-3, torch.float32: 1e-6, torch.float64: 1e-12}[dtype]
    torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=tolerance)
    wanted = torch.randn_like(expected)
    gradients = [torch.autograd.grad(out, x, wanted.to(out.dtype), retain_graph=True)[0] for out in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", ["full", "cluster", "neighbor"])
@pytest.mark.parametrize("width", [1, 7, 64])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("aggregation", ["spmm", "segment"])
def test_means_have_the_bits_of_scatter(graphs, batches, kind, width, dtype, aggregation):
    """Without weights all add up in the order of the edges, so that training is the same to the last bit."""
    nodes, blocks = batches(graphs(), kind, 1)
    torch.manual_seed(0)
    x, gradient = torch.randn(len(nodes), width), torch.randn(blocks[0].num_dst, width).to(dtype)
    found = []
    for name in ("scatter", aggregation):
        leaf = x.to(dtype).requires_grad_()
        out = Aggregation(name, dtype).mean(leaf, to_torch(blocks[0], CPU))
        out.backward(gradient)
        found.append((out.detach(), leaf.grad))
    assert torch.equal(found[0][0], found[1][0])
    if dtype == torch.float32:  # in half, scatter's gradients are added up in half
        assert torch.equal(found[0][1], found[1][1])


def test_nothing_is_transposed_for_features_without_a_gradient(graphs, whole):
    block = to_torch(whole(graphs(), 1)[0], CPU)
    weight = torch.ones(3, requires_grad=True)
    for aggregation in ("spmm", "segment"):
        (Aggregation(aggregation).mean(torch.ones(80, 3), block) * weight).sum().backward()
    assert "_transposed" not in block.plain.__dict__


def test_padded_rows_waste_what_the_hub_asks_for(graphs, whole):
    how, block = Aggregation("dense"), to_torch(whole(graphs(), 1)[0], CPU)
    assert padding_share([how, Aggregation("scatter")]) is None
    how.mean(torch.ones(80, 3), block)
    assert padding_share([how]) == pytest.approx(1 - block.num_edges / (80 * block.plain.max_degree))


def test_no_mean_of_messages_in_a_sparse_product(graphs, whole):
    block = to_torch(whole(graphs(), 1)[0], CPU)
    with pytest.raises(Unsupported, match="makes no messages"):
        Aggregation("spmm").reduce_mean(torch.ones(block.num_edges, 3), block)


@pytest.mark.parametrize("undirected", [False, True])
@pytest.mark.parametrize("aggregation", ["scatter", "segment", "spmm", "dense"])
@pytest.mark.parametrize("conv", CONVS)
def test_full_graph_equals_pyg(graphs, whole, conv, aggregation, undirected):
    """Hubs, isolated nodes, repeated edges and self-loops, of which one node has three, are what PyG makes of them."""
    if (conv, aggregation) == ("gat", "spmm"):
        pytest.skip("no gradient")
    graph = graphs(undirected)
    torch.manual_seed(0)
    layer = convolution(conv, 12, 8, heads=2, dropout=0.0, norm="none", last=False).eval()
    x = torch.from_numpy(graph.x)
    rows = layer.send(x)
    found = layer.receive(rows, rows, to_torch(whole(graph, 1)[0], CPU), Aggregation(aggregation))
    expected = layer(x, graph.edge_index)  # PyG's own forward pass, on the same weights
    difference = float((found - expected).detach().abs().max())
    assert difference < 2e-6 * max(1.0, float(expected.detach().abs().max()))


@pytest.mark.parametrize("conv", CONVS)
def test_taking_all_neighbours_equals_the_full_graph(graphs, sampled, whole, conv):
    graph = graphs()
    torch.manual_seed(0)
    net = build_model(Model(conv=conv, layers=2, hidden=8, heads=2), 12, 4, Options()).eval()
    seeds = np.array([7, 70, 3, 4, 55, 11])
    nodes, blocks = sampled(graph, seeds, [-1, -1])
    found = net(torch.from_numpy(graph.x[nodes]), blocks)
    expected = net(torch.from_numpy(graph.x), whole(graph, 2))[seeds]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("conv", ["gcn", "gin"])
def test_sampled_sums_are_unbiased(graphs, sampled, whole, conv):
    """The mean over many samples of a linear layer's output is the output over all neighbours."""
    graph = graphs()
    torch.manual_seed(0)
    net = build_model(Model(conv=conv, layers=1, hidden=8), 12, 4, Options()).double()
    if conv == "gin":
        net.layers[0].conv.nn = torch.nn.Identity()  # the sum itself
    x = torch.from_numpy(graph.x).double()
    seeds = np.array([7, 3, 4, 11, 12])
    draws = []
    for seed in range(400):
        nodes, blocks = sampled(graph, seeds, [4], seed)
        draws.append(net(x[nodes], blocks).detach())
    draws = torch.stack(draws)
    expected = net(x, whole(graph, 1))[seeds]
    standard_error = draws.std(0) / len(draws) ** 0.5
    assert bool(((draws.mean(0) - expected).abs() <= 4.5 * standard_error + 1e-9).all())
    assert float(draws.std(0).max()) > 0.01  # the samples do differ


def test_self_loops_of_sources_count_in_a_sample(graphs, sampled, whole):
    """A source outside of the destinations has its self-loops taken out of its degree, as on the full graph."""
    graph = graphs()
    receives_from_4 = next(v for v in range(50) if v != 4 and 4 in graph.indices[graph.indptr[v] : graph.indptr[v + 1]])
    nodes, blocks = sampled(graph, np.array([receives_from_4]), [-1])
    place = nodes.tolist().index(4)
    sampled_edges = to_torch(blocks[0], CPU).normalised
    full_edges = to_torch(whole(graph, 1)[0], CPU).normalised
    weight = sampled_edges.weight(torch.float64)[sampled_edges.indices == place]
    there = (full_edges.indices == 4) & (full_edges.dst == receives_from_4)
    assert weight.tolist() == pytest.approx(full_edges.weight(torch.float64)[there].tolist())


@pytest.mark.parametrize("aggregation", ["scatter", "segment", "spmm", "dense"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_counts_neighbours_exactly(aggregation, dtype):
    """Neighbours are counted in float32: float16 counts to 2,048 and bfloat16 to 256."""
    block = Block(np.array([0, 5000]), np.arange(5000), 5000, np.array([5000]), np.zeros(5000, dtype=np.int64))
    x = torch.zeros(5000, 8)
    x[17] = 5000 * 1.5
    mean = Aggregation(aggregation, dtype).mean(x, to_torch(block, CPU))
    assert mean.dtype == dtype
    torch.testing.assert_close(mean.float(), torch.full((1, 8), 1.5), rtol=1e-2, atol=0)


@pytest.mark.parametrize("aggregation", ["scatter", "segment", "spmm", "dense"])
@pytest.mark.parametrize("conv", CONVS)
def test_no_edges_and_no_destinations(conv, aggregation):
    if (conv, aggregation) == ("gat", "spmm"):
        pytest.skip("no gradient")
    net = build_model(Model(conv=conv, layers=1), 5, 3, Options(aggregation=aggregation))
    none = np.empty(0, dtype=np.int64)
    zeros = np.zeros(4, dtype=np.int64)
    lonely = Block(np.zeros(5, dtype=np.int64), none, 4, zeros, zeros)
    logits = net(torch.randn(4, 5), (lonely,))
    logits.sum().backward()
    assert logits.shape == (4, 3)
    assert bool(torch.isfinite(logits).all())
    empty = Block(np.zeros(1, dtype=np.int64), none, 0, none, none)
    assert net(torch.randn(0, 5), (empty,)).shape == (0, 3)


@pytest.mark.parametrize("aggregation", ["scatter", "segment", "dense"])
def test_without_an_edge_every_weight_has_a_gradient_of_zero(graphs, aggregation):
    """Adam moves and decays a weight whose gradient is zero, and leaves one alone that has none."""
    nodes = np.zeros(3, dtype=np.int64)
    block = Block(np.zeros(4, np.int64), nodes[:0], 3, nodes, nodes, edges=graphs().edges(nodes[:0]))
    net = build_model(Model(conv="mpnn", layers=1), 12, 4, Options(aggregation=aggregation), edge_features=3)
    net(torch.ones(3, 12), (block,)).sum().backward()
    grads = {name: parameter.grad for name, parameter in net.named_parameters()}
    assert all(grad is not None for grad in grads.values())
    assert not grads["layers.0.conv.lin_source.weight"].any()


@pytest.mark.parametrize("aggregation", ["segment", "spmm"])
def test_a_second_gradient_is_refused(graphs, whole, aggregation):
    """The products that the backward pass makes are not differentiated: a second gradient would lack them silently."""
    x = torch.ones(80, 3, requires_grad=True)
    out = Aggregation(aggregation).sum(x, to_torch(whole(graphs(), 1)[0], CPU).plain)
    (first,) = torch.autograd.grad(out.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_a_missing_kernel_is_a_reason_not_another_kernel(monkeypatch, graphs, whole):
    def lacking(*_):
        raise NotImplementedError("\"segment_reduce\" not implemented for 'Half'")

    monkeypatch.setattr("harness.models.aggregation._SUMS", {"segment": lacking})
    net = build_model(Model(conv="sage", layers=1), 12, 4, Options(aggregation="segment", precision="fp16"))
    graph = graphs()
    with pytest.raises(Unsupported, match=r"segment has no kernel for torch.float16 on cpu"):
        net(torch.from_numpy(graph.x), whole(graph, 1))


def test_a_block_is_converted_once_and_forgotten_with_its_batch(graphs, batches):
    graph = graphs()
    tensors = BlockTensors()
    _, blocks = batches(graph, "full", 3)
    first = tensors.of(blocks, CPU)
    assert first[0] is first[1] is first[2]
    assert tensors.of(blocks, CPU)[0] is first[0]
    _, again = batches(graph, "full", 3)
    assert tensors.of(again, CPU)[0] is not first[0]  # equal content is not the same block
    del blocks, again
    assert not tensors._known


def test_batches_do_not_influence_each_other(graphs, batches):
    """Logits of a batch are the same whether or not another one came before."""
    graph = graphs()
    torch.manual_seed(0)
    net = build_model(Model(conv="gcn", layers=2, hidden=8), 12, 4, Options(aggregation="spmm")).eval()
    nodes, blocks = batches(graph, "neighbor", 2)
    x = torch.from_numpy(graph.x)
    alone = net(x[nodes], blocks)
    for kind in ("full", "cluster"):
        other, other_blocks = batches(graph, kind, 2)
        net(x[other], other_blocks)
    assert torch.equal(net(x[nodes], blocks), alone)
