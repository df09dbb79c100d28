"""Training, early stopping and timing, on a plain network and hand-made batches: no sampler and no convolution."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches.batch import Batch, Block
from harness.graphs.graph import Graph, GraphMeta
from harness.runs.early_stopping import Selection
from harness.runs.memory import PeakMemory
from harness.runs.quality import train_to_best
from harness.runs.request import Diverged
from harness.runs.stages import NoClock
from harness.runs.steady import time_epochs
from harness.runs.train import Trainer
from harness.spec.options import Training

CPU = torch.device("cpu")
NODES, FEATURES, CLASSES = 40, 6, 3


class ReadCounting(Graph):
    """A graph that counts how often each of its arrays is asked for."""

    reads: Counter[str] = Counter()

    def __getattribute__(self, name: str):
        if name in ("train", "val", "test"):
            ReadCounting.reads[name] += 1
        return super().__getattribute__(name)


def _graph() -> Graph:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, NODES)
    x = (np.eye(CLASSES)[y] @ rng.normal(size=(CLASSES, FEATURES)) + rng.normal(size=(NODES, FEATURES))).astype("f4")
    order = rng.permutation(NODES)
    train, val, test = (np.sort(part) for part in np.split(order, [20, 30]))
    meta = GraphMeta(
        name="plain", dataset={}, fingerprint="f", num_nodes=NODES, num_edges=0, num_features=FEATURES,
        num_classes=CLASSES, class_names=["a", "b", "c"], train_nodes=20, val_nodes=10, test_nodes=10, directed=False,
        isolated_nodes=NODES, self_loops=0, duplicate_edges=0, max_in_degree=0, split="random",
    )  # fmt: skip
    indptr, none = np.zeros(NODES + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    ReadCounting.reads.clear()
    return ReadCounting(Path(), meta, indptr, none, x, y, train, val, test)


def _block(n: int) -> Block:
    zeros = np.zeros(n, dtype=np.int64)
    return Block(np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int64), n, zeros, zeros)


class Chunks:
    """Batches of so many nodes; only training nodes are targets."""

    def __init__(self, graph: Graph, size: int, targets: bool = True) -> None:
        self._nodes = [np.arange(i, min(i + size, NODES)) for i in range(0, NODES, size)]
        self._train = graph.train if targets else np.empty(0, dtype=np.int64)

    def epoch(self, epoch: int):
        for index, nodes in enumerate(self._nodes):
            yield Batch(nodes, (_block(len(nodes)),), np.flatnonzero(np.isin(nodes, self._train)), epoch, index)


class Rows:
    def __init__(self, x: np.ndarray) -> None:
        self._x = torch.from_numpy(x)

    def fetch(self, nodes: np.ndarray) -> torch.Tensor:
        return self._x[torch.from_numpy(nodes)]


class Plain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(FEATURES, CLASSES)
        self.seen_training: list[bool] = []

    def forward(self, x: torch.Tensor, blocks: object) -> torch.Tensor:
        self.seen_training.append(self.training)
        return self.linear(x)


def _trainer(graph: Graph, batches=None, precision="fp32", **training) -> Trainer:
    settings = Training(**{"lr": 0.05, **training})
    return Trainer(Plain(), batches or Chunks(graph, NODES), Rows(graph.x), graph.y, settings, precision, CPU)


def _to_best(graph: Graph, logits_by_evaluation=None, reports=None, **training):
    """Train; where logits are given, evaluation sees these instead of the model's."""
    settings = Training(**{"lr": 0.05, "epochs": 6, **training})
    trainer = _trainer(graph, **training)
    queue = list(logits_by_evaluation or [])
    weights = []

    def infer() -> torch.Tensor:
        weights.append(trainer.model.linear.weight.detach().clone())
        if queue:
            return queue.pop(0)
        with torch.no_grad():
            return trainer.model.linear(torch.from_numpy(graph.x))

    report = (reports if reports is not None else []).append
    trained = train_to_best(trainer, infer, graph, settings, CPU, PeakMemory(CPU), report)
    return trained, trainer, weights


def _logits(graph: Graph, right: float) -> torch.Tensor:
    """Logits that are sure of the true class by so much."""
    return torch.from_numpy(np.eye(CLASSES, dtype="f4")[graph.y]) * right


# --- selection ---------------------------------------------------------------------------------------------------


def test_of_equal_epochs_the_first_counts():
    selection = Selection("best_val_accuracy", patience=None)
    assert [selection.update(e, 1.0, a) for e, a in ((1, 0.5), (2, 0.7), (3, 0.7))] == [True, True, False]
    assert selection.best_epoch == 2


def test_loss_is_better_when_smaller_and_last_always():
    by_loss, last = Selection("best_val_loss", None), Selection("last", patience=1)
    for epoch, loss in ((1, 0.9), (2, 0.4), (3, 0.6)):
        by_loss.update(epoch, loss, 0.0)
        last.update(epoch, loss, 0.0)
        assert not last.exhausted(epoch)
    assert (by_loss.best_epoch, last.best_epoch) == (2, 3)


def test_patience_counts_epochs_since_the_best():
    selection = Selection("best_val_loss", patience=2)
    stops = []
    for epoch, loss in enumerate((0.9, 0.4, 0.6, 0.5), start=1):
        selection.update(epoch, loss, 0.0)
        stops.append(selection.exhausted(epoch))
    assert stops == [False, False, False, True]


# --- quality -----------------------------------------------------------------------------------------------------


def test_the_best_epochs_weights_are_what_is_tested():
    graph = _graph()
    scripted = [_logits(graph, right) for right in (1.0, 3.0, 2.0, 2.0)]
    trained, _, weights = _to_best(graph, scripted, epochs=4)
    assert trained.metrics.best_epoch == 2
    assert torch.equal(weights[-1], weights[1])
    assert not torch.equal(weights[-1], weights[3])


def test_training_stops_when_patience_is_used_up():
    graph = _graph()
    scripted = [_logits(graph, right) for right in (1.0, 3.0, 2.0, 2.0, 2.0)]
    trained, _, _ = _to_best(graph, scripted, epochs=50, patience=3)
    assert (trained.metrics.best_epoch, trained.metrics.epochs) == (2, 5)
    assert len(trained.epoch_s) == len(trained.metrics.train_loss) == len(trained.metrics.val_loss) == 5


def test_the_test_split_is_read_once_and_after_training():
    graph = _graph()
    seen = []
    trainer = _trainer(graph)
    settings = Training(lr=0.05, epochs=7)

    def infer() -> torch.Tensor:
        seen.append(ReadCounting.reads["test"])
        with torch.no_grad():
            return trainer.model.linear(torch.from_numpy(graph.x))

    train_to_best(trainer, infer, graph, settings, CPU, PeakMemory(CPU), lambda _: None)
    assert seen == [0] * 8  # seven evaluations and the final inference: not read yet
    assert ReadCounting.reads["test"] == 1


def test_evaluation_every_few_epochs_and_after_the_last():
    graph = _graph()
    reports: list[str] = []
    trained, _, weights = _to_best(graph, reports=reports, epochs=7, eval_every=3)
    assert len(trained.metrics.val_loss) == 3  # after epochs 3, 6 and 7
    assert len(weights) == 4
    assert reports == ["train"] * 3 + ["evaluate"] + ["train"] * 3 + ["evaluate", "train", "evaluate"]


def test_the_same_seed_gives_the_same_metrics():
    one, two = (_to_best(_graph(), epochs=5)[0].metrics for _ in range(2))
    assert one == two


def test_a_validation_that_is_not_finite_diverges():
    graph = _graph()
    with pytest.raises(Diverged, match="validation split is not finite after epoch 2"):
        _to_best(graph, [_logits(graph, 1.0), _logits(graph, 1.0) * float("nan")], epochs=3)


# --- epochs ------------------------------------------------------------------------------------------------------


def test_a_loss_that_is_not_finite_names_epoch_and_batch():
    graph = _graph()
    node = int(graph.train[-1])
    graph.x[node, 0] = np.nan
    losses = _trainer(graph, Chunks(graph, 10), lr=1e-12).epoch(4, NoClock())
    with pytest.raises(Diverged, match=f"nan in epoch 4, batch {node // 10}"):
        losses.mean()


def test_a_batch_without_targets_makes_no_step():
    graph = _graph()
    trainer = _trainer(graph, Chunks(graph, 1))
    trainer.epoch(1, NoClock())
    found = trainer.counters()
    assert (found["batches_without_target"], found["steps"]) == (20, 20)
    assert found["targets"] == 20


def test_no_targets_at_all_change_nothing():
    graph = _graph()
    trainer = _trainer(graph, Chunks(graph, 10, targets=False))
    before = trainer.model.linear.weight.detach().clone()
    trainer.epoch(1, NoClock())
    assert torch.equal(trainer.model.linear.weight, before)
    assert trainer.counters()["steps"] == 0


def test_the_epochs_loss_is_weighted_by_targets():
    """With the weights held still, the mean over batches of any size is the full batch's."""
    graph = _graph()
    means = [_trainer(graph, Chunks(graph, size), lr=1e-12).epoch(1, NoClock()).mean() for size in (NODES, 7)]
    assert means[0] == pytest.approx(means[1], rel=1e-6)


def test_gradients_are_unscaled_before_they_are_clipped():
    """With a scaler the clipped step equals the one without it; clipped while scaled it would be far smaller."""
    graph = _graph()
    plain, scaled = _trainer(graph, clip=0.1), _trainer(graph, clip=0.1, precision="fp16")
    for trainer in (plain, scaled):
        trainer.epoch(1, NoClock())
    assert torch.allclose(plain.model.linear.weight, scaled.model.linear.weight, atol=1e-6)
    norms = [trainer.counters()["gradient_norm"]["max"] for trainer in (plain, scaled)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-4)
    assert plain.counters()["clipped_steps"] == 1


def test_skipped_steps_are_counted():
    """A scale so large that the gradients overflow: the scaler leaves the step out and halves the scale."""
    graph = _graph()
    trainer = _trainer(graph, precision="fp16")
    trainer.scaler = torch.amp.GradScaler("cpu", init_scale=float(2**127) * 1.9)
    graph.x[:] *= 1000.0
    trainer.epoch(1, NoClock())
    found = trainer.counters()
    assert (found["backward_passes"], found["steps"], found["skipped_steps"]) == (1, 0, 1)
    assert found["loss_scale"] == pytest.approx(2**126 * 1.9)


def test_the_model_is_in_training_mode_while_it_trains():
    graph = _graph()
    trainer = _trainer(graph)
    trainer.model.eval()
    trainer.epoch(1, NoClock())
    assert trainer.model.seen_training == [True]


# --- timing ------------------------------------------------------------------------------------------------------


def test_timing_counts_only_the_timed_epochs():
    graph = _graph()
    trainer, reports = _trainer(graph), []
    timed = time_epochs(trainer, 2, 3, CPU, PeakMemory(CPU), reports.append)
    assert len(timed.epoch_s) == 3
    looked_at = 1  # the epoch in which the stages are
    assert trainer.counters()["epochs"] == len(timed.warmup_s) + 3 + looked_at >= 2 + 3 + looked_at
    assert reports == ["train", "time"]
    assert ReadCounting.reads["val"] == ReadCounting.reads["test"] == 0


def test_the_device_is_waited_for_at_both_ends_of_a_timed_epoch(monkeypatch):
    from harness.runs import steady

    order = []
    monkeypatch.setattr(steady, "synchronise", lambda _: order.append("wait"))
    monkeypatch.setattr(steady, "perf_counter", lambda: order.append("clock") or 0.0)
    time_epochs(_trainer(_graph()), 0, 2, CPU, PeakMemory(CPU), lambda _: None)
    assert order == ["wait", "clock"] * 4


def test_timing_a_training_that_diverges_says_so():
    graph = _graph()
    graph.x[:] = np.inf
    with pytest.raises(Diverged):
        time_epochs(_trainer(graph), 0, 1, CPU, PeakMemory(CPU), lambda _: None)


def test_a_scaled_epoch_reads_no_scale(monkeypatch):
    """On CUDA reading the scale waits for the device, twice a step: fp16 would look slower than it is."""
    graph = _graph()
    trainer = _trainer(graph, Chunks(graph, 10), "fp16", clip=1.0)
    reads: list[object] = []
    scale = torch.amp.GradScaler.get_scale
    monkeypatch.setattr(torch.amp.GradScaler, "get_scale", lambda scaler: reads.append(1) or scale(scaler))
    trainer.epoch(1, NoClock())
    assert not reads
    found = trainer.counters()
    assert found["backward_passes"] == found["steps"] + found["skipped_steps"] > 0
    assert len(reads) == 1
