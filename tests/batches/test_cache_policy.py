"""Which nodes are cached, and how good that is."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.batch import Batch
from harness.batches.epochs import BatchPlan
from harness.batches.features.cache_policy import (
    Scores,
    by_degree,
    by_hindsight,
    by_presampling,
    first_by_degree,
    highest,
    most_hits,
    must_be_cached,
)
from harness.batches.features.choose import store_of
from harness.batches.plans import batches_of
from harness.graphs.csr import source_degree
from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.spec.dataset import Files, Split
from harness.spec.options import Options, Training

CPU = torch.device("cpu")


def scores_of(score: np.ndarray) -> Scores:
    return Scores("degree", score, int(score.sum()), None, 0.0)


def test_source_degree_counts_sources() -> None:
    assert source_degree(np.array([2, 2, 0], np.int32), 4).tolist() == [1, 0, 2, 0]
    assert source_degree(np.zeros(0, np.int32), 3).tolist() == [0, 0, 0]
    found = by_degree(np.array([2, 2, 0], np.int32), 4)
    assert (found.policy, found.score.tolist(), found.due) == ("degree", [1, 0, 2, 0], 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_the_highest_found_in_two_ways(scores: list[int], data) -> None:
    """By sorting, by a threshold, and by the definition: high scores first, then small ids."""
    score, count = np.array(scores), data.draw(st.integers(0, len(scores)))
    expected = sorted(range(len(scores)), key=lambda v: (-scores[v], v))[:count]
    assert highest(scores_of(score), count).nodes.tolist() == expected
    assert np.flatnonzero(must_be_cached(score, count)).tolist() == sorted(expected)
    assert most_hits(score, count) == sum(sorted(scores, reverse=True)[:count])


@pytest.mark.parametrize("edges", [0, 1, 9, 2**22 + 5])
def test_the_first_by_degree_found_from_the_edges(edges: int) -> None:
    """More edges than are looked at in one piece, too."""
    sources = (np.random.default_rng(0).zipf(1.3, edges) % 40).astype(np.int32)
    chosen = highest(by_degree(sources, 40), 12)
    assert np.flatnonzero(first_by_degree(sources, 40, 12)).tolist() == sorted(chosen.nodes.tolist())


def _options(**changes) -> Options:
    return Options.model_validate(
        {"sampling": {"fanout": [5, 3]}, "partition": {"method": "random", "parts": 40, "per_batch": 3}} | changes
    )


def _plan(graph: Graph, options: Options, folder: Path, batch_size: int = 128) -> BatchPlan:
    return batches_of(graph, options, Training(batch_size=batch_size), 2, 0, cache_dir=folder)


def _fetches(plan: BatchPlan, epochs: range) -> Counter[int]:
    return Counter(v for e in epochs for b in plan.epoch(e) if len(b.targets) for v in b.nodes.tolist())


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
@pytest.mark.parametrize("policy", ["presample", "optimal"])
def test_scores_are_how_often_a_node_was_in_a_batch(skewed, make_graph, tmp_path, batching, policy) -> None:
    """Few training nodes, so that some clusters have none: their features are not fetched and not scored."""
    graph = make_graph(*skewed, train=np.arange(0, 2000, 97))
    plan = _plan(graph, _options(batching=batching), tmp_path)
    by, epochs = (by_presampling, range(-2, 0)) if policy == "presample" else (by_hindsight, range(1, 3))
    found = by(plan.replay, 2, graph.num_nodes)
    assert plan.counters()["batches"] == 0  # what is sampled in advance is not part of the training
    expected = _fetches(plan, epochs)
    assert found.score.tolist() == [expected[v] for v in range(graph.num_nodes)]
    assert found.policy == policy
    made = [b for e in epochs for b in plan.epoch(e) if len(b.targets)]
    nodes = sum(len(b.nodes) for b in made)
    first, last = min(epochs), max(epochs)
    counted = {"epochs": 2, "first_epoch": first, "last_epoch": last, "batches": len(made), "nodes": nodes}
    assert found.sampled == counted
    assert found.due == nodes == found.score.sum()


def _draws(batches) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((b.nodes.tobytes(), b.edges().tobytes()) for b in batches)


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
def test_presampled_epochs_are_none_that_training_has(skewed, make_graph, tmp_path, batching) -> None:
    plan = _plan(make_graph(*skewed), _options(batching=batching), tmp_path)
    asked: list[int] = []

    def replay(epoch: int):
        asked.append(epoch)
        return plan.replay(epoch)

    by_presampling(replay, 3, 2000)
    assert asked == [-1, -2, -3]
    trained = {_draws(plan.replay(epoch)) for epoch in range(1, 30)}
    presampled = {_draws(plan.replay(epoch)) for epoch in asked}
    assert (len(trained), len(presampled)) == (29, 3)
    assert not trained & presampled


def _run(graph: Graph, options: Options, folder: Path, epochs: int, batch_size: int = 128) -> dict:
    """What the store counted when these epochs were fetched."""
    plan = _plan(graph, options, folder, batch_size)
    store = store_of(graph, options, plan, epochs, CPU)
    for epoch in range(1, epochs + 1):
        for batch in plan.epoch(epoch):
            if len(batch.targets):
                store.fetch(batch.nodes)
    return store.counters()


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
@pytest.mark.parametrize("policy", ["degree", "presample", "optimal"])
@pytest.mark.parametrize("ratio", [0.01, 0.3, 1.0])
def test_hits_equal_a_recount(skewed, make_graph, tmp_path, batching, policy, ratio) -> None:
    """From the batches and the definition of each policy alone."""
    graph = make_graph(*skewed)
    features = {"cache_ratio": ratio, "policy": policy, "presample_epochs": 1}
    options = _options(batching=batching, features=features)
    found = _run(graph, options, tmp_path, epochs=2)
    plan, n = _plan(graph, options, tmp_path), graph.num_nodes
    fetches = _fetches(plan, range(1, 3))
    score = {
        "degree": Counter(np.asarray(graph.indices).tolist()),
        "presample": _fetches(plan, range(-1, 0)),
        "optimal": fetches,
    }[policy]
    cached = sorted(range(n), key=lambda v: (-score[v], v))[: round(ratio * n)]
    hits = sum(fetches[v] for v in cached)
    assert found["cache_hits"] == hits
    assert found["cache_requests"] == sum(fetches.values())
    assert found["fetched_bytes"] == (sum(fetches.values()) - hits) * 4 * graph.num_features
    assert found["cache_hits_optimal"] == sum(sorted(fetches.values(), reverse=True)[: len(cached)])
    assert found["cache_score"] == {"sum": sum(score.values()), "due": sum(score.values())}
    if policy == "optimal":
        assert found["cache_hits"] == found["cache_hits_optimal"]


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_no_order_beats_hindsight(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    batches = [np.unique(rng.zipf(1.7, 30) % 40) for _ in range(6)]
    made = [Batch(b, (), np.arange(1), epoch=1, index=i, stats={}) for i, b in enumerate(batches)]
    best, count = by_hindsight(lambda epoch: made, 1, 40), round(share * 40)
    hits = [np.isin(b, highest(best, count).nodes).sum() for b in batches]
    other = [np.isin(b, rng.permutation(40)[:count]).sum() for b in batches]
    assert sum(hits) == most_hits(best.score, count) >= sum(other)


def test_the_costs_of_a_cache_are_told_apart(skewed, make_graph, tmp_path) -> None:
    graph = make_graph(*skewed)
    for policy, sampled in (("degree", None), ("presample", "presample"), ("optimal", "replay")):
        found = _run(graph, _options(features={"cache_ratio": 0.3, "policy": policy}), tmp_path, epochs=1)
        assert found["cache_order_s"] > 0
        assert found["cache_fill_s"] > 0
        assert {"presample", "replay"} & found.keys() == ({sampled} if sampled else set())
    plain = _run(graph, _options(), tmp_path, epochs=1)
    assert not [key for key in plain if key.endswith("_s")]


def test_a_cache_sized_by_bytes(skewed, make_graph, tmp_path) -> None:
    graph = make_graph(*skewed)  # rows of 16 bytes
    found = _run(graph, _options(features={"cache_bytes": 1000}), tmp_path, epochs=1)
    assert (found["cache_nodes"], found["cache_bytes"], found["feature_row_bytes"]) == (62, 992, 16)
    auto = _run(graph, _options(features={"cache_bytes": "auto"}), tmp_path, epochs=1)
    assert auto["cache_nodes"] == graph.num_nodes
    assert auto["cache_free_bytes"] > 2 * graph.x.nbytes


@pytest.mark.parametrize("policy", ["degree", "presample", "optimal"])
def test_every_counter_is_documented(skewed, make_graph, tmp_path, policy) -> None:
    text = (Path(__file__).parents[2] / "docs" / "counters.md").read_text()
    found = _run(make_graph(*skewed), _options(features={"cache_bytes": "auto", "policy": policy}), tmp_path, epochs=1)
    named = {"feature_home" if key == "home" else key for key in found}
    assert [key for key in sorted(named) if f"`{key}`" not in text] == []


@pytest.mark.parametrize("method", ["fixed", "labor", "importance"])
def test_hindsight_is_exact_for_batches_closed_by_a_budget(skewed, make_graph, tmp_path, method) -> None:
    """Epochs then differ in how many batches they have; and for every way of sampling."""
    sampling = {"fanout": [5, 3], "method": method, "node_edge_budget": 2_000_000}
    options = _options(sampling=sampling, features={"cache_ratio": 0.2, "policy": "optimal"})
    found = _run(make_graph(*skewed), options, tmp_path, epochs=2)
    assert found["cache_score"]["sum"] == found["cache_requests"] > 0
    assert found["cache_hits"] == found["cache_hits_optimal"] > 0


@pytest.mark.parametrize("changed", [{"batching": "full"}, {"features": {"home": "device", "cache_ratio": 0.3}}])
def test_where_all_rows_are_on_the_device_there_is_no_cache(skewed, make_graph, tmp_path, changed) -> None:
    options = _options(**({"features": {"cache_ratio": 0.3, "policy": "optimal"}} | changed))
    found = _run(make_graph(*skewed), options, tmp_path, epochs=1)
    assert found["cache_nodes"] == found["cache_hits"] == 0


@pytest.fixture(scope="module")
def debian(real_data, tmp_path_factory) -> Iterator[Graph]:
    archive = real_data / "files" / "debian12_deps.npz"
    if not archive.exists():
        pytest.skip(f"no {archive}")
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(cache))
        split = Split(kind="random", train=0.6, val=0.2)
        section = Files(source="files", path=str(archive), undirected=True, split=split)
        yield open_graph(prepare(section, "debian", "."))
    shutil.rmtree(cache, ignore_errors=True)  # a quarter of a gigabyte


def test_presampling_reaches_most_of_hindsight_on_debian(debian, tmp_path) -> None:
    """At ratios .05 to .5, in the five epochs after it; hits are counted by node, the rows are not needed."""
    plan = _plan(debian, _options(sampling={"fanout": [10, 5]}), tmp_path, batch_size=1024)
    fetches = by_hindsight(plan.replay, 5, debian.num_nodes).score
    order = by_presampling(plan.replay, 2, debian.num_nodes)
    for ratio in (0.05, 0.1, 0.2, 0.3, 0.5):
        count = round(ratio * debian.num_nodes)
        hits = fetches[highest(order, count).nodes].sum()
        assert hits >= 0.87 * most_hits(fetches, count), ratio
