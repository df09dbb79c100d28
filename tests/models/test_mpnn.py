"""mpnn is its formula, reads the attributes of edges, and says so where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import MessagePassing

from harness.models.build import build_model
from harness.models.errors import Unsupported
from harness.models.inference import Inference
from harness.models.mpnn import Mpnn
from harness.spec.options import Model, Options

AGGREGATIONS = ["scatter", "segment", "dense"]
KINDS = ["full", "cluster", "neighbor"]


class Plain(MessagePassing):
    """The formula as PyG's documentation would have it written, on the layer's own weights."""

    def __init__(self, of: Mpnn) -> None:
        super().__init__(aggr="mean")
        self.of = of

    def forward(self, x, edge_index, edge_attr, weight):
        return self.of.lin_own(x) + self.propagate(edge_index, x=x, edge_attr=edge_attr, weight=weight)

    def message(self, x_j, edge_attr, weight):
        return weight.view(-1, 1) * F.relu(self.of.lin_source(x_j) + self.of.lin_edge(edge_attr))


def network(aggregation: str = "scatter", layers: int = 2, **options):
    torch.manual_seed(0)
    model = Model(conv="mpnn", layers=layers, hidden=8, dropout=0.0)
    return build_model(model, 12, 4, Options(aggregation=aggregation, **options), edge_features=3)


def plainly(net, x, blocks):
    """Every layer over all nodes of its block, by PyG; only the destinations' rows are right, and kept."""
    for layer, block in zip(net.layers, blocks, strict=True):
        edge_index = torch.from_numpy(np.stack([block.indices, block.dst]))
        weight = torch.ones(block.num_edges) if block.edge_weight is None else torch.from_numpy(block.edge_weight)
        attr = torch.from_numpy(block.edge_attr)
        x = Plain(layer.conv)(x, edge_index, attr.to(x.dtype), weight.to(x.dtype))[: block.num_dst]
        x = x if layer.last else F.relu(x)
    return x


def with_gradients(net, logits):
    (logits * torch.arange(4.0)).sum().backward()
    return logits.detach(), torch.cat([p.grad.flatten() for p in net.parameters()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_pygs_message_passing(graphs, batches, kind, aggregation, weighted):
    """Logits and gradients, with a hub, isolated nodes, repeated edges with attributes of their own, and self-loops."""
    graph = graphs()
    nodes, blocks = batches(graph, kind, 2)
    if weighted:  # as of a sample that was re-weighted
        rng = np.random.default_rng(1)
        blocks = tuple(replace(b, edge_weight=rng.random(b.num_edges, dtype=np.float32)) for b in blocks)
    x = torch.from_numpy(graph.x[nodes]).double()
    one, other = network(aggregation).double(), network().double()
    found, expected = with_gradients(one, one(x, blocks)), with_gradients(other, plainly(other, x, blocks))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def test_taking_all_neighbours_equals_the_full_graph(graphs, sampled, whole, tmp_path):
    graph, net = graphs(), network().eval()
    seeds = np.array([7, 70, 3, 4, 55, 11])
    nodes, blocks = sampled(graph, seeds, [-1, -1])
    found = net(torch.from_numpy(graph.x[nodes]), blocks)
    torch.testing.assert_close(found, net(torch.from_numpy(graph.x), whole(graph, 2))[seeds], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        found, Inference(graph.on_disk(tmp_path), "cpu").logits(net)[seeds], rtol=1e-5, atol=1e-5
    )


def test_attributes_change_what_it_says(graphs, whole):
    graph, net = graphs(), network().eval()
    other = replace(graph, edge_attr=graph.edge_attr[::-1].copy())
    x = torch.from_numpy(graph.x)
    assert not torch.allclose(net(x, whole(graph, 2)), net(x, whole(other, 2)))


def test_what_was_read_is_counted_in_training_alone(graphs, whole):
    graph, net = graphs(), network()
    x, blocks = torch.from_numpy(graph.x), whole(graph, 2)
    net.eval()(x, blocks)
    assert net.counters()["edge_features_read"] == [None, None]
    net.train()(x, blocks)
    assert net.counters()["edge_features_read"] == [3, 3]
    sage = build_model(Model(conv="sage"), 12, 4, Options(), edge_features=3)
    assert "edge_features_read" not in sage.counters()


def test_without_attributes_it_says_so(graphs, whole):
    with pytest.raises(Unsupported, match=r"this data set has none; docs/adding-a-dataset\.md says how"):
        build_model(Model(conv="mpnn"), 12, 4, Options())
    graph = graphs()
    bare = tuple(replace(block, edges=None) for block in whole(graph, 2))
    with pytest.raises(ValueError, match="carry the attributes of their edges"):
        network()(torch.from_numpy(graph.x), bare)


def told_by_edges_alone(build_graph):
    """Random neighbours and features; a node's class is the sign that most of its edges have, in noise."""
    rng = np.random.default_rng(0)
    nodes, degree = 400, 8
    target = np.repeat(np.arange(nodes), degree)
    graph = build_graph(rng.integers(0, nodes, nodes * degree), target, nodes)
    y = rng.integers(0, 2, nodes)
    attr = (2.0 * y[target] - 1.0)[:, None] + rng.normal(size=(len(target), 3))
    return replace(graph, y=y, edge_attr=attr.astype(np.float32))


@pytest.mark.parametrize(("conv", "low", "high"), [("mpnn", 0.95, 1.0), ("sage", 0.35, 0.65)])
def test_only_mpnn_learns_what_edges_alone_tell(build_graph, whole, tmp_path, conv, low, high):
    graph = told_by_edges_alone(build_graph)
    torch.manual_seed(0)
    model = Model(conv=conv, layers=1, hidden=16, dropout=0.0)
    net = build_model(model, 12, 2, Options(), edge_features=3)
    x, y, blocks = torch.from_numpy(graph.x), torch.from_numpy(graph.y), whole(graph, 1)
    train = torch.arange(0, 400, 2)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(100):
        optimizer.zero_grad()
        F.cross_entropy(net(x, blocks)[train], y[train]).backward()
        optimizer.step()
    right = Inference(graph.on_disk(tmp_path), "cpu").logits(net).argmax(1) == y
    assert low <= float(right[1::2].float().mean()) <= high
