"""A run whose counters do not show an option is refused, and the message names the option."""

from __future__ import annotations

from typing import Any

import pytest

from harness.runs.proof import ToggleNotProven, prove
from harness.spec.options import Model, Options

SAGE = Model(conv="sage", layers=2)
PARTS = {"method": "metis", "parts": 8}


def _counters(**changes: Any) -> dict[str, Any]:
    """Those of a run with the default options on 100 nodes."""
    return {
        "batching": "neighbor",
        "sampling_method": "uniform",
        "fanout": [25, 10],
        "draws": {"drawn": [900, 4000], "due": [900, 4000]},
        "resampled": {"choices": 100, "equal": False},
        "cache_recount": {"hits": 0, "due": 0},
        "nodes": 700,
        "feature_home": "host",
        "cache_nodes": 0,
        "cache_hits": 0,
        "fetched_bytes": 4000,
        "num_nodes": 100,
        "epochs": 3,
        "batches": 9,
        "aggregation_calls": {"scatter": 18},
        "aggregation_dtype": ["float32", "float32"],
        "linear_dtype": ["float32"],
        "backward_passes": 9,
        "loss_scale": None,
        "checkpoint_recomputations": 0,
        **changes,
    }


def _options(**changes: Any) -> Options:
    return Options.model_validate(changes)


def test_a_run_as_asked_is_proven():
    prove(_options(), SAGE, _counters())


@pytest.mark.parametrize(
    ("options", "counters", "names"),
    [
        ({}, {"batching": "full"}, "batching"),
        ({"sampling": {"fanout": [5, 5]}}, {}, "sampling.fanout"),
        ({}, {"draws": {"drawn": [900, 3999], "due": [900, 4000]}}, "sampling.fanout is 10 in hop 2"),
        ({}, {"resampled": {"choices": 100, "equal": True}}, "sampling.method is uniform"),
        ({"sampling": {"method": "fixed"}}, {"sampling_method": "fixed"}, "sampling.method is fixed, but two epochs"),
        ({"batching": "full"}, {"batching": "full", "batches": 3, "nodes": 299}, "batching full"),
        ({"sampling": {"method": "fixed"}}, {}, "sampling.method"),
        ({"features": {"home": "disk"}}, {}, "features.home"),
        ({"features": {"cache_ratio": 0.3}}, {}, "features.cache_ratio"),
        ({"features": {"cache_ratio": 1.0}}, {"cache_nodes": 100}, "features.cache_ratio"),
        (
            {"features": {"cache_ratio": 0.3}},
            {"cache_nodes": 30, "cache_hits": 9, "cache_recount": {"hits": 9, "due": 12}},
            "features.cache_ratio",
        ),
        ({"features": {"cache_ratio": 0.001}}, {}, "too little to cache"),
        ({}, {"cache_hits": 3}, "features.cache_ratio"),
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
    ],
)
def test_an_option_that_did_nothing_is_named(options, counters, names):
    with pytest.raises(ToggleNotProven, match=names):
        prove(_options(**options), SAGE, _counters(**counters))


@pytest.mark.parametrize(
    ("counters", "names"),
    [
        ({"partition": PARTS | {"method": "random"}}, "partition.method"),
        ({"partition": PARTS | {"parts": 4}}, "partition.parts"),
        ({"parts_found": 9}, "nodes lie in 9 parts"),
        ({"parts_found": 7}, "nodes lie in 7 parts"),
        ({"per_batch": 1}, "partition.per_batch"),
        ({"parts_joined": 1}, "at most 1 parts were joined"),
        ({"batches": 9}, "4 batches an epoch"),
    ],
)
def test_clusters_without_their_parts_are_named(counters, names):
    options = _options(batching="cluster", partition={"method": "metis", "parts": 8, "per_batch": 2})
    right = {"batching": "cluster", "partition": PARTS, "parts_found": 8, "part_sizes": [11, 14], "per_batch": 2}
    right |= {"parts_joined": 2, "batches": 12}
    prove(options, SAGE, _counters(**right))
    with pytest.raises(ToggleNotProven, match=names):
        prove(options, SAGE, _counters(**(right | counters)))


def test_random_parts_are_even():
    options = _options(batching="cluster", partition={"method": "random", "parts": 8, "per_batch": 2})
    found = {"batching": "cluster", "partition": PARTS | {"method": "random"}, "parts_found": 8, "per_batch": 2}
    found |= {"parts_joined": 2, "batches": 12}
    prove(options, SAGE, _counters(**found, part_sizes=[12, 13]))
    with pytest.raises(ToggleNotProven, match="deals evenly"):
        prove(options, SAGE, _counters(**found, part_sizes=[11, 14]))


def test_all_faults_are_told_at_once():
    with pytest.raises(ToggleNotProven) as caught:
        prove(_options(checkpointing=True, aggregation="spmm", precision="bf16"), SAGE, _counters())
    assert all(word in str(caught.value) for word in ("checkpointing", "aggregation", "precision"))
