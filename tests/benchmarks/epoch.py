"""One training epoch of two-layer SAGE on WordNet: ours, and PyG's model run the usual way."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from itertools import islice
from statistics import mean, median

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv

from harness.batches.batch import Batch
from harness.batches.features.choose import store_of
from harness.batches.plans import batches_of
from harness.graphs.graph import Graph
from harness.models.build import build_model
from harness.models.inference import Inference
from harness.runs.stages import NoClock
from harness.runs.train import Trainer
from harness.spec.options import Model, Options, Sampling, Training
from tests.benchmarks.graphs import wordnet
from tests.benchmarks.result import Line, Result
from tests.benchmarks.timing import alternated, median_ratio, waited_for_a_core

TITLE = "a training epoch of ours over one of PyG's model run the usual way"
THREADS = 2
MODEL = Model(conv="sage", layers=2, hidden=256, dropout=0.5, norm="batch")
TRAINING = Training(batch_size=1024, lr=0.003)
OPTIONS = Options(sampling=Sampling(fanout=(25, 10)), aggregation="spmm")
CPU = torch.device("cpu")
PIECES = 8  # of an epoch, timed in turn
RATIO = 0.35
HOW = (
    "WordNet, 1,024 features, hidden 256, fan-out [25, 10], batch 1,024, batch norm, dropout 0.5, Adam. Both "
    "sides train on the same batches of our sampler, sampled and fetched anew by each, an eighth of an epoch at "
    "a time in the order A B B A; wall clock, torch with two threads; the ratio is the median over the eighths "
    "of six epochs. The usual way: the whole sampled subgraph through every layer, gather and scatter, "
    "x[nodes]."
)


def run(asked: argparse.Namespace) -> Result:
    graph = wordnet()
    epochs = 1 if asked.quick else 6
    batches = Pieces(graph)
    ours, usual = Ours(graph, batches), Usual(graph, batches)
    usual.start_like(ours)
    torch.set_num_threads(THREADS)
    started, waited = time.perf_counter(), waited_for_a_core()
    taken: dict[str, list[float]] = {"ours": [], "usual": []}
    accuracy: dict[str, list[float]] = {"ours": [], "usual": []}
    for epoch in range(1, epochs + 1):
        for side, seconds in _alternated(ours, usual, epoch, PIECES, time.perf_counter).items():
            taken[side] += seconds
        accuracy["ours"].append(100 * ours.accuracy())
        accuracy["usual"].append(100 * usual.accuracy())
    busy = (waited_for_a_core() - waited) / (time.perf_counter() - started)
    epoch_s = {side: PIECES * median(seconds) for side, seconds in taken.items()}
    loader = _neighbor_loader(graph, epoch_s["ours"])
    torch.set_num_threads(1)
    alone = _alternated(ours, usual, epochs + 1, 2 if asked.quick else PIECES, time.thread_time)
    late = {side: mean(values[-3:]) for side, values in accuracy.items()}
    return Result(
        "epoch",
        TITLE,
        HOW,
        [
            Line(
                "time, ours over the usual way",
                median_ratio(taken, "ours", "usual"),
                "x",
                at_most=RATIO,
                note=f"the training thread waited {100 * busy:.0f} % of the time for a core",
                samples=taken,
            ),
            Line("an epoch of ours", epoch_s["ours"], "s"),
            Line("an epoch the usual way", epoch_s["usual"], "s"),
            Line(
                "test accuracy, ours less the usual way's",
                late["ours"] - late["usual"],
                "points",
                at_least=-0.5,
                note=f"{late['ours']:.2f} and {late['usual']:.2f} %, after {epochs} epochs, mean of the last three",
                samples=accuracy,
            ),
            Line("the same on one thread, processor time", median_ratio(alone, "ours", "usual"), "x", samples=alone),
            loader,
        ],
    )


def _alternated(
    ours: Ours, usual: Usual, epoch: int, pieces: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    if epoch == 1:
        for side in (ours, usual):
            side.train(0, 0)  # compiles, and touches all memory once
    sides = {"ours": lambda part: ours.train(epoch, part), "usual": lambda part: usual.train(epoch, part)}
    return alternated(sides, pieces, clock)


class Pieces:
    """An epoch's batches, one part of them at a time; each side samples them anew."""

    def __init__(self, graph: Graph) -> None:
        self.plan = batches_of(graph, OPTIONS, TRAINING, MODEL.layers, seed=0)
        self.part = 0

    def epoch(self, epoch: int) -> Iterable[Batch]:
        for index in np.array_split(np.arange(self.plan.num_batches), PIECES)[self.part].tolist():
            yield self.plan.batch(epoch, index)


class Ours:
    """What a run of the harness does: hop-wise blocks, sparse products, the feature store, the trainer."""

    def __init__(self, graph: Graph, batches: Pieces) -> None:
        torch.manual_seed(0)
        self.graph, self.batches = graph, batches
        self.model = build_model(MODEL, graph.num_features, graph.num_classes, OPTIONS)
        store = store_of(graph, OPTIONS, batches.plan, TRAINING.epochs, CPU)
        self.trainer = Trainer(self.model, batches, store, np.array(graph.y), TRAINING, OPTIONS.precision, CPU)

    def train(self, epoch: int, part: int) -> None:
        self.batches.part = part
        self.trainer.epoch(epoch, NoClock())

    def accuracy(self) -> float:
        return _accuracy(Inference(self.graph, CPU).logits(self.model), self.graph)


class UsualModel(nn.Module):
    """PyG's convolutions in the order of its examples: convolution, norm, ReLU, dropout."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.convs = nn.ModuleList([SAGEConv(features, MODEL.hidden), SAGEConv(MODEL.hidden, classes)])
        self.norm = nn.BatchNorm1d(MODEL.hidden)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = F.relu(self.norm(self.convs[0](x, edge_index)))
        return self.convs[1](F.dropout(x, MODEL.dropout, self.training), edge_index)


class Usual:
    """What a loop over PyG's `NeighborLoader` does with a batch, on the same nodes and edges."""

    def __init__(self, graph: Graph, batches: Pieces) -> None:
        torch.manual_seed(0)
        self.graph, self.batches = graph, batches
        self.x, self.y = torch.from_numpy(np.array(graph.x)), torch.from_numpy(np.array(graph.y))
        self.model = UsualModel(graph.num_features, graph.num_classes)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=TRAINING.lr)

    @torch.no_grad()
    def start_like(self, ours: Ours) -> None:
        """The same weights; the norm starts as 1 and 0 in both."""
        theirs = [layer.conv for layer in ours.model.layers]
        for conv, their in zip(self.model.convs, theirs, strict=True):
            conv.load_state_dict(their.state_dict())

    def train(self, epoch: int, part: int) -> None:
        self.batches.part = part
        for batch in self.batches.epoch(epoch):
            nodes = torch.from_numpy(batch.nodes)
            block, seeds = batch.blocks[0], len(batch.targets)
            edge_index = torch.from_numpy(np.stack([block.indices, block.dst]))
            self.step(self.x[nodes], edge_index, self.y[nodes[:seeds]])

    def step(self, x: Tensor, edge_index: Tensor, y: Tensor) -> None:
        """A step on a batch whose first ``len(y)`` nodes are the seeds."""
        self.model.train()
        self.optimiser.zero_grad()
        F.cross_entropy(self.model(x, edge_index)[: len(y)], y).backward()
        self.optimiser.step()

    @torch.no_grad()
    def accuracy(self) -> float:
        self.model.eval()
        return _accuracy(self.model(self.x, _edge_index(self.graph)), self.graph)


def _accuracy(logits: Tensor, graph: Graph) -> float:
    test = np.asarray(graph.test)
    return float((logits.argmax(dim=1).numpy()[test] == graph.y[test]).mean())


def _neighbor_loader(graph: Graph, ours_s: float) -> Line:
    """PyG's own loop, where its sampler is installed: an epoch after the first tenth of one."""
    import torch_geometric.typing as installed
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    what = "time, ours over PyG's NeighborLoader loop"
    if not (installed.WITH_PYG_LIB or installed.WITH_TORCH_SPARSE):
        return Line(what, None, note="cannot run: it needs pyg-lib or torch-sparse, neither is installed")
    usual = Usual(graph, Pieces(graph))
    data = Data(x=usual.x, y=usual.y, edge_index=_edge_index(graph))
    loader = NeighborLoader(
        data,
        num_neighbors=list(OPTIONS.sampling.fanout),
        batch_size=TRAINING.batch_size,
        input_nodes=torch.from_numpy(np.array(graph.train)),
        shuffle=True,
    )

    def train(batches: Iterable[Data]) -> None:
        for batch in batches:
            usual.step(batch.x, batch.edge_index, batch.y[: batch.batch_size])

    train(islice(loader, len(loader) // 10))
    started = time.perf_counter()
    train(loader)
    return Line(what, ours_s / (time.perf_counter() - started), "x", note="one epoch, after ours")


def _edge_index(graph: Graph) -> Tensor:
    target = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return torch.from_numpy(np.stack([np.asarray(graph.indices, dtype=np.int64), target]))
