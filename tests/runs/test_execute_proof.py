"""A run whose counters do not show an option is refused, and the message names the option."""

from __future__ import annotations

from typing import Any

import pytest

from harness.runs.proof import ToggleNotProven, prove
from harness.spec.options import Model, Options, Training

SAGE = Model(conv="sage", layers=2)
ONCE = Training()  # a step a batch
KEPT = {"kept_edge_share": 0.5, "kept_by_chance": 50.0, "kept_over_random": 4.0}
PARTS = {"method": "metis", "parts": 8, "non_empty_parts": 8, "kept_sigmas": 40.0, "reachable_sigmas": None} | KEPT

ONE = {"min": 1, "mean": 1.0, "max": 1}
ACCUMULATED = {
    "batches": 9,
    "targets": 120,
    "rests": 0,
    "full_batches": ONE,
    "full_targets": {"min": 13, "mean": 13.3, "max": 14},
    "most_before_last": 0,
}


SOURCES = {"edges": 900, "not_in_graph": 0, "found": [90, 95], "expected": [91.0, 95.0], "margin": [15.0, 15.0]}


def _counters(**changes: Any) -> dict[str, Any]:
    """Those of a run with the default options on 100 nodes."""
    return {
        "batching": "neighbor",
        "sampling_method": "uniform",
        "fanout": [25, 10],
        "draws": {"drawn": [900, 4000], "due": [900, 4000]},
        "resampled": {"choices": 100, "equal": {"epochs": False, "batches": False}},
        "sampling_backend": "numba",
        "weight_ranks": {"found": 2.0, "uniform": 0.0, "margin": 6.0, "expected": 0.0, "expected_margin": 6.0},
        "distinct_sources": {"found": 900, "uniform": 905.0, "margin": 9.0, "expected": 905.0, "expected_margin": 9.0},
        "shared_order": None,
        "sampling_weights": None,
        "reweighted": False,
        "train_nodes": 40,
        "train_nodes_seen": [40, 40, 40],
        "targets_repeated": 0,
        "targets_not_train": 0,
        "label_balance": {"classes_without_target": []},
        "epoch_sources": SOURCES,
        "targets": 120,
        "seeds_once": True,
        "loader": {"threads": 0, "threads_used": 0, "submitted": 0, "made_in_background": 0, "most_ahead": 0},
        "nodes": 700,
        "feature_home": "host",
        "feature_device": "cpu",
        "feature_dtype": "float32",
        "feature_row_bytes": 40,
        "cache_nodes": 0,
        "cache_hits": 0,
        "fetched_bytes": 4000,
        "num_nodes": 100,
        "epochs": 3,
        "batches": 9,
        "batches_per_epoch": 3,
        "aggregation_calls": {"scatter": 18},
        "aggregation_dtype": ["float32", "float32"],
        "padding_share": None,
        "linear_dtype": ["float32"],
        "backward_passes": 9,
        "batches_per_step": ONE,
        "accumulated": ACCUMULATED,
        "optimiser": {"lr": ONCE.lr, "weight_decay": 0.0},
        "loss_scale": None,
        "deterministic_algorithms": False,
        "checkpoint_recomputations": 0,
        "norm": ["none", "none"],
        "residual": ["none", "none"],
        "input_dropout": {"batches": 0, "values": 0, "dropped": 0},
        "jumping": {"mode": "none", "layers": 0},
        "retained_bytes": 0,
        "retained_outputs": 0,
        **changes,
    }


LOADED = {"threads": 1, "threads_used": 1, "submitted": 2, "prepared": 9, "made_in_background": 9, "most_ahead": 2}


def _options(**changes: Any) -> Options:
    return Options.model_validate(changes)


def test_a_run_as_asked_is_proven():
    prove(_options(), SAGE, ONCE, _counters())


@pytest.mark.parametrize(
    ("options", "counters", "names"),
    [
        ({}, {"batching": "full"}, "batching"),
        ({"sampling": {"fanout": [5, 5]}}, {}, "sampling.fanout"),
        ({}, {"draws": {"drawn": [900, 3999], "due": [900, 4000]}}, "sampling.fanout is 10 in hop 2"),
        ({}, {"resampled": {"choices": 100, "equal": {"epochs": True, "batches": False}}}, "uniform, but two epochs"),
        ({}, {"resampled": {"choices": 100, "equal": {"epochs": False, "batches": True}}}, "uniform, but two batches"),
        ({"sampling": {"method": "fixed"}}, {"sampling_method": "fixed"}, "sampling.method is fixed, but two epochs"),
        ({"batching": "full"}, {"batching": "full", "batches": 3, "nodes": 299}, "batching full"),
        ({"sampling": {"backend": "torch"}}, {}, "sampling.backend is torch, but the batches were drawn by numba"),
        ({"sampling": {"backend": "torch"}}, {"sampling_backend": "torch on cpu"}, "sampling.backend is torch"),
        ({}, {"sampling_backend": "torch on cuda:0"}, "sampling.backend is numba"),
        ({}, {"reweighted": True}, "sampling.reweight is False, but edges had weights"),
        ({}, {"sampling_weights": {"are_degrees": True}}, "the sampler had weights"),
        ({}, {"seeds_once": False}, "not the training nodes, each once"),
        ({}, {"train_nodes_seen": [40, 39, 40]}, "batches of epoch 2: only 39 of 40 training nodes were a target"),
        ({}, {"targets_repeated": 3}, "3 targets of an epoch had been targets before"),
        ({}, {"targets_not_train": 1}, "1 targets of an epoch are no training nodes"),
        ({}, {"epoch_sources": SOURCES | {"not_in_graph": 2}}, "2 of 900 edges looked at are none of the graph's"),
        ({}, {"epoch_sources": SOURCES | {"found": [75, 95]}}, "hold 75 different neighbours in hop 1, .* find 91"),
        ({}, {"targets": 119}, "119 seeds in 3 epochs of 40 training nodes"),
        ({"sampling": {"node_edge_budget": 9}}, {}, "node_edge_budget is 9, but the run had none"),
        ({"loader": {"threads": 1}}, {}, "loader.threads is 1, but the run had 0"),
        ({"loader": {"threads": 1, "depth": 3}}, {"loader": LOADED}, "3 batches are begun before .* there were 2"),
        ({"loader": {"threads": 1}}, {"loader": LOADED | {"submitted": 1}}, "2 batches are begun before"),
        ({"loader": {"threads": 1}}, {"loader": LOADED | {"threads_used": 2}}, "2 threads made the batches"),
        (
            {},
            {"loader": LOADED | {"threads": 0, "submitted": 0}},
            "threads is 0, but 9 of 9 batches were made on another thread",
        ),
        ({"loader": {"threads": 1}}, {"loader": LOADED | {"made_in_background": 8}}, "but 8 of 9 batches"),
        ({"loader": {"threads": 1}}, {"loader": LOADED | {"most_ahead": 3}}, "at most 2 batches ahead"),
        ({"sampling": {"method": "fixed"}}, {}, "sampling.method"),
        ({"features": {"home": "disk"}}, {}, "features.home"),
        ({"features": {"home": "device"}}, {"feature_device": "cuda"}, "features.home"),
        (
            {"features": {"home": "device"}},
            {"feature_device": "cuda", "feature_home": "device"},
            "4000 bytes came from another home",
        ),
        ({}, {"cache_hits": 3}, "no cache is due"),
        ({"precision": "fp16"}, {"loss_scale": 1.0}, "precision"),
        ({"precision": "fp16"}, {"aggregation_dtype": ["float16"] * 2}, "scaled"),
        ({"precision": "fp16-linear"}, {"aggregation_dtype": ["float16"] * 2, "loss_scale": 1.0}, "precision"),
        ({"precision": "bf16"}, {"aggregation_dtype": ["float32", "bfloat16"]}, "precision"),
        ({}, {"aggregation_dtype": ["float32"]}, "precision"),
        ({"precision": "bf16-linear"}, {}, "linear layers in bfloat16"),
        ({}, {"linear_dtype": ["bfloat16"]}, "linear layers in float32"),
        ({"aggregation": "spmm"}, {}, "aggregation"),
        ({"aggregation": "spmm"}, {"aggregation_calls": {"spmm": 9, "scatter": 9}}, "aggregation"),
        ({"checkpointing": True}, {}, "checkpointing"),
        ({}, {"checkpoint_recomputations": 4}, "checkpointing"),
        ({"deterministic": True}, {}, "deterministic is True, but the run had False"),
        ({}, {"deterministic_algorithms": True}, "deterministic is False, but the run had True"),
        ({"precision": "fp16-features"}, {"loss_scale": 1.0}, "the loss was scaled"),
        ({"precision": "fp16-features"}, {}, "stores features in float16, but they were stored in float32"),
        ({"precision": "fp16"}, {"feature_dtype": "float16"}, "stores features in float32"),
    ],
)
def test_an_option_that_did_nothing_is_named(options, counters, names):
    with pytest.raises(ToggleNotProven, match=names):
        prove(_options(**options), SAGE, ONCE, _counters(**counters))


def test_a_loader_and_a_gpu_as_asked_are_proven():
    prove(_options(loader={"threads": 1}), SAGE, ONCE, _counters(loader=LOADED))
    four = LOADED | {"threads": 4, "most_ahead": 4}  # more than the 3 batches of an epoch, of which each begins
    prove(_options(loader={"threads": 4}), SAGE, ONCE, _counters(loader=four | {"submitted": 3}))
    unknown = _counters(loader=four | {"submitted": 4}, batches_per_epoch=None)
    prove(_options(loader={"threads": 4}), SAGE, ONCE, unknown)
    prove(_options(sampling={"backend": "torch"}), SAGE, ONCE, _counters(sampling_backend="torch on cuda:0"))


# 30 of 100 nodes are cached, and 500 of 700 rows come from there.
CACHED = {
    "cache_nodes": 30,
    "cache_hits": 500,
    "cache_hits_optimal": 510,
    "cache_requests": 900,
    "cache_recount": {"requests": 900, "hits": 500, "due": 500},
    "cache_policy": "degree",
    "cached_by_degree": 30,
    "cache_score": {"sum": 900, "due": 900},
}
ALL_CACHED = CACHED | {"cache_nodes": 100, "cached_by_degree": 100, "fetched_bytes": 0}
SAMPLED = {"epochs": 2, "first_epoch": -2, "last_epoch": -1, "batches": 6, "nodes": 900}
PRESAMPLED = CACHED | {"cache_policy": "presample", "presample": SAMPLED}
REPLAYED = CACHED | {"cache_policy": "optimal", "replay": SAMPLED | {"epochs": 3, "first_epoch": 1, "last_epoch": 3}}
BEST = {"cache_hits": 510, "cache_recount": {"requests": 900, "hits": 510, "due": 510}}


@pytest.mark.parametrize(
    ("features", "right", "wrong", "names"),
    [
        ({"cache_ratio": 0.3}, CACHED, {"cache_nodes": 0}, r"cache_ratio is 0\.3, i\.e\. 30 nodes, but 0"),
        (
            {"cache_ratio": 0.3},
            CACHED,
            {"cache_recount": {"requests": 900, "hits": 500, "due": 501}},
            "501 of the rows",
        ),
        ({"cache_ratio": 0.3}, CACHED, {"cache_recount": {"requests": 0, "hits": 0, "due": 0}}, "none of 900 fetches"),
        ({"cache_ratio": 0.3}, CACHED, {"cached_by_degree": 29}, "of 30 cached nodes 29 are among the 30 of highest"),
        ({"cache_ratio": 0.3}, CACHED, {"cache_hits_optimal": 499}, "more than the 499 of the best"),
        ({"cache_ratio": 0.3}, CACHED, {"cache_score": {"sum": 899, "due": 900}}, "there are 900 edges"),
        ({"cache_ratio": 0.3}, CACHED, {"cache_policy": "presample"}, "features.policy is degree"),
        ({"cache_ratio": 1.0}, ALL_CACHED, {"fetched_bytes": 40}, "40 bytes"),
        ({"cache_bytes": 1239}, CACHED, {"cache_nodes": 31}, "cache_bytes is 1239, i.e. 30 nodes"),
        ({"cache_bytes": 10**9}, ALL_CACHED, {"cache_nodes": 30}, "i.e. 100"),
        ({"cache_bytes": "auto"}, CACHED | {"cache_free_bytes": 2400}, {"cache_free_bytes": 2560}, "i.e. 32 nodes"),
        (
            {"cache_ratio": 0.3, "policy": "presample"},
            PRESAMPLED,
            {"presample": SAMPLED | {"epochs": 1}},
            "presample_epochs is 2",
        ),
        (
            {"cache_ratio": 0.3, "policy": "presample"},
            PRESAMPLED,
            {"presample": SAMPLED | {"last_epoch": 2}},
            "epoch 2 is one that trainings have",
        ),
        (
            {"cache_ratio": 0.3, "policy": "presample"},
            PRESAMPLED,
            {"cache_score": {"sum": 1200, "due": 1200}},
            "not of the batches presampled",
        ),
        ({"cache_ratio": 0.3, "policy": "optimal"}, REPLAYED | BEST, CACHED, "features.policy is optimal"),
        (
            {"cache_ratio": 0.3, "policy": "optimal"},
            REPLAYED | BEST,
            {"cache_hits": 509, "cache_recount": {"requests": 900, "hits": 509, "due": 509}},
            "the best one gives 510",
        ),
        (
            {"cache_ratio": 0.3, "policy": "optimal"},
            REPLAYED | BEST,
            {"cache_requests": 899},
            "900 fetches were replayed in advance, but there were 899",
        ),
    ],
)
def test_a_cache_that_is_not_the_one_asked_for_is_named(features, right, wrong, names):
    options = _options(features=features)
    prove(options, SAGE, ONCE, _counters(**right))
    with pytest.raises(ToggleNotProven, match=names):
        prove(options, SAGE, ONCE, _counters(**(right | wrong)))


def test_a_training_that_stopped_early_is_not_the_one_replayed():
    """The hits of hindsight are the best of the epochs replayed, not of fewer."""
    stopped = _counters(**REPLAYED, epochs=2, targets=80, accumulated=ACCUMULATED | {"targets": 80})
    prove(_options(features={"cache_ratio": 0.3, "policy": "optimal"}), SAGE, ONCE, stopped)


def test_a_timing_run_is_held_to_what_its_warm_up_counted():
    """There the best cache of all epochs need not be the best of a few."""
    counted = {"cache_recount": {"requests": 300, "hits": 160, "due": 160}, "cache_hits_optimal": 165}
    options = _options(features={"cache_ratio": 0.3, "policy": "optimal"})
    prove(options, SAGE, ONCE, _counters(**REPLAYED | counted))
    with pytest.raises(ToggleNotProven, match="160 rows came from the cache, more than the 159"):
        prove(options, SAGE, ONCE, _counters(**REPLAYED | counted | {"cache_hits_optimal": 159}))


def test_without_effect_there_is_no_cache():
    """The full graph and the device's home hold all rows, whatever the baseline says of a cache."""
    full = {"batching": "full", "batches": 7, "nodes": 700}
    prove(_options(batching="full", features={"cache_ratio": 0.3}), SAGE, ONCE, _counters(**full))
    prove(_options(features={"home": "device", "cache_ratio": 0.3}), SAGE, ONCE, _counters())
    with pytest.raises(ToggleNotProven, match="no cache is due"):
        prove(_options(batching="full", features={"cache_ratio": 0.3}), SAGE, ONCE, _counters(**full, **CACHED))


@pytest.mark.parametrize(
    ("counters", "names"),
    [
        ({"partition": PARTS | {"method": "random"}}, "partition.method"),
        ({"partition": PARTS | {"parts": 4}}, "partition.parts"),
        ({"parts_found": 9}, "nodes lie in 9 parts"),
        ({"parts_found": 7}, "8 parts are said to have nodes, but the nodes lie in 7 parts"),
        ({"parts_found": 7, "partition": PARTS | {"non_empty_parts": 7}, "num_nodes": 200}, "lie in 7 parts"),
        ({"per_batch": 1}, "partition.per_batch"),
        ({"parts_joined": 1}, "at most 1 parts were joined"),
        ({"batches": 9}, "4 batches an epoch"),
        ({"partition": PARTS | {"kept_edge_share": 0.6}}, "said to keep 0.6000 of the edges, but .* kept 0.5500"),
        (
            {"partition": PARTS | {"kept_sigmas": 1.0, "reachable_sigmas": 60.0}},
            "4.00 times what random .* more to keep",
        ),
    ],
)
def test_clusters_without_their_parts_are_named(counters, names):
    options = _options(batching="cluster", partition={"method": "metis", "parts": 8, "per_batch": 2})
    right = {"batching": "cluster", "partition": PARTS, "parts_found": 8, "part_sizes": [11, 14], "per_batch": 2}
    right |= {"parts_joined": 2, "batches": 12, "kept_edge_share": 0.55}
    prove(options, SAGE, ONCE, _counters(**right))
    with pytest.raises(ToggleNotProven, match=names):
        prove(options, SAGE, ONCE, _counters(**(right | counters)))


def _parts_of(method: str, changes: dict[str, Any] | None = None, **counters: Any) -> None:
    """Proves a run on 100 nodes in 8 parts, as even as they can be unless said otherwise."""
    options = _options(batching="cluster", partition={"method": method, "parts": 8, "per_batch": 2})
    by_chance = {"method": method, "kept_sigmas": 1.0, "passes": 10 if method == "fennel" else None}
    found = {"batching": "cluster", "partition": PARTS | by_chance | (changes or {}), "parts_found": 8, "per_batch": 2}
    found |= {"parts_joined": 2, "batches": 12, "kept_edge_share": 0.55, "part_sizes": [12, 13]}
    prove(options, SAGE, ONCE, _counters(**(found | counters)))


def test_random_parts_are_even_and_keep_what_chance_gives():
    _parts_of("random")
    with pytest.raises(ToggleNotProven, match="deals evenly"):
        _parts_of("random", part_sizes=[11, 14])
    with pytest.raises(ToggleNotProven, match=r"random, but the parts keep 4\.00 times"):
        _parts_of("random", {"kept_sigmas": 40.0})
    _parts_of("random", {"kept_sigmas": 40.0, "kept_by_chance": 0.5})  # one lucky edge


@pytest.mark.parametrize("method", ["metis", "fennel", "ldg"])
def test_parts_like_random_ones_pass_only_where_nothing_else_can_be_had(method):
    _parts_of(method, {"reachable_sigmas": 3.0})
    _parts_of(method, {"reachable_sigmas": 30.0, "kept_by_chance": 5.0})  # so few that luck decides
    with pytest.raises(ToggleNotProven, match=f"partition.method is {method}.*as random parts do.*more to keep"):
        _parts_of(method, {"reachable_sigmas": 30.0})


def test_streaming_methods_keep_to_their_load_limit_and_passes():
    _parts_of("fennel", part_sizes=[9, 13])
    _parts_of(
        "fennel", {"non_empty_parts": 7}, part_sizes=[12, 15], parts_found=7, num_nodes=110
    )  # seven parts have room for all
    for method, largest in (("fennel", 14), ("ldg", 14)):
        with pytest.raises(ToggleNotProven, match=f"{method}, which puts at most 13 of 100 nodes in one of 8 parts"):
            _parts_of(method, part_sizes=[12, largest])
    with pytest.raises(ToggleNotProven, match=r"partition\.passes is 10, but the run had 3"):
        _parts_of("fennel", {"passes": 3})


def test_all_faults_are_told_at_once():
    with pytest.raises(ToggleNotProven) as caught:
        prove(_options(checkpointing=True, aggregation="spmm", precision="bf16"), SAGE, ONCE, _counters())
    assert all(word in str(caught.value) for word in ("checkpointing", "aggregation", "precision"))


FULL = {"min": 3, "mean": 3.0, "max": 3}
HUNDRED = {"min": 100, "mean": 101.0, "max": 102}


@pytest.mark.parametrize(
    ("training", "accumulated", "names"),
    [
        ({"accumulate": 3}, {"full_batches": FULL | {"min": 2}}, "accumulate is 3, but steps had 2 to 3 batches"),
        ({"accumulate": 2}, {"full_batches": FULL}, "accumulate is 2, but a step had 3 batches"),
        ({"accumulate": 3}, {"batches": 8}, "made of 8 batches"),
        ({"accumulate": 3}, {"targets": 119}, "with 119 labelled nodes, but 9 with 120"),
        ({"accumulate": 3}, {"rests": 4}, "4 steps had less than asked"),
        ({"accumulate_targets": 101}, {}, "accumulate_targets is 101, but a step had 100 labelled nodes"),
        ({"accumulate_targets": 100}, {"most_before_last": 100}, "100 labelled nodes was given one more batch"),
    ],
)
def test_steps_of_another_size_are_named(training, accumulated, names):
    right = ACCUMULATED | {"full_batches": FULL, "full_targets": HUNDRED, "most_before_last": 99}
    right_counters = _counters(batches_per_step=FULL, accumulated=right)
    prove(_options(), SAGE, Training(accumulate=3), right_counters)
    prove(_options(), SAGE, Training(accumulate_targets=100), right_counters)
    with pytest.raises(ToggleNotProven, match=names):
        prove(_options(), SAGE, Training(**training), _counters(batches_per_step=FULL, accumulated=right | accumulated))


def test_dropping_shows_nothing_where_all_features_are_zero():
    """As those of a constant column after scaling: the run is honest, and its batches were looked at."""
    dropping = Model(conv="sage", layers=2, input_dropout=0.3)
    looked = {"batches": 9, "values": 0, "dropped": 0}
    prove(_options(), dropping, ONCE, _counters(input_dropout=looked))
    with pytest.raises(ToggleNotProven, match=r"model\.input_dropout is 0\.3"):
        prove(_options(), dropping, ONCE, _counters())
    with pytest.raises(ToggleNotProven, match=r"model\.input_dropout is 0, "):
        prove(_options(), SAGE, ONCE, _counters(input_dropout=looked))
