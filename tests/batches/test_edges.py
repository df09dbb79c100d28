"""Each edge of a batch comes with the attributes of just the edge of the graph that was drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.batches import NeighborSampler
from harness.batches.batch import Batch, Block
from harness.batches.edges import BatchEdges, EdgeTable
from harness.batches.epochs import BatchPlan
from harness.batches.observed.edges import EdgeRecount, recount_edges
from harness.batches.plans import batches_of
from harness.batches.sampling.methods import METHODS
from harness.batches.sampling.torch_sampler import TorchNeighborSampler
from harness.graphs.graph import Graph
from harness.spec.options import Options, Training

BATCHING = ["neighbor", "cluster", "full"]


def marked(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Attributes that name their edge: source, target and place in the CSR."""
    target = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return np.stack([indices, target, np.arange(len(indices))], axis=1).astype(np.float32)


@pytest.fixture
def graph(skewed, make_graph) -> Graph:
    return replace(make_graph(*skewed), edge_attr=marked(*skewed))


@pytest.fixture
def planned(graph, tmp_path: Path) -> Callable[..., BatchPlan]:
    def make(batching: str = "neighbor", with_edges: bool = True) -> BatchPlan:
        options = Options.model_validate(
            {
                "batching": batching,
                "sampling": {"fanout": [4, 3]},
                "partition": {"method": "random", "parts": 12, "per_batch": 3},
            }
        )
        return batches_of(graph, options, Training(batch_size=250), 2, 0, cache_dir=tmp_path, with_edges=with_edges)

    return make


def assert_names_its_edges(batch: Batch) -> None:
    for block in batch.blocks:
        assert block.edge_attr.dtype == np.float32
        assert np.array_equal(block.edge_attr[:, 0], batch.nodes[block.indices])
        assert np.array_equal(block.edge_attr[:, 1], batch.nodes[block.dst])
        assert np.array_equal(block.edge_attr[:, 2], block.edge_ids)
        assert len(np.unique(block.edge_ids)) == block.num_edges


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fanout", [[10, 5], [-1, 2]])
def test_both_samplers_say_which_edge_was_drawn(method, fanout, skewed) -> None:
    """The graph has repeated edges and self-loops."""
    weights = np.random.default_rng(1).random(2000) if method == "importance" else None
    if weights is not None:
        weights[::4] = 0.0  # edges that cannot be drawn, before those that can
    asked = {"fanout": fanout, "method": method, "seed": 3, "weights": weights, "reweight": weights is not None}
    seeds = np.arange(0, 2000, 7)
    plain = NeighborSampler(*skewed, **asked).sample(seeds, 1, 2)
    numba, torch = (
        sampler(*skewed, **asked, edge_attr=marked(*skewed)).sample(seeds, 1, 2)
        for sampler in (NeighborSampler, TorchNeighborSampler)
    )
    assert_names_its_edges(numba)
    assert np.array_equal(numba.nodes, plain.nodes)
    for block, other, bare in zip(numba.blocks, torch.blocks, plain.blocks, strict=True):
        assert np.array_equal(block.edge_ids, other.edge_ids)
        assert np.array_equal(block.edge_attr, other.edge_attr)
        assert np.array_equal(block.indices, bare.indices)
        assert bare.edges is bare.edge_ids is bare.edge_attr is None


@pytest.mark.parametrize("batching", BATCHING)
def test_every_batch_carries_its_own_edges(batching, planned, graph) -> None:
    batches, held = planned(batching), 0
    for batch, bare in zip(batches.epoch(1), planned(batching, with_edges=False).epoch(1), strict=True):
        assert_names_its_edges(batch)
        assert np.array_equal(batch.blocks[0].indices, bare.blocks[0].indices)
        assert bare.blocks[0].edges is None
        held += batch.num_edges
    counted = batches.edge_counters()
    assert counted["edge_features"] == 3
    assert counted["edge_attr_bytes"] == held * 3 * 4
    recount = counted["edge_recount"]
    assert recount["matched"] == recount["edges"] > 100


@pytest.mark.parametrize("batching", BATCHING)
def test_threads_change_nothing(batching, planned) -> None:
    def attributes(threads: int) -> list[np.ndarray]:
        made = planned(batching).prepared_epoch(2, Batch.fetch_edge_attr, threads, 3)
        return [batch.blocks[-1].edge_attr for batch, _ in made]

    alone, many = attributes(0), attributes(3)
    assert all(np.array_equal(a, b) for a, b in zip(alone, many, strict=True))


def test_nothing_is_gathered_before_it_is_asked_for(planned) -> None:
    """A replay that orders a cache, or a search for a budget's end, samples batches that no model sees."""
    batches = planned()
    made = list(batches.replay(1))
    assert batches.edge_counters()["edge_attr_bytes"] == 0
    made[0].fetch_edge_attr()
    assert batches.edge_counters()["edge_attr_bytes"] == made[0].num_edges * 12
    _ = made[0].blocks[-1].edge_attr, made[0].blocks[0].edge_attr
    assert batches.edge_counters()["edge_attr_bytes"] == made[0].num_edges * 12


def test_without_attributes_there_is_nothing_to_count(planned, skewed, make_graph, tmp_path) -> None:
    bare = make_graph(*skewed)
    batches = batches_of(bare, Options(), Training(), 2, 0, cache_dir=tmp_path, with_edges=True)
    assert batches.batch(1, 0).blocks[0].edges is None
    assert batches.edge_counters() == planned(with_edges=False).edge_counters() == {}


def test_a_full_graph_gathers_once(planned, graph) -> None:
    batches = planned("full")
    for epoch in (1, 2, 3):
        for batch in batches.epoch(epoch):
            batch.fetch_edge_attr()
    assert batches.edge_counters()["edge_attr_bytes"] == graph.num_edges * 12


@pytest.mark.parametrize(
    "attr", [np.zeros(30_000, np.float32), np.zeros((29_999, 1), np.float32), np.zeros((30_000, 1))]
)
@pytest.mark.parametrize("sampler", [NeighborSampler, TorchNeighborSampler])
def test_attributes_are_one_row_an_edge(attr, sampler, skewed) -> None:
    with pytest.raises(ValueError, match=r"edge_attr must be float32 of shape \[30000, D\]"):
        sampler(*skewed, edge_attr=attr)


def recounted(source: list[int], attr: list[float], ids: list[int]) -> EdgeRecount:
    """Node 0 receives the graph's edges from these sources; the batch holds edges from the same ones, with the
    attributes of the edges at these places."""
    indptr = np.array([0, len(source), len(source), len(source)])
    indices, rows = np.array(source, np.int32), np.array(attr, np.float32)[:, None]
    graph = Graph(Path(), None, indptr, indices, *[np.zeros(0)] * 5, edge_attr=rows)  # type: ignore[arg-type]
    degree = np.array([len(source), 0, 0])
    edges = BatchEdges(EdgeTable(rows), np.array(ids))
    block = Block(np.array([0, len(ids)]), np.array(source), 3, degree[:1], degree, edges=edges)
    return recount_edges(graph, Batch(np.arange(3), (block,), np.array([0])))


@pytest.mark.parametrize(
    ("ids", "matched"),
    [
        ([0, 1, 2], 3),
        ([1, 0, 2], 3),  # two edges from one source may come in any order
        ([0, 0, 2], 2),  # but not one of them twice
        ([0, 2, 1], 1),
        ([2, 2, 0], 0),
    ],
)
def test_the_recount_knows_an_edge_by_the_nodes_it_joins(ids, matched) -> None:
    assert recounted([1, 1, 2], [5.0, 6.0, 7.0], ids) == EdgeRecount(edges=3, matched=matched)


def test_the_recount_of_a_large_batch_stops(skewed, make_graph, monkeypatch) -> None:
    monkeypatch.setattr("harness.batches.observed.edges._ENOUGH", 1000)
    graph = replace(make_graph(*skewed), edge_attr=marked(*skewed))
    batch = NeighborSampler(*skewed, [20, 20], edge_attr=graph.edge_attr).sample(np.arange(500))
    found = recount_edges(graph, batch)
    assert 1000 <= found.edges < 1020
    assert found.matched == found.edges
