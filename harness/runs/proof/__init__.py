"""Was each option really on? A toggle that does nothing is a benchmark's worst defect, so every run checks itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.runs.proof.clusters import cluster_faults
from harness.runs.proof.compute import compute_faults
from harness.runs.proof.edges import edge_faults
from harness.runs.proof.epochs import epoch_faults
from harness.runs.proof.equal import equal
from harness.runs.proof.features import feature_faults
from harness.runs.proof.loader import loader_faults
from harness.runs.proof.network import network_faults
from harness.runs.proof.sampling import sampling_faults
from harness.runs.proof.steps import step_faults
from harness.spec.options import Model, Options, Training

__all__ = ["ToggleNotProven", "prove", "prove_batches"]


class ToggleNotProven(AssertionError):
    """An option was asked for and what was counted does not show it: a fault of the engine, not of the spec."""


def prove(options: Options, model: Model, training: Training, counters: dict[str, Any]) -> None:
    """Compare what was asked with what was counted.

    Args:
        counters: as documented in docs/counters.md.

    Raises:
        ToggleNotProven: names every option without proof, with the counters that speak against it.
    """
    faults = [
        *_batch_faults(options, counters),
        *feature_faults(options, counters),
        *loader_faults(options.loader, counters),
        *compute_faults(options, model, counters),
        *edge_faults(options, model, counters),
        *step_faults(training, counters),
        *network_faults(options, model, training, counters),
    ]
    if faults:
        raise ToggleNotProven("; ".join(faults))


def prove_batches(options: Options, counters: dict[str, Any]) -> None:
    """As `prove`, of the batches alone: after the first epoch, so that no sampler trains for hours on the wrong nodes.

    Args:
        counters: of the batches, with ``num_nodes``, and ``epochs`` and ``targets`` of the trainer.

    Raises:
        ToggleNotProven: as `prove`.
    """
    faults = [*_batch_faults(options, counters)]
    if faults:
        raise ToggleNotProven("; ".join(faults))


def _batch_faults(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from epoch_faults(counters)
    yield from _batching(options, counters)


def _batching(options: Options, counters: dict[str, Any]) -> Iterator[str]:
    yield from equal("batching", options.batching, counters["batching"])
    if options.batching == "neighbor":
        yield from sampling_faults(options.sampling, counters)
    if options.batching == "full" and counters["nodes"] != counters["batches"] * counters["num_nodes"]:
        yield f"batching full: {counters['batches']} batches held {counters['nodes']} nodes, not all each time"
    if options.batching == "cluster":
        yield from cluster_faults(options.partition, counters)
