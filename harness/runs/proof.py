"""Was each option really on? A toggle that does nothing is a benchmark's worst defect, so every run checks itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.spec.options import Model, Options


class ToggleNotProven(AssertionError):
    """An option was asked for and what was counted does not show it: a fault of the engine, not of the spec."""


def prove(options: Options, model: Model, counters: dict[str, Any]) -> None:
    """Compare what was asked with what was counted.

    Args:
        counters: as documented in docs/counters.md; those of what was observed, not those that repeat the options.

    Raises:
        ToggleNotProven: names every option without proof, with the counters that speak against it.
    """
    faults = [*_batching(options, counters), *_features(options, counters), *_compute(options, model, counters)]
    if faults:
        raise ToggleNotProven("; ".join(faults))


def _batching(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from _equal("batching", options.batching, counters["batching"])
    if options.batching == "neighbor":
        yield from _equal("sampling.method", options.sampling.method, counters["sampling_method"])
        yield from _equal("sampling.fanout", list(options.sampling.fanout), counters["fanout"])
        for hop, (asked, drawn) in enumerate(zip(options.sampling.fanout, counters["fanout_mean"], strict=True), 1):
            if asked >= 0 and drawn > asked:
                yield f"sampling.fanout is {asked} in hop {hop}, but {drawn:.2f} neighbours a node were drawn"
    if options.batching == "cluster":
        partition = counters["partition"]
        yield from _equal("partition.method", options.partition.method, partition["method"])
        yield from _equal("partition.parts", options.partition.parts, partition["parts"])
        yield from _equal("partition.per_batch", options.partition.per_batch, counters["per_batch"])
        batches = -(-partition["non_empty_parts"] // options.partition.per_batch)
        if counters["batches"] != batches * counters["epochs"]:
            yield (
                f"batching cluster: {partition['non_empty_parts']} parts, {options.partition.per_batch} a batch, are "
                f"{batches} batches an epoch, but {counters['batches']} were used in {counters['epochs']} epochs"
            )


def _features(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from _equal("features.home", options.features.home, counters["feature_home"])
    ratio, cached = options.features.cache_ratio, counters["cache_nodes"]
    expected = round(ratio * counters["num_nodes"])
    if cached != expected:
        yield f"features.cache_ratio is {ratio}, i.e. {expected} nodes, but {cached} were cached"
    if ratio and not cached:
        yield f"features.cache_ratio is {ratio}, too little to cache a single one of {counters['num_nodes']} nodes"
    if counters["cache_hits"] and not cached:
        yield f"features.cache_ratio is {ratio}, but {counters['cache_hits']} rows came from a cache"
    if ratio == 1.0 and counters["fetched_bytes"]:
        yield f"features.cache_ratio is 1, but {counters['fetched_bytes']} bytes came from the slow home"


def _compute(options: Options, model: Model, counters: dict[str, Any]) -> Iterator[str]:
    yield from _equal("aggregation", [_implementation(options, model)], sorted(counters["aggregation_calls"]))
    expected = message_dtype(options.precision)
    dtypes = counters["aggregation_dtype"]
    if set(dtypes) - {expected} or (model.conv is not None and len(dtypes) != model.layers):
        yield f"precision {options.precision} aggregates in {expected} in each layer, but it was {dtypes}"
    scaled = counters["loss_scale"] is not None
    if scaled != options.precision.startswith("fp16"):
        yield f"precision {options.precision}: the loss was {'' if scaled else 'not '}scaled"
    recomputed = counters["checkpoint_recomputations"]
    if options.checkpointing != (recomputed > 0):
        yield f"checkpointing is {options.checkpointing}, but {recomputed} layers were computed again"


def message_dtype(precision: str) -> str:
    """Dtype in which messages are summed, by torch's name."""
    return {"fp16": "float16", "bf16": "bfloat16"}.get(precision, "float32")


def _implementation(options: Options, model: Model) -> str:
    return options.aggregation if model.conv is not None else "own"


def _equal(path: str, asked: Any, found: Any) -> Iterator[str]:
    if asked != found:
        yield f"{path} is {asked}, but the run had {found}"
