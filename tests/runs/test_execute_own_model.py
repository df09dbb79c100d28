"""A person's own module by import path, found beside the spec."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.graphs.prepare import prepare
from harness.runs.execute import execute
from harness.runs.request import RunRequest, Unsupported
from harness.spec.dataset import Split, Synthetic
from harness.spec.errors import InputError
from harness.spec.options import Model, Options, Training

SOURCE = """
import torch
from torch_geometric.nn import SAGEConv


class Net(torch.nn.Module):
    def __init__(self, in_channels, out_channels, width=8):
        super().__init__()
        self.first, self.second = SAGEConv(in_channels, width), SAGEConv(width, out_channels)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A spec's folder with a module in it."""
    (tmp_path / "my_net_of_a_test.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)
    sys.modules.pop("my_net_of_a_test", None)


@pytest.fixture
def graph(cache: Path) -> Path:
    split = Split(kind="random", train=0.5, val=0.25)
    return prepare(Synthetic(source="synthetic", nodes=150, classes=3, features=8, split=split), "g", ".")


def _request(folder: Path, graph: Path, name: str = "Net", **options) -> RunRequest:
    return RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=0, graph_path=str(graph), spec_dir=str(folder), device="cpu",
        model=Model.model_validate({"class": f"my_net_of_a_test:{name}", "args": {"width": 16}}), threads=1,
        options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **options}),
        training=Training(epochs=8, batch_size=40, lr=0.02),
    )  # fmt: skip


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
def test_it_trains_and_says_that_it_aggregates_itself(folder, graph, batching):
    outcome = execute(
        _request(folder, graph, batching=batching, partition={"parts": 4, "per_batch": 2}), lambda _: None
    )
    assert outcome.metrics.train_loss[-1] < outcome.metrics.train_loss[0]
    assert set(outcome.counters["aggregation_calls"]) == {"own"}


@pytest.mark.parametrize(
    ("precision", "messages", "linear"),
    [
        ("fp32", "float32", "float32"),
        ("bf16", "bfloat16", "bfloat16"),
        ("fp16", "float16", "float16"),
        ("fp16-linear", "float32", "float16"),
        ("fp16-features", "float32", "float32"),
        ("bf16-linear", "float32", "bfloat16"),
    ],
)
def test_its_messages_and_linear_layers_are_half_where_asked(folder, graph, precision, messages, linear):
    counters = execute(_request(folder, graph, precision=precision), lambda _: None).counters
    assert counters["aggregation_dtype"] == [messages, messages]
    assert counters["linear_dtype"] == [linear]


def test_what_is_not_known_of_it_is_unsupported(folder, graph):
    with pytest.raises(Unsupported, match="cannot reach inside"):
        execute(_request(folder, graph, checkpointing=True), lambda _: None)


def test_a_class_that_is_not_there_is_named(folder, graph):
    with pytest.raises(InputError, match="Missing"):
        execute(_request(folder, graph, "Missing"), lambda _: None)
