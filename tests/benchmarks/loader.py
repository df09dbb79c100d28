"""A training step with batches prepared in the background, against preparing and computing alone."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from statistics import median

import numpy as np
import torch
from torch import Tensor

from harness.batches.batch import Batch
from harness.batches.epochs import BatchPlan
from harness.batches.features.choose import store_of
from harness.batches.features.store import FeatureStore
from harness.batches.plans import batches_of
from harness.graphs.graph import Graph
from harness.models.build import build_model
from harness.runs.stages import NoClock
from harness.runs.train import Trainer
from harness.spec.dataset import Builtin, Split
from harness.spec.options import Loader, Model, Options, Sampling, Training
from tests.benchmarks.graphs import prepared
from tests.benchmarks.result import Line, Result
from tests.benchmarks.timing import Work, alternated, median_ratio, waited_for_a_core

TITLE = "a step with one background thread over the larger of its two halves"
HOW = (
    "WordNet, a fifth of the nodes for training: 23 batches an epoch, SAGE, fan-out [25, 10], spmm, torch with "
    "one thread. Alone: sampling and fetching an epoch's batches; training on batches and features that are "
    "there. Whole epochs in the order A B B A, wall clock: both cores must be free. The first batch of an epoch "
    "is waited for. At hidden 16 both halves mostly move memory and share its bandwidth, which no loader can "
    "double: that line is for comparison."
)
WIDTHS: dict[str, tuple[int, float | None]] = {"hidden 256": (256, 1.1), "hidden 16": (16, None)}  # and at most
TRAINING = Training(batch_size=1024, lr=0.003)
CPU = torch.device("cpu")


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    graph = prepared(Builtin(source="builtin", name="wordnet", split=Split(kind="random", train=0.2, val=0.2, seed=0)))
    lines = []
    for name, (hidden, most) in WIDTHS.items():
        lines += _compared(name, graph, hidden, most, 2 if asked.quick else 6)
    return Result("loader", TITLE, HOW, lines)


def _compared(name: str, graph: Graph, hidden: int, most: float | None, epochs: int) -> list[Line]:
    options = Options(sampling=Sampling(fanout=(25, 10)), aggregation="spmm")
    plan = batches_of(graph, options, TRAINING, 2, seed=0)
    store = store_of(graph, options, plan, epochs, CPU)
    ready = Ready(plan, store)
    alone = _trainer(graph, hidden, ready, ready, options, Loader())
    ahead = _trainer(graph, hidden, plan, store, options, Loader(threads=1, depth=2))
    waiting = _trainer(graph, hidden, plan, store, options, Loader())

    def prepare(epoch: int) -> None:
        for batch in plan.replay(1 + epoch):
            store.fetch(batch.nodes)

    sides = {
        "prepare": prepare,
        "compute": lambda epoch: alone.epoch(1 + epoch, NoClock()),
        "loader": lambda epoch: ahead.epoch(1 + epoch, NoClock()),
        "no loader": lambda epoch: waiting.epoch(1 + epoch, NoClock()),
    }
    busy = Busy(sides)
    for work in busy.sides.values():
        work(-1)
    busy.forget()
    taken = alternated(busy.sides, epochs)
    steps = plan.num_batches or 1
    larger = [max(halves) for halves in zip(taken["prepare"], taken["compute"], strict=True)]
    wall = [with_it / alone_s for with_it, alone_s in zip(taken["loader"], larger, strict=True)]
    halves = ", ".join(f"{side} {1e3 * median(taken[side]) / steps:.0f} ms" for side in ("prepare", "compute"))
    without = f"for want of a free core {1e3 * median(busy.waited['loader']) / steps:.1f} ms of it"
    return [
        Line(
            f"{name}: a step with the loader over the larger half",
            median(wall),
            "x",
            at_most=most,
            note=halves,
            samples=taken,
        ),
        Line(f"{name}: a step with the loader", 1e3 * median(taken["loader"]) / steps, "ms", note=without),
        Line(f"{name}: a step without it", 1e3 * median(taken["no loader"]) / steps, "ms"),
        Line(
            f"{name}: processor time of the training thread, with the loader over computing alone",
            median_ratio(busy.seconds, "loader", "compute"),
            "x",
            samples={**busy.seconds, **{f"{side} waited": waited for side, waited in busy.waited.items()}},
        ),
    ]


class Busy:
    """What the training thread did in each epoch of each side: seconds on a processor, and seconds in wait for one.

    The second is why a machine with other work cannot tell: both cores must be free.
    """

    def __init__(self, sides: dict[str, Work]) -> None:
        self.sides = {name: self._noted(name, work) for name, work in sides.items()}
        self.forget()

    def forget(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.waited: defaultdict[str, list[float]] = defaultdict(list)

    def _noted(self, name: str, work: Work) -> Work:
        def noted(piece: int) -> None:
            started, waited = time.thread_time(), waited_for_a_core()
            work(piece)
            self.seconds[name].append(time.thread_time() - started)
            self.waited[name].append(waited_for_a_core() - waited)

        return noted


class Ready:
    """An epoch's batches and their features, made before the clock starts."""

    def __init__(self, plan: BatchPlan, store: FeatureStore) -> None:
        self._batches = list(plan.replay(0))
        self._rows = [store.fetch(batch.nodes).clone() for batch in self._batches]
        self._next = 0

    def epoch(self, epoch: int) -> Iterable[Batch]:
        self._next = 0
        for batch in self._batches:  # as new blocks: their tensors and transposes are made anew, as in a training
            yield replace(batch, blocks=tuple(replace(block) for block in batch.blocks))

    def fetch(self, nodes: np.ndarray) -> Tensor:
        rows = self._rows[self._next]
        assert len(rows) == len(nodes)
        self._next += 1
        return rows


def _trainer(
    graph: Graph, hidden: int, batches: BatchPlan | Ready, store: FeatureStore | Ready, options: Options, loader: Loader
) -> Trainer:
    torch.manual_seed(0)
    model = Model(conv="sage", layers=2, hidden=hidden, dropout=0.5, norm="batch")
    net = build_model(model, graph.num_features, graph.num_classes, options)
    return Trainer(net, batches, store, np.array(graph.y), TRAINING, options.precision, CPU, loader)
