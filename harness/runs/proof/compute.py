"""Aggregation, precision and checkpointing, as the layers saw them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Model, Options


def compute_faults(options: Options, model: Model, counters: dict[str, Any]) -> Iterator[str]:
    yield from equal("aggregation", [_implementation(options, model)], sorted(counters["aggregation_calls"]))
    padded = counters["padding_share"] is not None
    if padded != (options.aggregation == "dense" and model.conv is not None):
        yield f"aggregation is {options.aggregation}, but rows were {'' if padded else 'not '}padded"
    expected = message_dtype(options.precision)
    dtypes = counters["aggregation_dtype"]
    if set(dtypes) - {expected} or (model.conv is not None and len(dtypes) != model.layers):
        yield f"precision {options.precision} aggregates in {expected} in each layer, but it was {dtypes}"
    own, half = model.conv is None, linear_dtype(options.precision) != "float32"
    if own and half and not dtypes:
        yield f"precision {options.precision}: no PyG convolution of {model.class_path} passed a message"
    linear, found = linear_dtype(options.precision), counters["linear_dtype"]
    # a module of a person's own may keep some layer in float32; one of ours may not
    if counters["backward_passes"] and not (found == [linear] or (own and (linear in found or not found))):
        yield f"precision {options.precision} computes linear layers in {linear}, but they were in {found}"
    scaled = counters["loss_scale"] is not None
    if scaled != (linear_dtype(options.precision) == "float16"):
        yield f"precision {options.precision}: the loss was {'' if scaled else 'not '}scaled"
    yield from equal("deterministic", options.deterministic, counters["deterministic_algorithms"])
    recomputed, passes = counters["checkpoint_recomputations"], counters["backward_passes"]
    due = passes * max(1, model.layers - 1) if options.checkpointing else 0  # all but the last, or the only one
    if recomputed != due:
        yield (
            f"checkpointing is {options.checkpointing}: in {passes} backward passes {due} layers are computed again, "
            f"but {recomputed} were"
        )


def message_dtype(precision: str) -> str:
    """Dtype in which messages are summed, by torch's name."""
    return {"fp16": "float16", "bf16": "bfloat16"}.get(precision, "float32")


def linear_dtype(precision: str) -> str:
    """Dtype of the linear layers, by torch's name."""
    return message_dtype(precision.removesuffix("-linear"))


def _implementation(options: Options, model: Model) -> str:
    return options.aggregation if model.conv is not None else "own"
