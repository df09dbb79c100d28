"""Whole runs of mpnn: attributes of edges are read, and proven; a graph without any ends the run with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from harness.batches import edges
from harness.graphs.prepare import prepare
from harness.models.mpnn import Mpnn
from harness.plan.capabilities import lacks_edge_attributes
from harness.runs import execute as execution
from harness.runs.execute import execute
from harness.runs.proof import ToggleNotProven
from harness.runs.request import Outcome, RunRequest, Unsupported
from harness.runs.warm_up import warm_up
from harness.spec.dataset import Files, Split, Synthetic
from harness.spec.options import Model, Options, Training

BATCHING: dict[str, dict[str, Any]] = {
    "neighbor": {"sampling": {"fanout": [4, 3]}},
    "cluster": {"batching": "cluster", "partition": {"method": "random", "parts": 8, "per_batch": 2}},
    "full": {"batching": "full"},
}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Path]]:
    """By attributes of an edge: none, and three."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        section = Synthetic(source="synthetic", nodes=300, mean_degree=9.0, classes=3, features=6, split=split)
        found = {n: section.model_copy(update={"edge_features": n}) for n in (0, 3)}
        yield {n: prepare(one, f"graph-{n}", ".") for n, one in found.items()}


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _run(path: Path, conv: str = "mpnn", purpose: str = "quality", **options: Any) -> Outcome:
    request = RunRequest(
        run_id="r", cell_id="c", purpose=purpose, seed=0, graph_path=str(path), spec_dir=str(path), device="cpu",
        threads=1, warmup_epochs=1, timed_epochs=1, training=Training(epochs=2, batch_size=64),
        model=Model(conv=conv, hidden=8, layers=2),
        options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **options}),
    )  # fmt: skip
    return execute(request, lambda phase: None)


@pytest.mark.parametrize("batching", BATCHING)
@pytest.mark.parametrize("purpose", ["quality", "timing"])
def test_a_run_counts_what_was_read(graphs, batching, purpose):
    counters = _run(graphs[3], purpose=purpose, **BATCHING[batching]).counters
    assert counters["edge_features"] == 3
    assert counters["edge_features_read"] == [3, 3]
    assert counters["edge_recount"]["matched"] == counters["edge_recount"]["edges"] > 100
    passes = counters["batches"] if batching == "full" else 1  # the whole graph's are gathered once
    assert counters["edge_attr_bytes"] == 12 * counters["edges"] / passes


def test_a_loader_changes_no_number(graphs):
    one, two = (_run(graphs[3], loader={"threads": n}) for n in (0, 2))
    assert one.metrics == two.metrics
    assert one.counters["edge_attr_bytes"] == two.counters["edge_attr_bytes"]


def test_other_models_pay_nothing(graphs, monkeypatch):
    monkeypatch.setattr(edges.EdgeTable, "__init__", None)  # none is made
    assert not {name for name in _run(graphs[3], "sage").counters if name.startswith("edge_")}


@pytest.mark.parametrize("batching", BATCHING)
def test_a_graph_without_attributes_ends_the_run_in_the_planners_words(graphs, batching):
    reason = lacks_edge_attributes(Model(conv="mpnn"), 0)
    with pytest.raises(Unsupported, match=re.escape(reason)):
        _run(graphs[0], **BATCHING[batching])


@pytest.mark.parametrize("batching", BATCHING)
def test_attributes_of_other_edges_are_found(graphs, monkeypatch, batching):
    made = edges.BatchEdges.__init__
    monkeypatch.setattr(edges.BatchEdges, "__init__", lambda self, table, ids: made(self, table, np.roll(ids, 1)))
    with pytest.raises(ToggleNotProven, match=r"first batch's \d+ edges carried attributes that no edge"):
        _run(graphs[3], **BATCHING[batching])


def test_a_convolution_that_reads_none_is_found(graphs, monkeypatch):
    def deaf(self, sources, destinations, block, aggregation):
        messages = torch.relu(sources[0].index_select(0, block.plain.indices))
        return aggregation.reduce_mean(messages, block) + self.lin_own(destinations[1])

    monkeypatch.setattr(Mpnn, "receive", deaf)
    with pytest.raises(ToggleNotProven, match=r"3 attributes of an edge to read, but they read \[None, None\]"):
        _run(graphs[3])


def test_a_convolution_that_reads_some_is_found(graphs, monkeypatch):
    fetch = edges.EdgeTable.fetch
    monkeypatch.setattr(edges.EdgeTable, "fetch", lambda self, ids: fetch(self, ids)[:, :1].repeat(3, 1))
    with pytest.raises(ToggleNotProven, match="carried attributes that no edge"):
        _run(graphs[3])


def test_a_table_that_miscounts_is_found(graphs, monkeypatch):
    fetch = edges.EdgeTable.fetch

    def twice(self, ids):
        fetch(self, ids)
        return fetch(self, ids)

    monkeypatch.setattr(edges.EdgeTable, "fetch", twice)
    with pytest.raises(ToggleNotProven, match=r"have \d+ bytes of attributes, but \d+ were gathered"):
        _run(graphs[3])


def test_attributes_that_nobody_asked_for_are_found(graphs, monkeypatch):
    batches_of = execution.batches_of
    monkeypatch.setattr(execution, "batches_of", lambda *a, **named: batches_of(*a, **named | {"with_edges": True}))
    with pytest.raises(ToggleNotProven, match="conv is sage, which reads no attributes of edges"):
        _run(graphs[3], "sage")


def test_the_server_warms_it_up():
    warm_up()


@pytest.mark.parametrize("batching", BATCHING)
def test_a_graph_without_edges_trains_on_its_nodes(tmp_path, monkeypatch, batching):
    rng = np.random.default_rng(0)
    arrays = {"x": rng.standard_normal((60, 4)).astype(np.float32), "y": np.arange(60) % 3}
    np.savez(tmp_path / "g.npz", edge_index=np.zeros((2, 0), int), edge_attr=np.zeros((0, 2)), **arrays)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    counters = _run(prepare(Files(source="files", path="g.npz"), "bare", tmp_path), **BATCHING[batching]).counters
    assert counters["edge_recount"] == {"edges": 0, "matched": 0}
    assert (counters["edge_features_read"], counters["edge_attr_bytes"]) == ([2, 2], 0)
