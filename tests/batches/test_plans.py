"""Options to batches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.batches.features.cache_policy import by_degree, highest
from harness.batches.features.store import FeatureStore
from harness.batches.neighbors import NeighborBatches
from harness.batches.plans import batches_of
from harness.batches.sampling.torch_sampler import TorchNeighborSampler
from harness.spec.errors import InputError
from harness.spec.options import Options, Training

TRAINING = Training(batch_size=300)


def options(**changes) -> Options:
    return Options.model_validate(
        {"sampling": {"fanout": [5, 3]}, "partition": {"parts": 16, "per_batch": 3}} | changes
    )


@pytest.fixture
def plan(skewed, make_graph, tmp_path):
    def make(wanted: Options, seed: int = 0, graph=None):
        return batches_of(graph or make_graph(*skewed), wanted, TRAINING, 2, seed, cache_dir=tmp_path)

    return make


def content(batches) -> list[tuple]:
    return [
        (b.nodes.tobytes(), b.targets.tobytes(), *((k.indptr.tobytes(), k.indices.tobytes()) for k in b.blocks))
        for b in batches
    ]


def test_every_training_node_is_a_seed_once_an_epoch(plan) -> None:
    batches = plan(options())
    orders = []
    for epoch in range(3):
        seeds = [b.nodes[b.targets] for b in batches.epoch(epoch)]
        assert [len(s) for s in seeds] == [300, 300, 300, 100]  # the last one is short and kept
        assert np.array_equal(np.sort(np.concatenate(seeds)), np.arange(0, 2000, 2))
        orders.append(np.concatenate(seeds))
    assert batches.num_batches == 4
    assert not np.array_equal(orders[0], orders[1])


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_loader_changes_no_bit(plan, batching: str, threads: int) -> None:
    wanted = options(batching=batching)
    background, plain = plan(wanted), plan(wanted)
    assert content(background.epoch(3, threads)) == content(plain.epoch(3))
    assert background.counters() | {"partition": 0} == plain.counters() | {"partition": 0}
    alone = [plan(wanted).batch(3, i) for i in reversed(range(plain.num_batches))]
    assert content(reversed(alone)) == content(plain.epoch(3))


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
def test_an_early_stop_changes_nothing_later(plan, batching: str) -> None:
    stopped, plain = plan(options(batching=batching)), plan(options(batching=batching))
    for _ in stopped.epoch(0, threads=2):
        break
    assert stopped.counters()["batches"] == 1  # made ahead is not handed out
    assert content(stopped.epoch(1, threads=2)) == content(plain.epoch(1))


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
def test_seeds_and_epochs_batch_differently(plan, batching: str) -> None:
    wanted = options(batching=batching)
    base = content(plan(wanted).epoch(0))
    assert base == content(plan(wanted).epoch(0))
    assert base != content(plan(wanted).epoch(1))
    assert base != content(plan(wanted, seed=1).epoch(0))


@pytest.mark.parametrize("threads", [0, 2])
def test_features_are_fetched_with_the_batch(plan, skewed, make_graph, threads: int) -> None:
    graph = make_graph(*skewed)
    cache = highest(by_degree(graph.indices, graph.num_nodes), graph.num_nodes // 10)
    store = FeatureStore(graph.x, home="host", device=torch.device("cpu"), cache=cache)
    moved = 0
    for batch, rows in plan(options()).prepared_epoch(0, lambda b: store.fetch(b.nodes), threads):
        assert np.array_equal(rows.numpy(), graph.x[batch.nodes])
        moved += len(batch.nodes)
    assert store.counters()["cache_requests"] == moved


def test_neighbor_counters_say_what_was_drawn(plan, skewed) -> None:
    batches = plan(options())
    list(batches.epoch(0))
    found = batches.counters()
    degree = np.diff(skewed[0])[::2]
    assert found["fanout"] == [5, 3]
    assert found["fanout_mean"][0] == pytest.approx(np.minimum(degree, 5).mean())
    assert 0 < found["fanout_mean"][1] <= 3
    assert (found["batching"], found["method"], found["batches"]) == ("neighbor", "uniform", 4)
    assert batches.preprocess_s == {}


def test_smaller_fanouts_draw_fewer_edges(plan) -> None:
    edges = []
    for fanout in ([2, 2], [5, 3], [-1, -1]):
        batches = plan(options(sampling={"fanout": fanout}))
        list(batches.epoch(0))
        edges.append(batches.counters()["edges"])
    assert edges[0] < edges[1] < edges[2]


def test_cluster_counters_have_the_partition(plan) -> None:
    batches = plan(options(batching="cluster"))
    list(batches.epoch(0))
    found = batches.counters()
    assert found["partition"]["method"] == "metis"
    assert found["partition"]["parts"] == 16
    assert found["partition"]["kept_edge_share"] < found["kept_edge_share"] < 1
    assert batches.preprocess_s["partition_s"] == found["partition"]["seconds"] > 0


def test_full_is_the_graph(plan, skewed) -> None:
    batches = plan(options(batching="full"))
    (batch,) = batches.epoch(0)
    assert np.array_equal(batch.blocks[0].indptr, skewed[0])
    assert np.array_equal(batch.blocks[1].indices, skewed[1])
    assert np.array_equal(batch.targets, np.arange(0, 2000, 2))
    assert (batch.blocks[0].num_src, batches.counters()["edges"]) == (2000, 30_000)


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
def test_blocks_hold_int64(plan, batching: str) -> None:
    batch = next(iter(plan(options(batching=batching)).epoch(0)))
    arrays = [batch.nodes, batch.targets]
    for b in batch.blocks:
        arrays += [b.indptr, b.indices, b.in_degree, b.src_degree, b.src_self_loops, b.dst]
    assert {a.dtype for a in arrays} == {np.dtype(np.int64)}


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
def test_blocks_count_the_self_loops_of_the_whole_graph(plan, skewed, make_graph, make_csr, batching: str) -> None:
    loops = np.diff(skewed[0]) * 0
    target = np.repeat(np.arange(2000), np.diff(skewed[0]))
    np.add.at(loops, target[target == skewed[1]], 1)
    assert loops.any()
    for batch in plan(options(batching=batching)).epoch(0):
        for block in batch.blocks:
            assert np.array_equal(block.src_self_loops, loops[batch.nodes[: block.num_src]])
    none = make_graph(*make_csr(2000, skewed[1][target != skewed[1]], target[target != skewed[1]]))
    for batch in plan(options(batching=batching), graph=none).epoch(0):
        assert all(block.src_self_loops is None for block in batch.blocks)


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
def test_a_replay_is_the_epoch_and_counts_nothing(plan, batching: str) -> None:
    batches, plain = plan(options(batching=batching)), plan(options(batching=batching))
    assert content(batches.replay(2)) == content(plain.epoch(2))
    assert batches.counters()["batches"] == batches.counters()["nodes"] == 0


@pytest.mark.parametrize("budget", [None, 200_000])
@pytest.mark.parametrize("method", ["uniform", "importance", "labor"])
def test_a_sampler_of_torch_makes_the_same_batches(plan, skewed, make_graph, method: str, budget: int | None) -> None:
    graph = make_graph(*skewed)
    named = {"batch_size": 300, "seed": 0, "node_edge_budget": budget}
    if method == "importance":
        named["weights"] = np.bincount(graph.indices, minlength=2000).astype(np.float64)
    sampler = TorchNeighborSampler(graph.indptr, graph.indices, (5, 3), method, 0)
    on_torch = NeighborBatches(graph, sampler, **named)
    numba = plan(options(sampling={"fanout": [5, 3], "method": method, "node_edge_budget": budget}))
    assert content(on_torch.epoch(1, threads=2)) == content(numba.epoch(1))
    found = [batches.counters() for batches in (on_torch, numba)]
    assert [f.pop("sampling_backend") for f in found] == ["torch on cpu", "numba"]
    for f in found:  # of two threads, the one that found a batch's end may not be the one that makes it
        f.pop("samplings", None)
    assert found[0] == found[1]


def test_no_training_node_no_batch(plan, skewed, make_graph) -> None:
    graph = make_graph(*skewed, train=np.zeros(0, np.int64))
    for threads in (0, 2):
        assert list(plan(options(), graph=graph).epoch(0, threads)) == []


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"sampling": {"fanout": [5]}}, "sampling.fanout", "1 hops for a model of 2 layers"),
        ({"sampling": {"fanout": [5, 5], "backend": "torch"}}, "sampling.backend", "samples on a GPU"),
    ],
)
def test_what_cannot_be_is_an_input_error(plan, changes: dict, path: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        plan(options(**changes))
    assert raised.value.problems[0].path == path
