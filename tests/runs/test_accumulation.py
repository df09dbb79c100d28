"""A step of several mini-batches is the step of one that holds all their labelled nodes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches.batch import Batch
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.models.build import build_model
from harness.runs import train
from harness.runs.accumulation import Gathering
from harness.runs.execute import assemble, execute
from harness.runs.request import RunRequest
from harness.runs.stages import NoClock
from harness.runs.train import Trainer
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training
from tests.runs.test_train import Chunks, Plain, Rows, _block, _graph, _trainer

CPU = torch.device("cpu")
LABELLED = 100


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 nodes, 100 of them for training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=1 / 3, val=1 / 3)
        section = Synthetic(source="synthetic", nodes=300, mean_degree=6.0, classes=4, features=12, split=split)
        return prepare(section, "graph", ".")


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


class WholeGraph:
    """Batches of the whole graph, each with so many of the training nodes as its targets."""

    def __init__(self, path: Path, sizes: list[int], conv: str) -> None:
        request = _request(path, {"batching": "full"}, conv=conv)
        self.run = assemble(request, open_graph(path), CPU)
        ends = np.cumsum([0, *sizes])
        order = np.random.default_rng(1).permutation(LABELLED)
        self._parts = [order[a:b] for a, b in itertools.pairwise(ends)]

    def epoch(self, epoch: int):
        whole = next(iter(self.run.batches.epoch(epoch)))
        for index, part in enumerate(self._parts):
            yield Batch(whole.nodes, whole.blocks, whole.targets[part], epoch, index)


def _request(path: Path, options: dict, training: dict | None = None, conv: str = "sage", **model) -> RunRequest:
    return RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=0, graph_path=str(path), spec_dir=str(path), device="cpu",
        threads=1, training=Training(**{"epochs": 1, "batch_size": 16, "lr": 0.01} | (training or {})),
        model=Model(**{"conv": conv, "hidden": 8, "layers": 2, "dropout": 0.0} | model),
        options=Options.model_validate({"sampling": {"fanout": [-1, -1]}, **options}),
    )  # fmt: skip


def _stepped(path: Path, sizes: list[int], conv: str, precision: str = "fp32", **training) -> tuple[Trainer, list]:
    """The trainer after an epoch of such batches, and the gradients of its last step."""
    batches = WholeGraph(path, sizes, conv)
    torch.manual_seed(0)
    model = build_model(Model(conv=conv, hidden=8, layers=2, dropout=0.0), 12, 4, Options(precision=precision))
    graph = open_graph(path)
    trainer = Trainer(model, batches, Rows(np.array(graph.x)), graph.y, Training(lr=0.01, **training), precision, CPU)
    trainer.epoch(1, NoClock())
    return trainer, [p.grad.clone() for p in model.parameters()]


def _same(one: tuple[Trainer, list], other: tuple[Trainer, list], tolerance: float = 1e-6) -> None:
    weights = zip(one[0].model.parameters(), other[0].model.parameters(), strict=True)
    for a, b in [*weights, *zip(one[1], other[1], strict=True)]:
        assert float((a - b).detach().abs().max()) <= tolerance * float(a.detach().abs().max())


@pytest.mark.parametrize("clip", [None, 0.05])
@pytest.mark.parametrize("conv", ["gcn", "sage"])
def test_ninety_and_ten_labels_are_a_hundred(graph, conv, clip):
    big = _stepped(graph, [100], conv, clip=clip)
    _same(big, _stepped(graph, [90, 10], conv, clip=clip, accumulate=2))
    _same(big, _stepped(graph, [10, 90], conv, clip=clip, accumulate_targets=100))
    _same(big, _stepped(graph, [90, 0, 10], conv, clip=clip, accumulate=2))
    _same(big, _stepped(graph, [25, 1, 40, 34], conv, clip=clip, accumulate=4))
    assert big[0].counters().get("clipped_steps") == (None if clip is None else 1)


def test_the_mean_over_batches_would_be_another_step(graph, monkeypatch):
    """What the tests above would see if each batch counted the same."""
    monkeypatch.setattr(Gathering, "weight", lambda self, targets: 1.0)
    monkeypatch.setattr(Gathering, "correction", lambda self: 1 / self.batches)
    with pytest.raises(AssertionError):
        _same(_stepped(graph, [100], "sage"), _stepped(graph, [90, 10], "sage", accumulate=2))


def test_norms_are_those_of_the_whole_step(graph):
    norms = [
        _stepped(graph, sizes, "gcn", precision, clip=1e-3, accumulate=len(sizes))[0].counters()["gradient_norm"]["max"]
        for sizes, precision in (([100], "fp32"), ([90, 10], "fp32"), ([90, 10], "fp16-linear"))
    ]
    assert norms[0] == pytest.approx(norms[1], rel=1e-6)
    assert norms[0] == pytest.approx(norms[2], rel=1e-2)


def test_a_batch_without_labels_changes_nothing():
    graph = _graph()
    with_gaps, without = (_trainer(graph, batches, accumulate=3) for batches in (_with_gaps(graph), Chunks(graph, 10)))
    for trainer in (with_gaps, without):
        trainer.epoch(1, NoClock())
    assert torch.equal(with_gaps.model.linear.weight, without.model.linear.weight)
    assert with_gaps.counters()["batches_without_target"] == 4
    assert with_gaps.counters()["backward_passes"] == len(with_gaps.model.seen_training) == 4  # others not computed


def _with_gaps(graph):
    class Gaps(Chunks):
        def epoch(self, epoch: int):
            for batch in super().epoch(epoch):
                yield batch
                yield Batch(batch.nodes, (_block(len(batch.nodes)),), np.empty(0, np.int64), epoch, batch.index)

    return Gaps(graph, 10)


def test_without_accumulation_nothing_is_weighted_or_corrected(graph, monkeypatch):
    """Losses and weights are those of a plain loop, bit for bit."""
    corrections = []
    update = train.update
    monkeypatch.setattr(train, "update", lambda *a, **k: corrections.append(k["correction"]) or update(*a, **k))
    plain = _graph()
    trainer = _trainer(plain, Chunks(plain, 7))
    losses = trainer.epoch(1, NoClock()).losses
    assert set(corrections) == {1.0}
    model, optimiser = Plain(), None
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for loss, batch in zip(losses, (b for b in Chunks(plain, 7).epoch(1) if len(b.targets)), strict=True):
        x = torch.from_numpy(plain.x[batch.nodes])
        y = torch.from_numpy(plain.y[batch.nodes[batch.targets]])
        expected = torch.nn.functional.cross_entropy(model(x, None)[torch.from_numpy(batch.targets)], y)
        optimiser.zero_grad()
        expected.backward()
        optimiser.step()
        assert torch.equal(loss, expected.detach())
    assert torch.equal(trainer.model.linear.weight, model.linear.weight)


@pytest.mark.parametrize(
    ("rule", "full", "batches", "targets"),
    [
        ({"accumulate": 3}, {"min": 3, "mean": 3.0, "max": 3}, (1, 3), (1, 3)),
        ({"accumulate_targets": 7}, {"min": 7, "mean": 7.0, "max": 7}, (6, 7), (6, 7)),
        ({}, {"min": 1, "mean": 1.0, "max": 1}, (1, 1), (1, 1)),
    ],
)
def test_what_is_left_at_the_end_of_an_epoch_makes_a_step(rule, full, batches, targets):
    """Forty batches of a node, twenty of them with a label."""
    graph = _graph()
    trainer = _trainer(graph, Chunks(graph, 1), **rule)
    for epoch in (1, 2):
        trainer.epoch(epoch, NoClock())
    found = trainer.counters()
    per_epoch = -(-20 // int(full["min"]))
    assert (found["backward_passes"], found["steps"], found["skipped_steps"]) == (40, 2 * per_epoch, 0)
    assert found["accumulated"]["full_batches"] == full
    assert found["accumulated"]["rests"] == (0 if not rule else 2)
    for key, (least, most) in (("batches_per_step", batches), ("targets_per_step", targets)):
        expected = (least if not rule else 20 - (per_epoch - 1) * int(full["min"]), most)
        assert (found[key]["min"], found[key]["max"]) == expected


def test_a_step_left_out_is_counted_once():
    """Four batches of a step overflow: one step is left out, and the scale is halved once."""
    graph = _graph()
    trainer = _trainer(graph, Chunks(graph, 10), precision="fp16", accumulate=4)
    trainer.scaler = torch.amp.GradScaler("cpu", init_scale=float(2**127) * 1.9)
    graph.x[:] *= 1000.0
    trainer.epoch(1, NoClock())
    found = trainer.counters()
    assert (found["backward_passes"], found["steps"], found["skipped_steps"]) == (4, 0, 1)
    assert found["loss_scale"] == pytest.approx(2**126 * 1.9)


def test_gradients_keep_their_size_while_they_are_gathered():
    """In float16 a loss divided by a whole step's labels would lose its small gradients."""
    gathered = Gathering(Training(accumulate=50))
    weights = []
    for _ in range(2):
        for targets in (64, 64, 20):
            weights.append(gathered.weight(targets))
            gathered.add(targets)
        assert gathered.correction() == 64 / 148
        gathered.clear()
    assert weights == [1.0, 1.0, 20 / 64] * 2


CLUSTER = {"batching": "cluster", "partition": {"method": "random", "parts": 12, "per_batch": 1}}
BUDGET = {"sampling": {"fanout": [4, 3], "node_edge_budget": 20_000}}


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, {"accumulate": 3}),
        ({"loader": {"threads": 2}}, {"accumulate_targets": 40}),
        ({"checkpointing": True}, {"accumulate": 4}),
        (CLUSTER, {"accumulate": 5}),
        (CLUSTER | {"loader": {"threads": 1}, "checkpointing": True}, {"accumulate_targets": 30}),
        (BUDGET, {"accumulate_targets": 50}),
    ],
)
def test_a_run_accumulates_whatever_makes_its_batches(graph, options, rule, precision):
    """And proves it; fewer steps than batches, and the same labelled nodes as without."""
    request = _request(graph, {"precision": precision, **options}, {"epochs": 2, **rule}, norm="batch")
    found = execute(request, lambda phase: None).counters
    assert found["targets"] == found["accumulated"]["targets"] == 2 * LABELLED
    assert found["steps"] + found["skipped_steps"] < found["backward_passes"] == found["accumulated"]["batches"]
    if precision == "fp32":
        assert found["skipped_steps"] == 0


def test_loader_and_checkpointing_change_no_accumulated_loss(graph):
    runs = [
        execute(_request(graph, options, {"epochs": 2, "accumulate": 3}), lambda phase: None).metrics
        for options in ({}, {"loader": {"threads": 2}}, {"checkpointing": True})
    ]
    assert runs[0].train_loss == runs[1].train_loss
    assert runs[0].train_loss == pytest.approx(runs[2].train_loss, rel=1e-6)
