"""Was each option really on? A toggle that does nothing is a benchmark's worst defect, so every run checks itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.spec.options import Model, Options, Partition, Sampling

CHOICES = 32  # that all fall the same way twice: a chance below 2**-32 for uniform sampling
TINY_PART = 8  # nodes


class ToggleNotProven(AssertionError):
    """An option was asked for and what was counted does not show it: a fault of the engine, not of the spec."""


def prove(options: Options, model: Model, counters: dict[str, Any]) -> None:
    """Compare what was asked with what was counted.

    Args:
        counters: as documented in docs/counters.md.

    Raises:
        ToggleNotProven: names every option without proof, with the counters that speak against it.
    """
    faults = [*_batching(options, counters), *_features(options, counters), *_compute(options, model, counters)]
    if faults:
        raise ToggleNotProven("; ".join(faults))


def _batching(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from _equal("batching", options.batching, counters["batching"])
    if options.batching == "neighbor":
        yield from _sampling(options.sampling, counters)
    if options.batching == "full" and counters["nodes"] != counters["batches"] * counters["num_nodes"]:
        yield f"batching full: {counters['batches']} batches held {counters['nodes']} nodes, not all each time"
    if options.batching == "cluster":
        yield from _clusters(options.partition, counters)


def _sampling(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    """What was drawn against the graph's own degrees; two epochs' samples of the same seeds against each other."""
    yield from _equal("sampling.method", asked.method, counters["sampling_method"])
    yield from _equal("sampling.fanout", list(asked.fanout), counters["fanout"])
    draws = counters["draws"]
    for hop, (fanout, drawn, due) in enumerate(zip(asked.fanout, draws["drawn"], draws["due"], strict=True), 1):
        if drawn != due:
            yield f"sampling.fanout is {fanout} in hop {hop}: degrees make {due} neighbours due, {drawn} were drawn"
    again = counters["resampled"]
    if asked.method == "fixed" and not again["equal"]:
        yield "sampling.method is fixed, but two epochs drew other neighbours for the same nodes"
    if asked.method == "uniform" and again["equal"] and again["choices"] >= CHOICES:
        yield f"sampling.method is uniform, but two epochs drew the same neighbours in {again['choices']} choices"


def _clusters(asked: Partition, counters: dict[str, Any]) -> Iterator[str]:
    """The array of parts against what was asked; the batches against the parts."""
    partition, found, (smallest, largest) = counters["partition"], counters["parts_found"], counters["part_sizes"]
    yield from _equal("partition.method", asked.method, partition["method"])
    yield from _equal("partition.parts", asked.parts, partition["parts"])
    yield from _equal("partition.per_batch", asked.per_batch, counters["per_batch"])
    parts = min(asked.parts, counters["num_nodes"])
    tiny = asked.method == "metis" and counters["num_nodes"] < TINY_PART * parts  # METIS leaves some of those empty
    if found > parts or (found < parts and not tiny):
        yield f"partition.parts is {asked.parts}, but the nodes lie in {found} parts"
    if asked.method == "random" and largest - smallest > 1:
        yield f"partition.method is random, which deals evenly, but parts have {smallest} to {largest} nodes"
    joined = min(asked.per_batch, found)
    if counters["batches"] and counters["parts_joined"] != joined:
        yield f"partition.per_batch is {asked.per_batch}, but at most {counters['parts_joined']} parts were joined"
    batches = -(-found // asked.per_batch)
    if counters["batches"] != batches * counters["epochs"]:
        yield (
            f"batching cluster: {found} parts, {asked.per_batch} a batch, are {batches} batches an epoch, but "
            f"{counters['batches']} were used in {counters['epochs']} epochs"
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
    recount = counters["cache_recount"]
    if recount is not None and recount["hits"] != recount["due"]:
        yield (
            f"features.cache_ratio is {ratio}: degrees make {recount['due']} rows of the first batch due from the "
            f"cache, but {recount['hits']} came from it"
        )
    if ratio == 1.0 and counters["fetched_bytes"]:
        yield f"features.cache_ratio is 1, but {counters['fetched_bytes']} bytes came from the slow home"


def _compute(options: Options, model: Model, counters: dict[str, Any]) -> Iterator[str]:
    yield from _equal("aggregation", [_implementation(options, model)], sorted(counters["aggregation_calls"]))
    expected = message_dtype(options.precision)
    dtypes = counters["aggregation_dtype"]
    if set(dtypes) - {expected} or (model.conv is not None and len(dtypes) != model.layers):
        yield f"precision {options.precision} aggregates in {expected} in each layer, but it was {dtypes}"
    own, half = model.conv is None, options.precision != "fp32"
    if own and half and not dtypes:
        yield f"precision {options.precision}: no PyG convolution of {model.class_path} passed a message"
    linear, found = linear_dtype(options.precision), counters["linear_dtype"]
    # a module of a person's own may keep some layer in float32; one of ours may not
    if counters["backward_passes"] and not (found == [linear] or (own and (linear in found or not found))):
        yield f"precision {options.precision} computes linear layers in {linear}, but they were in {found}"
    scaled = counters["loss_scale"] is not None
    if scaled != options.precision.startswith("fp16"):
        yield f"precision {options.precision}: the loss was {'' if scaled else 'not '}scaled"
    recomputed = counters["checkpoint_recomputations"]
    if options.checkpointing != (recomputed > 0):
        yield f"checkpointing is {options.checkpointing}, but {recomputed} layers were computed again"


def message_dtype(precision: str) -> str:
    """Dtype in which messages are summed, by torch's name."""
    return {"fp16": "float16", "bf16": "bfloat16"}.get(precision, "float32")


def linear_dtype(precision: str) -> str:
    """Dtype of the linear layers, by torch's name."""
    return message_dtype(precision.removesuffix("-linear"))


def _implementation(options: Options, model: Model) -> str:
    return options.aggregation if model.conv is not None else "own"


def _equal(path: str, asked: Any, found: Any) -> Iterator[str]:
    if asked != found:
        yield f"{path} is {asked}, but the run had {found}"
