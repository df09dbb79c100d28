"""A toggle broken inside the engine ends the run: the proof looks at what was done, not at what was asked."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches import budget, clusters, epochs, plans
from harness.batches.features import choose as stores
from harness.batches.features import store as features
from harness.batches.observed.epoch_watch import EpochWatch
from harness.batches.sampling import choose as samplers
from harness.batches.sampling import numba_sampler
from harness.graphs.partitioning import cache as cache_of_partitions
from harness.graphs.partitioning import streaming
from harness.graphs.partitioning.methods import random_parts
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.models import aggregation, input_dropout, jumping, network, retained
from harness.models.precision import update
from harness.runs import execute as execution
from harness.runs import train
from harness.runs.accumulation import Gathering
from harness.runs.determinism import use_deterministic_algorithms
from harness.runs.execute import execute
from harness.runs.failure import failure_of
from harness.runs.proof import ToggleNotProven
from harness.runs.request import RunRequest
from harness.spec.dataset import Files, Split, Synthetic
from harness.spec.options import Model, Options, Training


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        section = Synthetic(source="synthetic", nodes=300, mean_degree=9.0, classes=3, features=6, split=split)
        yield prepare(section, "graph", ".")


@pytest.fixture(scope="module")
def directed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """300 nodes; a few are sources of most edges, and others their targets."""
    rng = np.random.default_rng(0)
    source, target = rng.zipf(1.5, 3000) % 300, 299 - rng.zipf(1.5, 3000) % 300
    with _prepared(tmp_path_factory.mktemp("directed"), source, target, 300, rng) as graph:
        yield graph


@contextmanager
def _prepared(
    folder: Path, source: np.ndarray, target: np.ndarray, nodes: int, rng: np.random.Generator
) -> Iterator[Path]:
    """A graph of these edges, with features of noise and three classes, in a cache of its own."""
    x, y = rng.standard_normal((nodes, 6)).astype(np.float32), np.arange(nodes) % 3
    np.savez(folder / "g.npz", edge_index=np.stack([source, target]), x=x, y=y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        split = Split(kind="random", train=0.5, val=0.25)
        yield prepare(Files(source="files", path="g.npz", split=split), "g", folder)


def _run(
    graph: Path, batch_size: int = 64, purpose: str = "quality", training=None, model: dict | None = None, **options
) -> None:
    threads = torch.get_num_threads()
    settings = Training(**{"epochs": 1, "batch_size": batch_size} | (training or {}))
    try:
        execute(
            RunRequest(
                run_id="r", cell_id="c", purpose=purpose, seed=0,
                model=Model.model_validate({"conv": "sage", "hidden": 8, "layers": 2, **(model or {})}),
                training=settings, graph_path=str(graph), spec_dir=str(graph),
                options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **options}), threads=1, device="cpu",
                warmup_epochs=1, timed_epochs=1,
            ),
            lambda phase: None,
        )  # fmt: skip
    finally:
        torch.set_num_threads(threads)
        use_deterministic_algorithms(False)


CLUSTER = {"batching": "cluster", "partition": {"method": "random", "parts": 8, "per_batch": 2}}


def _sampler(**changed):
    """A sampler that says what was asked for, and draws something else."""
    real = samplers.NeighborSampler

    class Broken(real):
        def __init__(self, indptr, indices, fanout, method, *rest, **named):
            drawn = {"fanout": fanout, "method": method} | changed
            if drawn["method"] != "importance":
                named |= {"weights": None, "reweight": False}
            super().__init__(indptr, indices, drawn.pop("fanout"), drawn.pop("method"), *rest, **named | drawn)
            self.drawn, self.said = (self.fanout, self.method), (fanout, method)
            self.fanout, self.method = self.said

        def sample(self, *arguments, **named):
            self.fanout, self.method = self.drawn
            try:
                return super().sample(*arguments, **named)
            finally:
                self.fanout, self.method = self.said

    return Broken


def _sampled(method: str, **more) -> dict:
    return {"sampling": {"fanout": [4, 3], "method": method, **more}}


@pytest.mark.parametrize(
    ("options", "changed", "named"),
    [
        ({}, {"fanout": (3, 3)}, "sampling.fanout is 4 in hop 1"),
        ({}, {"method": "fixed"}, "sampling.method is uniform"),
        ({}, {"method": "importance"}, "uniform, but neighbours were preferred by their degree"),
        ({}, {"method": "labor"}, "uniform, but the nodes of a hop shared their draws"),
        ({}, {"method": "degree-stratified"}, "degrees make"),
        (_sampled("fixed"), {"method": "uniform"}, "sampling.method is fixed"),
        (_sampled("labor"), {"method": "uniform"}, "labor, but the nodes of a hop did not share their draws"),
        (_sampled("labor"), {"method": "fixed"}, "did not share their draws"),
        (_sampled("degree-stratified"), {"method": "uniform"}, "degrees make"),
        (_sampled("degree-stratified"), {"method": "fixed"}, "degrees make"),
        (_sampled("importance"), {"method": "uniform"}, "neighbours of large weight were not preferred"),
        (_sampled("importance", weights="pagerank"), {"method": "labor"}, "of large weight were not preferred|same"),
        (_sampled("importance", reweight=True), {"reweight": False}, "sampling.reweight is True"),
        (_sampled("importance"), {"reweight": True}, "sampling.reweight is False"),
    ],
)
def test_a_sampler_that_draws_something_else(graph, monkeypatch, options, changed, named):
    _run(graph, **options)
    monkeypatch.setattr(samplers, "NeighborSampler", _sampler(**changed))
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, **options)


@pytest.mark.parametrize("asked", ["degree", "pagerank"])
def test_weights_other_than_asked(graph, monkeypatch, asked):
    weights, other = samplers.importance_weights, {"degree": "pagerank", "pagerank": "degree"}[asked]
    monkeypatch.setattr(samplers, "importance_weights", lambda of, _, folder: weights(of, other, folder))
    with pytest.raises(ToggleNotProven, match=f"sampling.weights is {asked}"):
        _run(graph, **_sampled("importance", weights=asked))


@pytest.mark.parametrize("share", ["equal", "by degree"])
def test_weights_that_add_up_as_pagerank_does(graph, monkeypatch, share):
    """Equal ones would draw uniformly under the name of PageRank."""
    asked = _sampled("importance", weights="pagerank")
    _run(graph, **asked)
    weights = np.ones(300) if share == "equal" else np.bincount(open_graph(graph).indices, minlength=300)
    monkeypatch.setattr(samplers, "importance_weights", lambda *_: weights / weights.sum())
    with pytest.raises(ToggleNotProven, match="do not solve its equation"):
        _run(graph, **asked)


def test_weights_other_than_those_of_the_file(graph, monkeypatch, tmp_path):
    np.save(tmp_path / "w.npy", np.arange(300) + 1.0)
    asked = _sampled("importance", weights=str(tmp_path / "w.npy"))
    _run(graph, **asked)
    weights = samplers.importance_weights
    monkeypatch.setattr(samplers, "importance_weights", lambda of, _, folder: weights(of, "degree", folder))
    with pytest.raises(ToggleNotProven, match=r"sampling\.weights is .*w\.npy, .* but the sampler held others"):
        _run(graph, **asked)


@pytest.mark.parametrize(
    ("weight", "named"),
    [
        (lambda r: np.ones_like(r), "had weights other than 1"),
        (lambda r: 2 * r, "do not undo the preference"),
        (lambda r: 1 / r, "do not undo the preference"),
    ],
)
def test_weights_of_edges_that_undo_nothing(graph, monkeypatch, weight, named):
    real = samplers.NeighborSampler

    class Broken(real):
        def _draw(self, nodes, ends, key, out, edge_weight):
            super()._draw(nodes, ends, key, out, edge_weight)
            edge_weight[:] = weight(edge_weight)

    _run(graph, **_sampled("importance", reweight=True))
    monkeypatch.setattr(samplers, "NeighborSampler", Broken)
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, **_sampled("importance", reweight=True))


@pytest.mark.parametrize(("lacking", "same"), [("epoch", "epochs"), ("batch", "batches")])
@pytest.mark.parametrize("method", ["uniform", "importance", "labor"])
def test_draws_whose_key_lacks_a_number(graph, monkeypatch, method, lacking, same):
    keys = numba_sampler.hop_keys
    monkeypatch.setattr(
        numba_sampler,
        "hop_keys",
        lambda method, seed, hops, epoch, batch: keys(
            method, seed, hops, *((0, batch) if lacking == "epoch" else (epoch, 0))
        ),
    )
    with pytest.raises(ToggleNotProven, match=f"but two {same} drew the same neighbours"):
        _run(graph, **_sampled(method))


LOADER = {"loader": {"threads": 2, "depth": 3}}


def test_a_loader_without_threads(graph, monkeypatch):
    _run(graph, **LOADER)
    prefetch = epochs.prefetch
    monkeypatch.setattr(epochs, "prefetch", lambda makers, threads=0, *rest: prefetch(makers, 0, *rest))
    with pytest.raises(ToggleNotProven, match=r"loader\.threads is 2, but 0 of 3 batches were made on another thread"):
        _run(graph, **LOADER)


def test_a_loader_that_runs_too_far_ahead(graph, monkeypatch):
    def all_at_once(makers, threads, depth, watch):
        with ThreadPoolExecutor(threads) as pool:
            items = [pool.submit(make).result() for make in makers]
        for item in items:
            watch.take()
            yield item

    monkeypatch.setattr(epochs, "prefetch", all_at_once)
    with pytest.raises(ToggleNotProven, match="at most 2 batches ahead, but there were 3"):
        _run(graph, loader={"threads": 1, "depth": 2})


@pytest.mark.parametrize(
    ("threads", "depth", "named"),
    [
        (1, 8, r"loader\.threads is 4, but the run had 1"),
        (4, 1, r"loader\.depth is 8: 8 batches are begun"),
        (1, 1, r"loader\.threads is 4.*loader\.depth is 8"),
    ],
)
def test_a_loader_of_another_size(graph, monkeypatch, threads, depth, named):
    asked = {"loader": {"threads": 4, "depth": 8}}
    _run(graph, batch_size=15, **asked)
    prefetch = epochs.prefetch
    monkeypatch.setattr(
        epochs, "prefetch", lambda makers, t=0, d=2, *rest: prefetch(makers, min(t, threads), min(d, depth), *rest)
    )
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, batch_size=15, **asked)


@pytest.mark.parametrize("asked", [True, False])
def test_algorithms_of_the_other_kind(graph, monkeypatch, asked):
    _run(graph, deterministic=asked)
    monkeypatch.setattr(execution, "use_deterministic_algorithms", lambda on: use_deterministic_algorithms(not on))
    with pytest.raises(ToggleNotProven, match=f"deterministic is {asked}, but the run had {not asked}"):
        _run(graph, deterministic=asked)


BUDGET = 100_000


def test_a_budget_that_lets_too_much_in(graph, monkeypatch):
    _run(graph, **_sampled("uniform", node_edge_budget=BUDGET))
    monkeypatch.setattr(budget.BudgetedEpoch, "_fits", lambda self, batch: budget.node_edges(batch) <= 2 * BUDGET)
    with pytest.raises(ToggleNotProven, match="batches of several seeds are larger"):
        _run(graph, **_sampled("uniform", node_edge_budget=BUDGET))


def test_a_budget_that_closes_batches_early(graph, monkeypatch):
    monkeypatch.setattr(budget.BudgetedEpoch, "_fits", lambda self, batch: budget.node_edges(batch) <= BUDGET / 2)
    with pytest.raises(ToggleNotProven, match="would have been within it with more seeds"):
        _run(graph, **_sampled("uniform", node_edge_budget=BUDGET))


def test_a_budget_that_nothing_keeps_to(graph, monkeypatch):
    batches = samplers.NeighborBatches
    monkeypatch.setattr(
        samplers, "NeighborBatches", lambda *a, node_edge_budget, **named: batches(*a, node_edge_budget=None, **named)
    )
    with pytest.raises(ToggleNotProven, match="node_edge_budget is 100000, but the run had none"):
        _run(graph, **_sampled("uniform", node_edge_budget=BUDGET))


def test_seeds_that_are_lost(graph, monkeypatch):
    lost = samplers.NeighborBatches.batch
    monkeypatch.setattr(samplers.NeighborBatches, "batch", lambda self, epoch, index: lost(self, epoch, 0))
    with pytest.raises(ToggleNotProven, match="not the training nodes, each once"):
        _run(graph)


POLICIES = ["degree", "presample", "optimal"]


def _cache(policy: str, **size) -> dict:
    return {"features": {"policy": policy, **(size or {"cache_ratio": 0.3})}}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("purpose", ["quality", "timing"])
def test_a_cache_that_keeps_the_wrong_nodes(graph, monkeypatch, policy, purpose):
    """In a timing run the warm-up tells; what is counted after it are sums."""
    _run(graph, purpose=purpose, **_cache(policy))
    highest = stores.highest

    def lowest(scores, count, free):
        chosen = highest(replace(scores, score=-scores.score), count, free)
        return replace(chosen, scores=scores)

    monkeypatch.setattr(stores, "highest", lowest)
    with pytest.raises(ToggleNotProven, match=rf"features\.policy is {policy}"):
        _run(graph, purpose=purpose, **_cache(policy))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_store_that_forgets_its_cache(graph, monkeypatch, policy):
    filled = features.FeatureStore._filled

    def forgotten(self, cache):
        rows, slot = filled(self, cache)
        slot[:] = -1
        return rows, slot

    monkeypatch.setattr(features.FeatureStore, "_filled", forgotten)
    with pytest.raises(ToggleNotProven, match="due from the cache, but 0 came from it"):
        _run(graph, **_cache(policy))


@pytest.mark.parametrize("policy", ["presample", "optimal"])
@pytest.mark.parametrize("admits", [True, False])
def test_a_store_that_orders_by_degree_whatever_it_is_asked(graph, monkeypatch, policy, admits):
    """Also where it says that it did as asked, and counted the right batches."""
    scored = stores._scores

    def by_degree(of, options, batches, epochs):
        degree = stores.by_degree(of.indices, of.num_nodes)
        return degree if admits else replace(scored(of, options, batches, epochs), score=degree.score)

    monkeypatch.setattr(stores, "_scores", by_degree)
    with pytest.raises(ToggleNotProven, match=rf"features\.policy is {policy}"):
        _run(graph, **_cache(policy))


@pytest.mark.parametrize("wrong", ["permuted", "in-degree"])
def test_degrees_of_other_nodes(directed, monkeypatch, wrong):
    """Their sum is right: there are as many edges."""
    _run(directed, **_cache("degree"))
    indptr, by_degree = np.array(open_graph(directed).indptr), stores.by_degree

    def other(indices, num_nodes):
        scores = by_degree(indices, num_nodes)
        permuted = np.random.default_rng(0).permutation(scores.score)
        return replace(scores, score=permuted if wrong == "permuted" else np.diff(indptr))

    monkeypatch.setattr(stores, "by_degree", other)
    with pytest.raises(ToggleNotProven, match=r"features\.policy is degree: of 90 cached nodes .* of highest degree"):
        _run(directed, **_cache("degree"))


def test_a_hindsight_of_other_epochs(graph, monkeypatch):
    hindsight = stores.by_hindsight
    monkeypatch.setattr(stores, "by_hindsight", lambda replay, *rest: hindsight(lambda e: replay(e + 7), *rest))
    with pytest.raises(ToggleNotProven, match=r"features\.policy is optimal"):
        _run(graph, **_cache("optimal"))


def test_a_presampling_that_looks_into_the_future(graph, monkeypatch):
    presampling = stores.by_presampling
    monkeypatch.setattr(stores, "by_presampling", lambda replay, *rest: presampling(lambda e: replay(-e), *rest))
    with pytest.raises(ToggleNotProven, match="epoch 2 is one that trainings have"):
        _run(graph, **_cache("presample"))


def test_a_presampling_of_fewer_epochs(graph, monkeypatch):
    presampling = stores.by_presampling
    monkeypatch.setattr(stores, "by_presampling", lambda replay, epochs, n: presampling(replay, 1, n))
    with pytest.raises(ToggleNotProven, match=r"features\.presample_epochs is 2"):
        _run(graph, **_cache("presample"))


@pytest.mark.parametrize("size", [{"cache_bytes": 2400}, {"cache_bytes": "auto"}])
def test_a_cache_of_another_size(graph, monkeypatch, size):
    _run(graph, **_cache("degree", **size))
    asked = stores.cache_size
    monkeypatch.setattr(stores, "cache_size", lambda *a: replace(asked(*a), nodes=asked(*a).nodes - 1))
    with pytest.raises(ToggleNotProven, match=r"features\.cache_bytes is"):
        _run(graph, **_cache("degree", **size))


@pytest.mark.parametrize(("asked", "made"), [("fp16-features", "float32"), ("fp32", "float16")])
def test_rows_of_another_dtype(graph, monkeypatch, asked, made):
    _run(graph, precision=asked)
    store = features.FeatureStore
    monkeypatch.setattr(stores, "FeatureStore", lambda x, **named: store(x, **named | {"half": made == "float16"}))
    with pytest.raises(ToggleNotProven, match=f"precision is {asked}, .* but they were stored in {made}"):
        _run(graph, precision=asked)


@pytest.mark.parametrize("home", ["disk", "device"])
def test_rows_that_lie_elsewhere(graph, monkeypatch, home):
    _run(graph, features={"home": home})
    store, other = features.FeatureStore, {"disk": "host", "device": "disk"}[home]
    monkeypatch.setattr(stores, "FeatureStore", lambda x, **named: store(x, **named | {"home": other}))
    with pytest.raises(ToggleNotProven, match=r"features\.home is"):
        _run(graph, features={"home": home})


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (lambda part: part // 2, "nodes lie in 4 parts"),
        (lambda part: np.where(np.arange(len(part)) < 10, 0, part), "deals evenly"),
    ],
)
def test_parts_other_than_asked(graph, monkeypatch, broken, named):
    _run(graph, **CLUSTER)
    cached = plans.cached_partition

    def other(*arguments):
        part, report = cached(*arguments)
        return broken(part), report

    monkeypatch.setattr(plans, "cached_partition", other)
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, **CLUSTER)


def test_batches_of_fewer_parts(graph, monkeypatch):
    batch = clusters.ClusterBatches.batch

    def fewer(self, epoch, index):
        made = batch(self, epoch, index)
        return replace(made, stats=made.stats | {"parts": 1})

    monkeypatch.setattr(clusters.ClusterBatches, "batch", fewer)
    with pytest.raises(ToggleNotProven, match="at most 1 parts were joined"):
        _run(graph, **CLUSTER)


def _parts_by(method: str) -> dict:
    return {"batching": "cluster", "partition": {"method": method, "parts": 8, "per_batch": 2}}


@pytest.fixture(scope="module")
def communities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """600 nodes in 8 groups with nine edges of ten inside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        section = Synthetic(source="synthetic", nodes=600, mean_degree=10.0, classes=8, homophily=0.9, features=6)
        yield prepare(section, "communities", ".")


@pytest.mark.parametrize("method", ["metis", "fennel", "ldg"])
def test_random_parts_under_another_name(communities, cache, monkeypatch, method):
    _run(communities, **_parts_by(method))
    shutil.rmtree(cache / "partitions")
    monkeypatch.setattr(
        cache_of_partitions, "cut", lambda graph, parts, method, seed, passes: random_parts(600, parts, seed)
    )
    with pytest.raises(ToggleNotProven, match=rf"partition\.method is {method}, but .* as random parts do"):
        _run(communities, **_parts_by(method))


def test_cut_parts_under_the_name_of_random_ones(communities, cache, monkeypatch):
    _run(communities, **_parts_by("random"))
    shutil.rmtree(cache / "partitions")
    monkeypatch.setattr(
        cache_of_partitions, "cut", lambda graph, parts, method, seed, passes: streaming.ldg(graph, parts, seed)
    )
    with pytest.raises(ToggleNotProven, match=r"partition\.method is random, but the parts keep"):
        _run(communities, **_parts_by("random"))


@pytest.mark.parametrize("method", ["metis", "fennel", "ldg"])
def test_batches_of_other_parts_than_reported(communities, cache, monkeypatch, method):
    _run(communities, **_parts_by(method))
    cached = plans.cached_partition
    monkeypatch.setattr(
        plans,
        "cached_partition",
        lambda graph, parts, *rest: (random_parts(600, parts, 1), cached(graph, parts, *rest)[1]),
    )
    with pytest.raises(ToggleNotProven, match="but the batches made of them kept"):
        _run(communities, **_parts_by(method))


def test_messages_scattered_where_rows_were_to_be_padded(graph, monkeypatch):
    _run(graph, aggregation="dense")
    monkeypatch.setitem(aggregation._SUMS, "dense", aggregation._SUMS["scatter"])
    with pytest.raises(ToggleNotProven, match="aggregation is dense, but rows were not padded"):
        _run(graph, aggregation="dense")


@pytest.mark.parametrize(
    ("training", "full", "named"),
    [
        ({"accumulate": 3}, lambda step: True, "accumulate is 3, but steps had 1 to 1 batches"),
        ({"accumulate": 2}, lambda step: step.batches >= 3, "accumulate is 2, but a step had 3 batches"),
        ({"accumulate_targets": 40}, lambda step: step.batches >= 2, "but a step had 22 labelled nodes"),
        ({"accumulate_targets": 40}, lambda step: step.batches >= 4, "was given one more batch"),
    ],
)
def test_steps_of_another_size(graph, monkeypatch, training, full, named):
    _run(graph, batch_size=16, training=training)
    monkeypatch.setattr(Gathering, "full", property(full))
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, batch_size=16, training=training)


def _clip_before_unscaling(model, optimizer, scaler, clip, **_):
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    scaler.step(optimizer)
    scaler.update()
    return norm


@pytest.mark.parametrize("precision", ["fp32", "fp16-linear"])
@pytest.mark.parametrize("clip", [0.01, 100.0])
def test_steps_that_are_not_clipped_as_asked(graph, monkeypatch, precision, clip):
    training = {"clip": clip, "epochs": 3}
    _run(graph, training=training, precision=precision)
    made = _clip_before_unscaling if precision == "fp16-linear" else partial(_clipped_at, 1.0 / clip)
    monkeypatch.setattr(train, "update", made)
    with pytest.raises(ToggleNotProven, match=rf"training\.clip is {clip:g}, but norms after clipping"):
        _run(graph, training=training, precision=precision)


def _clipped_at(other, model, optimizer, scaler, _, **named):
    return update(model, optimizer, scaler, other, **named)


@pytest.mark.parametrize("name", ["lr", "weight_decay"])
def test_an_optimiser_of_another_setting(graph, monkeypatch, name):
    adam = torch.optim.Adam
    monkeypatch.setattr(torch.optim, "Adam", lambda weights, **given: adam(weights, **given | {name: 0.5}))
    with pytest.raises(ToggleNotProven, match=rf"training\.{name} is"):
        _run(graph)


def test_layers_that_are_not_computed_again(graph, monkeypatch):
    checkpointed = network.checkpointed
    layers = itertools.count()

    def every_other(layer, *inputs, recomputed):
        return layer(*inputs) if next(layers) % 2 else checkpointed(layer, *inputs, recomputed=recomputed)

    asked = {"checkpointing": True, "sampling": {"fanout": [4, 3, 2]}}
    _run(graph, model={"layers": 3}, **asked)
    monkeypatch.setattr(network, "checkpointed", every_other)
    with pytest.raises(ToggleNotProven, match="checkpointing is True"):
        _run(graph, model={"layers": 3}, **asked)


@pytest.mark.parametrize(
    ("model", "part", "broken", "named"),
    [
        ({"norm": "pair"}, "normalisation", lambda norm, width: torch.nn.LayerNorm(width), r"model\.norm is .*pair"),
        ({"norm": "pair"}, "normalisation", lambda norm, width: None, r"model\.norm is .*pair"),
        ({"residual": True}, "_shortcut", lambda *widths: None, r"model\.residual is True"),
        ({"jumping": "max"}, "Jumping", lambda mode, *rest: jumping.Jumping("cat", *rest), r"model\.jumping is .*max"),
    ],
)
def test_a_network_without_a_part(graph, monkeypatch, model, part, broken, named):
    _run(graph, model=model)
    monkeypatch.setattr(network, part, broken)
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, model=model)


@pytest.mark.parametrize(("asked", "share"), [(0.3, 0.5), (0.3, 0.0), (0.0, 0.3)])
def test_another_share_of_the_input_is_dropped(graph, monkeypatch, asked, share):
    model = {"input_dropout": asked}
    _run(graph, model=model)
    monkeypatch.setattr(network, "InputDropout", lambda _: input_dropout.InputDropout(share))
    with pytest.raises(ToggleNotProven, match=rf"model\.input_dropout is {asked:g}, but"):
        _run(graph, model=model)


def test_layers_that_jumping_leaves_out(graph, monkeypatch):
    _run(graph, model={"jumping": "max"})
    monkeypatch.setattr(jumping.Jumping, "__call__", lambda self, outputs: torch.nn.Module.__call__(self, outputs[-1:]))
    with pytest.raises(ToggleNotProven, match=r"model\.jumping is .*max.*'layers': 1"):
        _run(graph, model={"jumping": "max"})


@pytest.mark.parametrize(
    ("asked", "method", "broken", "named"),
    [
        ("layer", "hold", lambda self, output: None, "retain is layer, but 0 outputs of 0 bytes"),
        ("layer", "release", lambda self: None, "retain is layer, but 6 outputs"),
        ("layer", "hold", lambda self, output: self._outputs.__setitem__(slice(None), [output]), "but 1 outputs"),
        ("none", "hold", lambda self, output: self._outputs.append(output), "retain is none, but 2 outputs"),
    ],
)
def test_outputs_held_other_than_asked(graph, monkeypatch, asked, method, broken, named):
    _run(graph, retain=asked)
    monkeypatch.setattr(retained.Retained, method, broken)
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, retain=asked)


@pytest.mark.parametrize(("asked", "done"), [("spmm", "scatter"), ("segment", "spmm"), ("scatter", "segment")])
def test_sums_made_by_another_kernel(graph, monkeypatch, asked, done):
    monkeypatch.setitem(aggregation._SUMS, asked, aggregation._SUMS[done])
    with pytest.raises(ToggleNotProven, match=f"aggregation .*{asked}.*{done}"):
        _run(graph, aggregation=asked)


class _FirstNeighbours(samplers.NeighborSampler):
    """Takes the first neighbours of every node, and never another."""

    def _draw(self, nodes, ends, key, out, edge_weight):
        start = self._from[0][nodes]
        out[:] = np.concatenate([first + np.arange(n) for first, n in zip(start, np.diff(ends), strict=True)])


class _FewNeighbours(samplers.NeighborSampler):
    """Draws anew by whatever the key is, but among the first 12 neighbours alone."""

    def _draw(self, nodes, ends, key, out, edge_weight):
        for node, first, last, end in zip(nodes, self._from[0][nodes], ends, ends[1:], strict=False):
            out[last:end] = first + np.random.default_rng([int(key), int(node)]).permutation(12)[: end - last]


class _SameNeighbours(samplers.NeighborSampler):
    """Gives each batch the neighbours of the first one."""

    def sample(self, seeds, epoch=0, batch=0):
        if not hasattr(self, "first"):
            self.first = np.array(seeds)
        found = super().sample(self.first[: len(seeds)], epoch, batch)
        return replace(found, nodes=np.concatenate([seeds, found.nodes[len(seeds) :]]))


@pytest.fixture(scope="module")
def celebrities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """1,000 nodes that all listen to the same 12, whose ids are the lowest, and to 20 others each."""
    rng = np.random.default_rng(0)
    target = np.repeat(np.arange(12, 1000), 32)
    source = np.concatenate([[*range(12), *rng.choice(np.arange(12, 1000), 20, replace=False)] for _ in range(988)])
    with _prepared(tmp_path_factory.mktemp("celebrities"), source, target, 1000, rng) as graph:
        yield graph


FIFTY_EPOCHS = {"epochs": 50}


@pytest.mark.parametrize(
    ("sampler", "method", "named"),
    [
        (
            _FewNeighbours,
            "uniform",
            r"hold 12 different neighbours in hop 1, where uniform draws .* find \d{3}: .*stuck",
        ),
        (_FewNeighbours, "fixed", r"hold 12 different neighbours in hop 1, where fixed draws .* find \d{3}: .*stuck"),
        (_FewNeighbours, "labor", r"hold 12 different neighbours in hop 1, where labor draws .* find \d{3}: .*stuck"),
        (_SameNeighbours, "uniform", r"of epoch 1: .* edges looked at are none of the graph's"),
    ],
)
@pytest.mark.parametrize("purpose", ["quality", "timing"])
def test_a_sampler_that_is_stuck_ends_the_run_after_one_epoch(
    celebrities, monkeypatch, sampler, method, named, purpose
):
    options, trained = _sampled(method), []
    _run(celebrities, purpose=purpose, **options)
    monkeypatch.setattr(samplers, "NeighborSampler", sampler)
    epoch = train.Trainer.epoch
    monkeypatch.setattr(train.Trainer, "epoch", lambda self, e, clock: trained.append(e) or epoch(self, e, clock))
    with pytest.raises(ToggleNotProven, match=named) as raised:
        _run(celebrities, purpose=purpose, training=FIFTY_EPOCHS, **options)
    assert trained == [1]
    assert failure_of(raised.value).status == "error"


def test_the_first_neighbours_are_found_by_what_is_drawn_again(graph, monkeypatch):
    """Also where no few nodes are everybody's first neighbours."""
    monkeypatch.setattr(samplers, "NeighborSampler", _FirstNeighbours)
    with pytest.raises(ToggleNotProven, match="but two epochs drew the same neighbours"):
        _run(graph, training=FIFTY_EPOCHS)


def test_seeds_that_never_leave_one_block(graph, monkeypatch):
    seeds = samplers.NeighborBatches.batch
    monkeypatch.setattr(samplers.NeighborBatches, "batch", lambda self, epoch, index: seeds(self, 1, 0))
    with pytest.raises(ToggleNotProven, match="epoch 1: only 64 of 150 training nodes were a target"):
        _run(graph, training=FIFTY_EPOCHS)


@pytest.mark.parametrize(
    ("targets", "named"),
    [
        (lambda graph: graph.train[::2], "only 75 of 150 training nodes were a target"),
        (lambda graph: graph.train[graph.y[graph.train] != 2], "training nodes were a target; none was of class 2"),
        (lambda graph: np.sort([*graph.train, *graph.test]), "75 targets of an epoch are no training nodes"),
    ],
)
@pytest.mark.parametrize("batching", ["cluster", "full"])
def test_targets_other_than_the_training_nodes(graph, cache, monkeypatch, batching, targets, named):
    options = CLUSTER if batching == "cluster" else {"batching": "full"}
    _run(graph, **options)
    made = execution.batches_of
    monkeypatch.setattr(
        execution,
        "batches_of",
        lambda of, *rest, **more: _watched_by(of, made(replace(of, train=targets(of)), *rest, **more)),
    )
    with pytest.raises(ToggleNotProven, match=named):
        _run(graph, training=FIFTY_EPOCHS, **options)


def _watched_by(graph, plan):
    """The plan's own idea of the training nodes is wrong; the watch knows the graph's."""
    plan._watch = EpochWatch(graph, plan.num_batches)
    return plan


def test_targets_that_come_twice(graph, monkeypatch):
    batch = plans.FullBatch.batch

    def twice(self, epoch, index):
        found = batch(self, epoch, index)
        return replace(found, targets=np.concatenate([found.targets, found.targets[:7]]))

    monkeypatch.setattr(plans.FullBatch, "batch", twice)
    with pytest.raises(ToggleNotProven, match="7 targets of an epoch had been targets before in it"):
        _run(graph, batching="full")
