"""What was drawn against the graph's own degrees; two epochs' samples of the same seeds against each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.equal import equal
from harness.spec.options import Sampling

CHOICES = 32  # that all fall the same way twice: a chance below 2**-32 for uniform sampling


def sampling_faults(asked: Sampling, counters: dict[str, Any]) -> Iterator[str]:
    """What was drawn against the graph's own degrees; two epochs' samples of the same seeds against each other."""
    yield from equal("sampling.method", asked.method, counters["sampling_method"])
    yield from equal("sampling.fanout", list(asked.fanout), counters["fanout"])
    draws = counters["draws"]
    for hop, (fanout, drawn, due) in enumerate(zip(asked.fanout, draws["drawn"], draws["due"], strict=True), 1):
        if drawn != due:
            yield f"sampling.fanout is {fanout} in hop {hop}: degrees make {due} neighbours due, {drawn} were drawn"
    again = counters["resampled"]
    if asked.method == "fixed" and not again["equal"]:
        yield "sampling.method is fixed, but two epochs drew other neighbours for the same nodes"
    if asked.method == "uniform" and again["equal"] and again["choices"] >= CHOICES:
        yield f"sampling.method is uniform, but two epochs drew the same neighbours in {again['choices']} choices"
