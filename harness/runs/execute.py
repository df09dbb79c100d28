"""One run inside its own process: a request in, an outcome out; faults are exceptions for the supervisor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.batches.epochs import BatchPlan
from harness.batches.features.cache_size import NothingCached
from harness.batches.features.choose import store_of
from harness.batches.features.store import FeatureStore
from harness.batches.plans import batches_of
from harness.graphs.graph import Graph
from harness.graphs.half_features import TooLargeForHalf
from harness.graphs.store import open_graph
from harness.models import errors
from harness.models.build import build_model
from harness.models.inference import Inference
from harness.models.network import Network
from harness.models.over_smoothing import SpreadProbe
from harness.records.record import Memory, Metrics, Stages
from harness.runs.determinism import (
    determinism_counters,
    has_no_deterministic_algorithm,
    use_deterministic_algorithms,
)
from harness.runs.divergence import explained
from harness.runs.environment import environment
from harness.runs.expected_memory import beside_estimate
from harness.runs.memory import PeakMemory
from harness.runs.proof import prove, prove_batches
from harness.runs.quality import train_to_best
from harness.runs.request import Diverged, Outcome, RunRequest, Unsupported
from harness.runs.seeding import seed_everything
from harness.runs.steady import time_epochs
from harness.runs.train import Trainer

Report = Callable[[str], None]


def execute(request: RunRequest, report: Report) -> Outcome:
    """Train as the request says, and measure it.

    Args:
        request: one run, fully resolved. The number of OpenMP threads must be in the environment already.
        report: called at each change of phase: load, prepare, train, evaluate, time, done.

    Raises:
        Diverged: a loss is not finite, or a loss scaler left out every step.
        Unsupported: the options cannot be had with this model, library or hardware.
        ToggleNotProven: an option was asked for and the counters do not show it.
        InputError: the graph or a person's own model is not what it has to be.
        MemoryError, RuntimeError: as torch raises them.
    """
    device = settle(request)
    memory = PeakMemory(device)
    report("load")
    graph = open_graph(Path(request.graph_path))
    report("prepare")
    with translated():
        run = assemble(request, graph, device)
        seed_everything(request.seed, "train")
        try:
            found = run.measure(request, memory, report)
        except Diverged as error:
            raise _diverged(str(error), request, graph, run.counters() | determinism_counters()) from error
        counters = run.counters() | found.counters | {"memory_method": memory.method} | determinism_counters()
    if counters["backward_passes"] and not counters["steps"]:
        raise _diverged(_no_step(counters), request, graph, counters)
    prove(request.options, request.model, request.training, counters)
    report("done")
    return Outcome(
        metrics=found.metrics,
        stages=found.stages,
        epoch_s=found.epoch_s,
        **found.timed,
        memory=beside_estimate(found.memory, request, graph.meta),
        counters=counters,
        data=_data(graph),
        environment=environment(request.device),
    )


@dataclass(frozen=True)
class _Found:
    metrics: Metrics | None
    stages: Stages
    epoch_s: list[float]
    memory: Memory
    counters: dict[str, Any] = field(default_factory=dict)  # of the trained network
    timed: dict[str, Any] = field(default_factory=dict)  # what only a timing run finds


@dataclass(frozen=True)
class Assembled:
    """All that a training needs, made from a request with the run's seed."""

    graph: Graph
    batches: BatchPlan
    store: FeatureStore
    model: torch.nn.Module
    trainer: Trainer
    device: torch.device

    def measure(self, request: RunRequest, memory: PeakMemory, report: Report) -> _Found:
        """Train to the best epoch, or time steady epochs; either way the batches are proved after the first one."""

        def first_epoch() -> None:
            prove_batches(request.options, self._batch_counters() | vars(self.trainer.totals))

        if request.purpose == "timing":
            warmup, epochs = request.warmup_epochs, request.timed_epochs
            timed = time_epochs(
                self.trainer, warmup, epochs, self.device, memory, report, self._stop_watching, first_epoch
            )
            beside = {name: getattr(timed, name) for name in ("profile", "warmup_s", "settled", "device_times")}
            return _Found(None, timed.profile.stages, timed.epoch_s, memory.read(), timed=beside)
        inference = Inference(self.graph, self.device)  # exact, in float32, whatever the options
        probe = SpreadProbe(self.model.model.jumping) if isinstance(self.model, Network) else None

        def infer() -> torch.Tensor:
            return inference.logits(self.model)

        def infer_best() -> torch.Tensor:
            return inference.logits(self.model, watch=None if probe is None else probe.see)

        trained = train_to_best(
            self.trainer, infer, self.graph, request.training, self.device, memory, report, infer_best, first_epoch
        )
        spread = {} if probe is None else probe.counters()
        return _Found(trained.metrics, trained.stages, trained.epoch_s, memory.read(), spread)

    def counters(self) -> dict[str, Any]:
        """Everything counted, by name; docs/counters.md says what each proves."""
        return _joined(
            self._batch_counters(),
            _renamed(self.store.counters(), {"home": "feature_home"}),
            self.model.counters(),
            self.batches.edge_counters(),
            self.batches.density_counters(),
            self.trainer.counters(),
            self.batches.preprocess_s,
        )

    def _batch_counters(self) -> dict[str, Any]:
        return _joined(
            _renamed(self.batches.counters(), {"method": "sampling_method"}),
            self.batches.watch_counters(),
            {"num_nodes": self.graph.num_nodes},
        )

    def _stop_watching(self) -> None:
        """What is counted for the proof and costs time by the node ends before the clock starts."""
        self.store.stop_counting_nodes()
        self.batches.stop_watching()


class _WholeFeatures:
    """All rows at once, brought to the device once: what a full-graph training holds."""

    def __init__(self, store: FeatureStore) -> None:
        self._store = store

    def fetch(self, nodes: np.ndarray) -> torch.Tensor:
        return self._store.all()


def settle(request: RunRequest) -> torch.device:
    """Threads, algorithms, import path and device of this process."""
    torch.set_num_threads(request.threads)
    use_deterministic_algorithms(request.options.deterministic)
    folder = str(Path(request.spec_dir).resolve())
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that a file beside the spec never hides an installed module
    device = torch.device(request.device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    return device


def assemble(
    request: RunRequest, graph: Graph, device: torch.device, model: torch.nn.Module | None = None
) -> Assembled:
    """Batches, features, model and trainer of a request; the weights depend on the seed and the model alone.

    Args:
        model: in the place of the request's own.
    """
    options = request.options
    batches, features = batches_and_features(request, graph, device)
    if model is None:
        seed_everything(request.seed, "weights")
        folders = [Path(request.spec_dir)]
        sizes = graph.num_features, graph.num_classes
        model = build_model(request.model, *sizes, options, folders, graph.meta.edge_features)
    model = model.to(device)
    feed = _WholeFeatures(features) if options.batching == "full" else features
    labels = np.array(graph.y)
    curves = request.purpose == "quality"
    trainer = Trainer(model, batches, feed, labels, request.training, options.precision, device, options.loader, curves)
    return Assembled(graph, batches, features, model, trainer, device)


def batches_and_features(request: RunRequest, graph: Graph, device: torch.device) -> tuple[BatchPlan, FeatureStore]:
    """What feeds the model, by the request's options and seed."""
    options = request.options
    layers, folder = request.model.layers, Path(request.spec_dir)
    reads_edges = request.model.reads_edges
    batches = batches_of(
        graph, options, request.training, layers, request.seed, spec_dir=folder, device=device, with_edges=reads_edges
    )
    try:
        return batches, store_of(graph, options, batches, _epochs(request), device)
    except (NothingCached, TooLargeForHalf) as error:
        raise Unsupported(str(error)) from error


def _epochs(request: RunRequest) -> int:
    """Epochs that a run trains at most."""
    if request.purpose == "timing":
        return request.warmup_epochs + request.timed_epochs + 1  # the last is the one that stages are looked at in
    return request.training.epochs


@contextmanager
def translated() -> Iterator[None]:
    """What the models and torch cannot do, in the words of the supervisor's contract."""
    try:
        yield
    except errors.Unsupported as error:
        raise Unsupported(str(error)) from error
    except RuntimeError as error:
        if (words := has_no_deterministic_algorithm(error)) is None:
            raise
        raise Unsupported(f"deterministic: true: {words}") from error


def _diverged(message: str, request: RunRequest, graph: Graph, counters: dict[str, Any]) -> Diverged:
    """With what was counted until then: an overflow is reported above all where it ended the training."""
    so_far = Outcome(counters=counters, data=_data(graph), environment=environment(request.device))
    return Diverged(explained(message, request.options.precision, request.model.conv, counters), so_far)


def _no_step(counters: dict[str, Any]) -> str:
    made = f"none of {counters['skipped_steps']} steps was made"
    if counters["loss_scale"] is None:
        return f"{made}: their gradients were never finite"
    return f"{made}: the loss scale was still settling: train longer, or the gradients are not finite"


def _joined(*parts: dict[str, Any]) -> dict[str, Any]:
    joined: dict[str, Any] = {}
    for part in parts:
        twice = joined.keys() & part.keys()
        if twice:
            raise RuntimeError(f"two parts of the engine count under one name: {sorted(twice)}")
        joined |= part
    return joined


def _renamed(counters: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in counters.items()}


def _data(graph: Graph) -> dict[str, Any]:
    meta = graph.meta
    return {
        "name": meta.name,
        "fingerprint": meta.fingerprint,
        "num_nodes": meta.num_nodes,
        "num_edges": meta.num_edges,
        "num_features": meta.num_features,
        "num_classes": meta.num_classes,
        "train_nodes": meta.train_nodes,
        "val_nodes": meta.val_nodes,
        "test_nodes": meta.test_nodes,
        "split": meta.split,
        "features": None if meta.features is None else meta.features.model_dump(),
        "warnings": meta.warnings,
    }
