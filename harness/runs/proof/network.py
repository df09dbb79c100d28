"""Normalisation, links between layers and what is held of them, as the network saw them in training."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Model, Options, Training


def network_faults(options: Options, model: Model, training: Training, counters: dict[str, Any]) -> Iterator[str]:
    if model.conv is None or not counters["backward_passes"]:
        return
    jumps = model.jumping != "none"
    with_norm = model.layers if jumps else model.layers - 1
    without = model.layers - with_norm
    yield from equal("model.norm", [model.norm] * with_norm + ["none"] * without, counters["norm"])
    linked = [kind != "none" for kind in counters["residual"]]
    if linked != [model.residual] * with_norm + [False] * without:
        yield f"model.residual is {model.residual}, but what was added to the layers' outputs is {counters['residual']}"
    yield from equal("model.jumping", _joined(model) if jumps else NO_JUMP, counters["jumping"])
    yield from _input_dropout(model.input_dropout, counters["input_dropout"])
    yield from _retained(options, model, training, counters)


NO_JUMP = {"mode": "none", "layers": 0}


def _joined(model: Model) -> dict[str, Any]:
    return {"mode": model.jumping, "layers": model.layers}


def _input_dropout(share: float, found: dict[str, int]) -> Iterator[str]:
    """Of independent draws the share dropped is 7 standard deviations away once in 400,000 million times. Where all
    features are zero, dropping changes none, and nothing is shown but that it was done."""
    values, dropped = found["values"], found["dropped"]
    margin = 7 * math.sqrt(values * share * (1 - share)) + 7  # and a few, where these are too few to be normal
    if (share > 0) != (found["batches"] > 0) or abs(dropped - share * values) > margin:
        yield f"model.input_dropout is {share:g}, but {dropped} of {values} features of the first batch were dropped"


def _retained(options: Options, model: Model, training: Training, counters: dict[str, Any]) -> Iterator[str]:
    held, outputs = counters["retained_bytes"], counters["retained_outputs"]
    if options.retain == "none":
        if held:
            yield f"retain is none, but {outputs} outputs of {held} bytes were held after a forward pass"
        return
    if not held or outputs < model.layers or (outputs > model.layers and not training.accumulates):
        yield (
            f"retain is layer, but {outputs} outputs of {held} bytes were held after a forward pass of "
            f"{model.layers} layers"
        )
