"""A quality run: train until validation stops getting better, then read the test split once."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch

from harness.graphs.graph import Graph
from harness.records.record import Metrics, Scores, Stages
from harness.runs import metrics
from harness.runs.early_stopping import Selection
from harness.runs.memory import PeakMemory
from harness.runs.request import Diverged
from harness.runs.stages import StageClock, synchronise
from harness.runs.train import Trainer
from harness.spec.options import Training

Infer = Callable[[], torch.Tensor]  # logits of all nodes, float32, [num_nodes, classes]: exact, dropout off


@dataclass
class _History:
    """By epoch, or by evaluation for the validation's."""

    train_loss: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)
    val_accuracy: list[float] = field(default_factory=list)
    epoch_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Trained:
    """What a quality run found.

    Attributes:
        stages: mean per epoch; the first epoch, which compiles and fills caches, is left out where there are more.
        epoch_s: seconds of every training epoch from the first, evaluation excluded.
    """

    metrics: Metrics
    stages: Stages
    epoch_s: list[float]


def train_to_best(
    trainer: Trainer,
    infer: Infer,
    graph: Graph,
    training: Training,
    device: torch.device,
    memory: PeakMemory,
    report: Callable[[str], None],
    infer_best: Infer | None = None,
    first_epoch: Callable[[], None] = lambda: None,
) -> Trained:
    """Train, evaluate, keep the best weights by validation, and measure them on the test split at the end.

    Args:
        infer_best: called once in the place of `infer`, at the best weights: it may look at more than the logits.
        first_epoch: called once after the first epoch, off the clock: it may raise, and end the training.

    Raises:
        Diverged: a loss of training or validation is not finite.
    """
    selection = Selection(training.selection, training.patience)
    history, clock, best = _History(), StageClock(device), None
    for epoch in range(1, training.epochs + 1):
        report("train")
        with memory.window():
            _train_epoch(trainer, epoch, clock, device, history)
        if epoch == 1:
            first_epoch()
        if epoch == 1 and training.epochs > 1:
            clock.reset()
        if epoch % training.eval_every and epoch < training.epochs:
            continue
        report("evaluate")
        val = _validate(infer, graph, epoch, history)
        if selection.update(epoch, val.loss or 0.0, val.accuracy):
            best = deepcopy(trainer.model.state_dict())
        if selection.exhausted(epoch):
            break
    assert best is not None  # the last epoch is always evaluated, and the first evaluation is the best so far
    trainer.model.load_state_dict(best)
    epochs = len(history.epoch_s)
    stages = clock.per_epoch(max(1, epochs - 1 if training.epochs > 1 else 1))
    found = _final(infer_best or infer, graph, selection.best_epoch, history, trainer.gradient_norms)
    return Trained(found, stages, history.epoch_s)


def _train_epoch(trainer: Trainer, epoch: int, clock: StageClock, device: torch.device, history: _History) -> None:
    synchronise(device)
    started = perf_counter()
    losses = trainer.epoch(epoch, clock)
    synchronise(device)
    history.epoch_s.append(perf_counter() - started)
    history.train_loss.append(losses.mean())


def _validate(infer: Infer, graph: Graph, epoch: int, history: _History) -> Scores:
    val = _scores(infer()[torch.from_numpy(np.array(graph.val))], graph.y[graph.val], f"epoch {epoch}")
    assert val.loss is not None
    history.val_loss.append(val.loss)
    history.val_accuracy.append(val.accuracy)
    return val


def _final(
    infer: Infer, graph: Graph, best_epoch: int, history: _History, gradient_norm: list[float | None]
) -> Metrics:
    """Metrics of the best weights; the only place that reads the test split."""
    logits, test = infer(), np.array(graph.test)
    of_test, labels = logits[torch.from_numpy(test)].cpu().numpy(), graph.y[test]
    return Metrics(
        val=_scores(logits[torch.from_numpy(np.array(graph.val))], graph.y[graph.val], f"epoch {best_epoch}"),
        test=metrics.scores(of_test, labels),
        best_epoch=best_epoch,
        epochs=len(history.epoch_s),
        per_class=metrics.per_class(of_test, labels, graph.meta.class_names),
        predictions_sha256=metrics.predictions_sha256(of_test),
        train_loss=history.train_loss,
        val_loss=history.val_loss,
        val_accuracy=history.val_accuracy,
        gradient_norm=gradient_norm,
    )


def _scores(logits: torch.Tensor, labels: np.ndarray, when: str) -> Scores:
    values = logits.float().cpu().numpy()
    if not math.isfinite(float(np.abs(values).max())):
        raise Diverged(f"the model's output on the validation split is not finite after {when}")
    return metrics.scores(values, np.asarray(labels))
