"""Every combination trains to a finite loss and proves its options, or is refused in the planner's words.

Each cell is a whole run in this process, on the device that ``HARNESS_DEVICE`` names (cpu or cuda; default: CUDA where
torch can use it). The run itself compares its counters with its options and fails where one is not proven.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from harness.graphs.prepare import prepare
from harness.plan.capabilities import Candidate, cannot_run, model_cannot
from harness.plan.machine import Machine
from harness.runs.determinism import use_deterministic_algorithms
from harness.runs.execute import execute
from harness.runs.probe import ask
from harness.runs.request import Outcome, RunRequest, Unsupported
from harness.spec.dataset import Files, Split
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options, Training

DEVICE = os.environ.get("HARNESS_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")

DOCUMENTED = set(re.findall(r"`(\w+)`", (Path(__file__).parents[2] / "docs" / "counters.md").read_text()))

CONVS = ("gcn", "sage", "gat", "gin", "mpnn")
AGGREGATIONS = ("scatter", "spmm", "segment", "dense")
PRECISIONS = ("fp32", "bf16", "fp16", "bf16-linear", "fp16-linear", "fp16-features")
BATCHINGS = ("neighbor", "cluster", "full")
CELLS = list(itertools.product(CONVS, AGGREGATIONS, PRECISIONS, BATCHINGS, (False, True)))

# What is not in the product: every pair of two of these values in some run.
PAIRED: dict[str, tuple[Any, ...]] = {
    "purpose": ("quality", "timing"),
    "model.conv": CONVS,
    "model.layers": (1, 3),
    "model.norm": ("none", "batch", "layer", "pair"),
    "model.residual": (False, True),
    "model.jumping": ("none", "cat", "max"),
    "model.dropout": (0.0, 0.5),
    "model.input_dropout": (0.0, 0.4),
    "training.epochs": (6,),  # a loss scale takes some steps to settle, and three batches may make one
    "training.accumulate": (1, 3),
    "training.clip": (None, 0.5),
    "options.aggregation": AGGREGATIONS,
    "options.precision": PRECISIONS,
    "options.batching": BATCHINGS,
    "options.checkpointing": (False, True),
    "options.retain": ("none", "layer"),
    "options.deterministic": (False, True),
    "options.loader.threads": (0, 2),
    "options.features.home": ("host", "disk"),
    "options.features.cache_ratio": (0.0, 0.3),
    "options.sampling.reweight": (False, True),  # of importance
    "options.sampling.method": ("uniform", "fixed", "importance", "degree-stratified", "labor"),
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """120 nodes: a hub, isolated nodes, nodes that only send, edges twice, self-loops, and attributes of edges."""
    folder = tmp_path_factory.mktemp("matrix")
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 100, 260), rng.integers(0, 90, 260)  # 90..99 only send; 100.. are isolated
    hub = rng.integers(0, 100, 70)
    source = np.concatenate([source, hub, source[:30], [3, 4, 4]])
    target = np.concatenate([target, np.full(70, 7), target[:30], [3, 4, 4]])
    np.savez(
        folder / "graph.npz",
        edge_index=np.stack([source, target]),
        edge_attr=rng.normal(size=(len(source), 3)).astype(np.float32),
        x=rng.normal(size=(120, 6)).astype(np.float32),
        y=rng.integers(0, 3, 120),
    )
    dataset = Files(source="files", path="graph.npz", split=Split(kind="random", train=0.5, val=0.25))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        yield prepare(dataset, "matrix", folder)


@pytest.fixture(scope="module")
def machine() -> Machine:
    return ask()


@pytest.fixture(autouse=True)
def _torch_as_it_was() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
    use_deterministic_algorithms(False)


def settings_of(row: dict[str, Any]) -> Settings:
    """Options by dotted path, over those that make a run short."""
    parts: dict[str, dict[str, Any]] = {
        "model": {"layers": 2, "hidden": 8, "heads": 2},
        "training": {"epochs": 2, "batch_size": 24, "lr": 0.01},
        "options": {
            "sampling": {"fanout": [4, 3, 2][: row.get("model.layers", 2)]},
            "partition": {"method": "random", "parts": 4, "per_batch": 2},
            "features": {},
            "loader": {},
        },
    }
    for path, value in row.items():
        if path == "purpose":
            continue
        *folders, name = path.split(".")
        place = parts
        for folder in folders:
            place = place[folder]
        place[name] = value
    return Settings(
        model=Model(**parts["model"]),
        training=Training(**parts["training"]),
        options=Options.model_validate(parts["options"]),
    )


def trained_or_refused(row: dict[str, Any], graph: Path, machine: Machine) -> None:
    """The claim of this file, of one cell."""
    settings = settings_of(row)
    request = request_of(settings, graph, row.get("purpose", "quality"))
    reason = cannot_run(Candidate(settings, DEVICE), machine)
    if reason is None:
        trains(request)
        return
    refused = model_cannot(settings.model, settings.options)
    if refused is not None:  # by the run too; what torch lacks here the planner alone keeps from running
        with pytest.raises(Unsupported, match=re.escape(refused)):
            run(request)
    pytest.skip(reason)


def trains(request: RunRequest) -> None:
    """To a finite loss, by steps that were made; a run without proof of its options ends itself."""
    outcome = run_or_skip(request)
    assert outcome.counters["steps"] > 0
    assert set(outcome.counters) <= DOCUMENTED
    if request.purpose == "timing":
        assert outcome.metrics is None
        assert len(outcome.epoch_s) == 2
        return
    losses = [*outcome.metrics.train_loss, *outcome.metrics.val_loss]
    assert len(losses) == 2 * request.training.epochs
    assert all(math.isfinite(loss) for loss in losses)
    assert 0.0 <= outcome.metrics.test.accuracy <= 1.0


def request_of(settings: Settings, graph: Path, purpose: str) -> RunRequest:
    return RunRequest(
        run_id="r",
        cell_id="c",
        purpose=purpose,
        seed=0,
        model=settings.model,
        training=settings.training,
        options=settings.options,
        graph_path=str(graph),
        spec_dir=str(graph),
        device="cuda:0" if DEVICE == "cuda" else DEVICE,
        threads=1,
        **({"warmup_epochs": 3, "timed_epochs": 2} if purpose == "timing" else {}),
    )


def run_or_skip(request: RunRequest) -> Outcome:
    """A run; what of torch has no deterministic algorithm on a GPU only torch can tell."""
    try:
        return run(request)
    except Unsupported as refusal:
        if DEVICE == "cuda" and request.options.deterministic and str(refusal).startswith("deterministic: true"):
            pytest.skip(str(refusal))
        raise


def run(request: RunRequest) -> Outcome:
    return execute(request, lambda phase: None)


@pytest.mark.parametrize(("conv", "aggregation", "precision", "batching", "checkpointing"), CELLS)
def test_a_cell_trains_or_is_refused_as_planned(
    graph, machine, conv, aggregation, precision, batching, checkpointing
) -> None:
    row = {
        "model.conv": conv,
        "options.aggregation": aggregation,
        "options.precision": precision,
        "options.batching": batching,
        "options.checkpointing": checkpointing,
    }
    trained_or_refused(row, graph, machine)


def pairwise(factors: dict[str, tuple[Any, ...]], possible: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Few rows in which any two values of two factors meet, where a possible row can have them.

    Greedy: each row begins with a pair that is still to be had, and takes for each other factor the value that adds
    most new pairs among those that stay possible.
    """
    names = list(factors)
    todo = {
        ((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in factors[a] for y in factors[b]
    }  # fmt: skip
    rows = []
    for pair in sorted(todo, key=repr):
        if pair not in todo or not possible(dict(pair)):
            continue
        row = dict(pair)
        for name in names:
            if name not in row:
                row[name] = max(
                    (value for value in factors[name] if possible({**row, name: value})),
                    key=lambda value, name=name: len(pairs({**row, name: value}, names) & todo),
                )
        todo -= pairs(row, names)
        rows.append(row)
    return rows


def pairs(row: dict[str, Any], names: list[str]) -> set[tuple[tuple[str, Any], tuple[str, Any]]]:
    """Those that a row, perhaps unfinished, has."""
    there = [(name, row[name]) for name in names if name in row]
    return set(itertools.combinations(there, 2))


def can_be(row: dict[str, Any]) -> bool:
    """Whether the planner would let it run on a device that has all kernels."""
    kernels = dict.fromkeys([*PRECISIONS, *(f"{p}+{a}" for p in PRECISIONS for a in AGGREGATIONS)])
    able = Machine(torch="", pyg="", cuda=True, kernels={"cpu": kernels, "cuda": kernels}, libraries={})
    return cannot_run(Candidate(settings_of({"model.conv": "sage", **row}), DEVICE), able) is None


@pytest.mark.parametrize("row", pairwise(PAIRED, can_be), ids=lambda row: "-".join(map(str, row.values())))
def test_any_two_options_go_together(graph, machine, row) -> None:
    trained_or_refused(row, graph, machine)
