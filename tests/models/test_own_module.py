"""A person's own module, by import path."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest
import torch
from torch_geometric.nn import SAGEConv

from harness.models.build import build_model
from harness.models.errors import ModelError, Unsupported
from harness.models.inference import Inference
from harness.models.own import load_class
from harness.spec.errors import InputError
from harness.spec.options import Model, Options

SOURCE = """
import torch
from torch_geometric.nn import GCNConv, SAGEConv

class Mine(torch.nn.Module):
    def __init__(self, in_channels, out_channels, width=8):
        super().__init__()
        self.first = SAGEConv(in_channels, width)
        self.second = SAGEConv(width, out_channels)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)

class NoGraph(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.linear = torch.nn.Linear(in_channels, out_channels)

    def forward(self, x, edge_index):
        return torch.nn.functional.dropout(self.linear(x), 0.5)  # forgot self.training

class Pooled(NoGraph):
    def forward(self, x, edge_index):
        return self.linear(x).mean(dim=0)

class Pair(NoGraph):
    def forward(self, x, edge_index):
        return self.linear(x), None

class Empty(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()

class Frozen(NoGraph):
    def __init__(self, in_channels, out_channels):
        super().__init__(in_channels, out_channels)
        self.requires_grad_(False)

class Detached(NoGraph):
    def forward(self, x, edge_index):
        return self.linear(x).argmax(dim=1, keepdim=True).expand(-1, 4)

class Writes(NoGraph):
    def forward(self, x, edge_index):
        return self.linear(torch.nn.functional.dropout(x, 0.5, self.training, inplace=True))

class WritesEdges(NoGraph):
    def forward(self, x, edge_index):
        edge_index[:, 0] = 0
        return self.linear(x)

class Cached(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = GCNConv(in_channels, out_channels, cached=True)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)

plain_function = len
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_gnn.py").write_text(textwrap.dedent(SOURCE))
    yield tmp_path
    sys.modules.pop("my_gnn", None)


def build(folder, name, options=None, **args):
    model = Model.model_validate({"class": f"my_gnn:{name}", "args": args})
    return build_model(model, 12, 4, options or Options(), [folder])


@pytest.mark.parametrize("kind", ["neighbor", "cluster", "full"])
def test_gets_all_edges_of_a_batch_and_gives_the_seeds(folder, graphs, batches, kind):
    graph = graphs()
    nodes, blocks = batches(graph, kind, 2)
    net = build(folder, "Mine", width=5)
    x = torch.from_numpy(graph.x[nodes])
    edges = torch.from_numpy(np.stack([blocks[0].indices, blocks[0].dst]))
    logits = net(x, blocks)
    assert torch.equal(logits, net.module(x, edges)[: blocks[-1].num_dst])
    assert logits.shape == (blocks[-1].num_dst, 4)
    assert net.counters()["aggregation_calls"] == {"own": 1}
    logits.sum().backward()
    assert net.module.first.lin_l.weight.grad is not None


def test_on_the_full_graph_is_called_with_every_edge(folder, graphs, tmp_path):
    graph = graphs()
    net = build(folder, "Mine").train()
    counters = net.counters()
    logits = Inference(graph.on_disk(tmp_path), "cpu").logits(net)
    assert net.counters() == counters
    assert net.training
    torch.testing.assert_close(logits, net.module(torch.from_numpy(graph.x), graph.edge_index).detach())


def test_inference_leaves_the_random_state(folder, graphs, tmp_path):
    net = build(folder, "NoGraph")
    before = torch.get_rng_state()
    Inference(graphs().on_disk(tmp_path), "cpu").logits(net)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("precision", "dtype"), [("fp16", "float16"), ("bf16", "bfloat16"), ("fp16-linear", "float32")]
)
def test_messages_of_pyg_convolutions_have_the_dtype_of_the_option(folder, graphs, batches, tmp_path, precision, dtype):
    graph = graphs()
    _, blocks = batches(graph, "full", 2)
    net = build(folder, "Mine", Options(precision=precision))
    assert net(torch.from_numpy(graph.x), blocks).dtype == torch.float32
    assert net.counters()["aggregation_dtype"] == [dtype, dtype]
    exact = build(folder, "Mine")
    exact.load_state_dict(net.state_dict())
    on_disk = graph.on_disk(tmp_path)
    assert torch.equal(Inference(on_disk, "cpu").logits(net), Inference(on_disk, "cpu").logits(exact))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (Options(aggregation="spmm"), "aggregation: spmm cannot reach inside"),
        (Options(aggregation="segment"), "aggregation: segment cannot reach inside"),
        (Options(checkpointing=True), "checkpointing: true cannot reach inside"),
        (Options(precision="fp16"), "no PyG convolution"),
    ],
)
def test_options_that_need_its_inside_are_refused_with_a_reason(folder, options, reason):
    with pytest.raises(Unsupported, match=reason):
        build(folder, "NoGraph", options)


def test_mistakes_name_the_class_and_the_remedy(folder, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "needs_more.py").write_text("import not_installed_anywhere")
    cases = {
        "nowhere:Mine": "no module nowhere; looked in",
        "my_gnn:Missing": "has no class Missing; its modules are Cached, Detached, Empty, Frozen,",
        "my_gnn:plain_function": "must be a subclass of torch.nn.Module",
        "broken:Mine": "importing broken fails: ZeroDivisionError",
        "needs_more:Mine": "imports not_installed_anywhere, which is not installed",
    }
    for class_path, message in cases.items():
        with pytest.raises(ModelError) as caught:
            load_class(class_path, [folder])
        assert isinstance(caught.value, InputError)
        assert str(caught.value).startswith(f"{class_path}: model.class: ")
        assert message in str(caught.value)


def test_arguments_that_the_constructor_does_not_take(folder):
    with pytest.raises(ModelError, match=r"Mine\(12, 4, depth=3\) fails: TypeError.*model.args"):
        build(folder, "Mine", depth=3)


@pytest.mark.parametrize(("name", "got"), [("Pooled", r"got shape \[4\]"), ("Pair", "got a tuple")])
def test_output_of_another_shape(folder, graphs, batches, name, got):
    graph = graphs()
    _, blocks = batches(graph, "full", 2)
    with pytest.raises(ModelError, match=r"logits of shape \[80, 4\].*" + got):
        build(folder, name)(torch.from_numpy(graph.x), blocks)


@pytest.mark.parametrize("name", ["Empty", "Frozen"])
def test_a_module_without_anything_to_train(folder, name):
    with pytest.raises(ModelError, match="no parameter to train"):
        build(folder, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [("Detached", "logits without a gradient"), ("Writes", "wrote to x,"), ("WritesEdges", "wrote to edge_index")],
)
def test_what_forward_may_not_do(folder, graphs, batches, name, said):
    """Features and edges are fed again: a module that writes to them trains on others from step to step."""
    graph = graphs()
    _, blocks = batches(graph, "full", 2)
    with pytest.raises(ModelError, match=said):
        build(folder, name).train()(torch.from_numpy(graph.x), blocks)


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
def test_a_convolution_that_keeps_the_first_batch_is_for_the_full_graph(folder, batching):
    options = Options(batching=batching)
    if batching == "full":
        build(folder, "Cached", options)
    else:
        with pytest.raises(Unsupported, match=r"cached=True \(conv\).*make them with cached=False"):
            build(folder, "Cached", options)


def test_a_class_of_an_installed_package():
    assert load_class("torch_geometric.nn:SAGEConv") is SAGEConv


def test_loading_leaves_the_path_and_finds_the_nearest_namesake(folder, tmp_path_factory):
    path = list(sys.path)
    first = load_class("my_gnn:Mine", [folder])
    other = tmp_path_factory.mktemp("other")
    (other / "my_gnn.py").write_text("import torch\nclass Mine(torch.nn.Module):\n    other = True\n")
    second = load_class("my_gnn:Mine", [other])
    assert second.other
    assert not hasattr(first, "other")
    assert sys.path == path
