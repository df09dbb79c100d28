"""What is watched of whole epochs: nodes, targets, classes, degrees, and neighbours over all batches."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.epochs import BatchPlan
from harness.batches.observed.degree_spread import by_powers_of_two, first_of_the_top
from harness.batches.observed.epoch_sources import foreign_edges
from harness.batches.observed.label_balance import entropy_bits, random_distance
from harness.batches.observed.rows import Rows
from harness.batches.plans import batches_of
from harness.graphs.graph import Graph
from harness.runs.proof.epochs import epoch_faults
from harness.spec.options import Options, Training

METHODS = ["uniform", "labor", "fixed", "importance", "degree-stratified"]


def plan_of(graph: Graph, cache: Path, batch_size: int = 64, seed: int = 0, **options) -> BatchPlan:
    asked = Options.model_validate({"sampling": {"fanout": [4, 3]}, **options})
    return batches_of(graph, asked, Training(batch_size=batch_size), 2, seed, cache_dir=cache)


def watched(plan: BatchPlan, epochs: int = 1) -> dict:
    for epoch in range(1, epochs + 1):
        for _ in plan.epoch(epoch):
            pass
    return plan.watch_counters()


def faults(plan: BatchPlan, epochs: int = 1) -> list[str]:
    found = watched(plan, epochs)
    json.dumps(found, allow_nan=False)  # a record must hold it
    return list(epoch_faults(found | {"sampling_method": plan.counters().get("method")}))


def parts(count: int, per_batch: int = 1) -> dict:
    return {"batching": "cluster", "partition": {"method": "random", "parts": count, "per_batch": per_batch}}


@pytest.mark.parametrize("options", [{}, parts(5, 2), {"batching": "full"}])
def test_every_training_node_is_a_target_once_an_epoch(skewed, make_graph, tmp_path, options):
    graph = make_graph(*skewed)
    found = watched(plan_of(graph, tmp_path, **options), epochs=3)
    assert found["train_nodes_seen"] == [1000] * 3
    assert found["train_nodes"] == 1000
    assert found["targets_repeated"] == found["targets_not_train"] == 0


def test_nodes_of_an_epoch_are_counted_once(skewed, make_graph, tmp_path):
    graph = make_graph(*skewed)
    plan = plan_of(graph, tmp_path)
    held = [np.unique(np.concatenate([batch.nodes for batch in plan.replay(epoch)])) for epoch in (1, 2)]
    assert watched(plan, epochs=2)["nodes_reached"] == [len(nodes) for nodes in held]
    assert watched(plan_of(graph, tmp_path, **parts(5)))["nodes_reached"] == [2000]


def test_an_epoch_that_is_left_early_is_no_epoch(skewed, make_graph, tmp_path):
    plan = plan_of(make_graph(*skewed), tmp_path)
    batches = plan.epoch(1)
    next(batches)
    batches.close()
    assert plan.watch_counters()["nodes_reached"] == []
    assert watched(plan)["train_nodes_seen"] == [1000]


def test_nothing_is_watched_once_a_clock_has_started(skewed, make_graph, tmp_path):
    plan = plan_of(make_graph(*skewed), tmp_path)
    before = watched(plan, epochs=2)
    plan.stop_watching()
    assert watched(plan, epochs=4) == before
    assert len(before["nodes_reached"]) == 2


def test_threads_change_nothing_that_is_watched(skewed, make_graph, tmp_path):
    plans = [plan_of(make_graph(*skewed), tmp_path) for _ in range(2)]
    for threads, plan in zip((0, 3), plans, strict=True):
        for _ in plan.epoch(1, threads=threads):
            pass
    assert plans[0].watch_counters() == plans[1].watch_counters()


# Labels


def labelled(graph: Graph, y: np.ndarray) -> Graph:
    names = [str(c) for c in range(int(y.max()) + 1)]
    return replace(graph, y=y, meta=graph.meta.model_copy(update={"num_classes": len(names), "class_names": names}))


def test_one_batch_of_all_targets_is_balanced(skewed, make_graph, tmp_path):
    balance = watched(plan_of(make_graph(*skewed), tmp_path, batching="full"))["label_balance"]
    assert balance["distance"] == {"mean": 0.0, "by_chance": 0.0}
    assert balance["classes_without_target"] == []


def test_batches_of_one_class_each_are_as_far_as_can_be(make_graph, make_csr, tmp_path, monkeypatch):
    y = np.repeat([0, 1, 2, 3], 50)
    graph = labelled(make_graph(*make_csr(200, np.arange(200), np.arange(200)), train=np.arange(200)), y)
    monkeypatch.setattr("harness.batches.plans.cached_partition", lambda *_: (y, {}))
    balance = watched(plan_of(graph, tmp_path, **parts(4)))["label_balance"]
    assert balance["distance"]["mean"] == pytest.approx(0.75)
    assert balance["worst"]["distance"] == pytest.approx(0.75)
    assert balance["worst"]["targets"] == 50
    assert balance["worst"]["by_chance_q99"] < 0.2
    assert balance["entropy_bits"] == {"batches": 0.0, "train": 2.0}


def test_random_batches_are_as_far_as_chance_takes_them(skewed, make_graph, tmp_path):
    y = np.random.default_rng(0).choice(5, 2000, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    graph = labelled(make_graph(*skewed), y)
    balance = watched(plan_of(graph, tmp_path, batch_size=50))["label_balance"]
    assert balance["distance"]["mean"] == pytest.approx(balance["distance"]["by_chance"], rel=0.2)
    assert balance["worst"]["by_chance"] == pytest.approx(balance["distance"]["by_chance"], rel=0.1)


def test_the_distance_of_a_random_batch_by_simulation():
    counts, rng = np.array([500, 300, 200]), np.random.default_rng(1)
    dealt = rng.multivariate_hypergeometric(counts, 100, size=20_000)
    simulated = 0.5 * np.abs(dealt / 100 - counts / 1000).sum(axis=1).mean()
    assert random_distance(counts / 1000, 100, 1000) == pytest.approx(simulated, rel=0.02)
    assert random_distance(counts / 1000, 1000, 1000) == 0.0


@pytest.mark.parametrize(("counts", "bits"), [([4], 0.0), ([1, 1], 1.0), ([3, 0, 1], 0.811278), ([2, 2, 2, 2], 2.0)])
def test_entropy_in_bits(counts, bits):
    assert entropy_bits(np.array(counts)) == pytest.approx(bits, abs=1e-6)


# Degrees


def test_degrees_of_parts_are_those_of_the_graph(skewed, make_graph, tmp_path):
    indptr, indices = skewed
    degree = np.diff(indptr)
    found = watched(plan_of(make_graph(indptr, indices), tmp_path, **parts(4)))["sampled_degrees"]
    assert found["looked_at"] == 4
    assert found["mean"]["batches"] == found["mean"]["graph"] == pytest.approx(degree.mean())
    assert found["mean"]["edges"] == pytest.approx((degree**2).sum() / degree.sum())
    assert found["distance"]["graph"] == 0.0
    assert found["top_share"]["batches"] == found["top_share"]["graph"] <= 0.01
    assert found["histogram"]["graph"][:3] == pytest.approx(
        [(degree == 0).mean(), (degree == 1).mean(), ((degree == 2) | (degree == 3)).mean()]
    )


def test_sampled_nodes_lie_between_the_graph_and_its_edges(skewed, make_graph, tmp_path):
    source, target = skewed[1], np.repeat(np.arange(2000), np.diff(skewed[0]))
    both = np.concatenate([source, target]), np.concatenate([target, source])
    order = np.lexsort(both)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(both[1], minlength=2000))])
    found = watched(plan_of(make_graph(indptr, both[0][order].astype(np.int32)), tmp_path))["sampled_degrees"]
    assert found["mean"]["graph"] < found["mean"]["batches"] < found["mean"]["edges"]


def test_powers_of_two():
    counts = np.bincount([0, 0, 1, 2, 3, 3, 4, 7, 8, 8])
    assert by_powers_of_two(counts) == pytest.approx([0.2, 0.1, 0.3, 0.2, 0.2])
    assert by_powers_of_two(np.zeros(0, np.int64)).tolist() == []


def test_the_top_is_at_most_one_node_in_a_hundred():
    assert first_of_the_top(np.bincount([*[1] * 99, 50])) == 2  # one of 100 nodes
    assert first_of_the_top(np.bincount([3] * 100)) == 4  # all alike: none


# Neighbours over all batches


def test_edges_that_are_none_of_the_graph_or_come_too_often():
    rows = Rows(np.array([0, 1]), np.array([0, 0, 0, 1]), np.array([5, 5, 7, 9]))
    assert foreign_edges(rows, np.array([0, 0, 0, 1]), np.array([5, 5, 7, 9])) == 0
    assert foreign_edges(rows, np.array([0, 0, 1]), np.array([7, 7, 5])) == 2


@pytest.mark.parametrize("method", METHODS)
def test_as_many_neighbours_as_expected(skewed, make_graph, tmp_path, method):
    """Exactly, where each node draws by itself: within three standard deviations, far inside the margin."""
    plan = plan_of(make_graph(*skewed), tmp_path, sampling={"fanout": [4, 3], "method": method})
    found = watched(plan)["epoch_sources"]
    assert found["not_in_graph"] == 0
    assert found["edges"] > 2000
    for distinct, expected, margin in zip(found["found"], found["expected"], found["margin"], strict=True):
        least = expected - margin / 2
        assert distinct >= least
        assert method in ("labor", "importance") or distinct <= expected + margin / 2


def star(n: int) -> tuple[np.ndarray, np.ndarray]:
    leaves = np.arange(1, n)
    return np.concatenate([0 * leaves, leaves]), np.concatenate([leaves, 0 * leaves])


def path(n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes = np.arange(n - 1)
    return np.concatenate([nodes, nodes + 1]), np.concatenate([nodes + 1, nodes])


def isolated(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, np.int64), np.zeros(0, np.int64)


def hub(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Everybody listens to two nodes, with repeated edges."""
    nodes = np.repeat(np.arange(n), 6)
    return np.arange(len(nodes)) % min(n, 2), nodes


def complete(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(n), n), np.tile(np.arange(n), n)


def zipf(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.zipf(1.5, 8 * n) % n, rng.zipf(1.3, 8 * n) % n


@given(
    shape=st.sampled_from([star, path, isolated, hub, complete, zipf]),
    nodes=st.integers(1, 60),
    share=st.floats(0.0, 1.0),
    batch_size=st.sampled_from([1, 3, 64]),
    options=st.one_of(
        st.builds(
            lambda method, fanout: {"sampling": {"method": method, "fanout": fanout}},
            st.sampled_from(METHODS),
            st.lists(st.integers(1, 6), min_size=2, max_size=2),
        ),
        st.just(parts(1)),
        st.builds(parts, st.integers(1, 9), st.integers(1, 3)),
        st.just({"batching": "full"}),
    ),
    seed=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_no_alarm_on_odd_but_honest_graphs(
    make_graph: Callable[..., Graph],
    make_csr: Callable[..., tuple[np.ndarray, np.ndarray]],
    tmp_path_factory: pytest.TempPathFactory,
    shape: Callable[[int], tuple[np.ndarray, np.ndarray]],
    nodes: int,
    share: float,
    batch_size: int,
    options: dict,
    seed: int,
):
    train = np.random.default_rng(seed).permutation(nodes)[: max(1, round(share * nodes))]
    graph = make_graph(*make_csr(nodes, *shape(nodes)), train=np.sort(train))
    graph = replace(graph, meta=graph.meta.model_copy(update={"duplicate_edges": 1}))
    cache = tmp_path_factory.mktemp("partitions")
    assert faults(plan_of(graph, cache, batch_size, seed, **options), epochs=2) == []
