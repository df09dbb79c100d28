"""The tensors expected of a training step are those that torch allocates in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.plan.batch_shapes import layer_shapes
from harness.plan.memory_parts import parameters
from harness.plan.sizes import sizes_of
from harness.plan.step_memory import StepMemory
from harness.runs.execute import assemble
from harness.runs.request import RunRequest
from harness.runs.stages import NoClock
from harness.spec.dataset import Split, Synthetic
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.spec.options import Model, Options, Training

BASE = Settings(Model(conv="sage", layers=3, hidden=96), Training(), Options(batching="full"))


class LiveTensors(TorchDispatchMode):
    """Bytes of all storages that operations gave out and that are alive, and the most there were."""

    def __init__(self) -> None:
        super().__init__()
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        self._alive = {key: held for key, held in self._alive.items() if not held[0].expired()}
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                storage = tensor.untyped_storage()
                self._alive.setdefault(storage._cdata, (StorageWeakRef(storage), storage.nbytes()))
        self.peak = max(self.peak, sum(size for _, size in self._alive.values()))
        return out


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    split = Split(kind="random", train=0.5, val=0.25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        dataset = Synthetic(
            source="synthetic", nodes=600, mean_degree=8, classes=8, features=160, edge_features=8, split=split
        )
        yield open_graph(prepare(dataset, "g", "."))


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("conv", ["gcn", "sage", "gin", "gat", "mpnn"])
@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"aggregation": "spmm"},
        {"aggregation": "segment"},
        {"aggregation": "dense"},
        {"checkpointing": True},
        {"precision": "bf16"},
        {"precision": "bf16-linear", "aggregation": "segment"},
        {"model.norm": "batch", "model.residual": True},
        {"model.norm": "pair", "model.jumping": "cat", "model.dropout": 0.0},
        {"model.heads": 4, "model.norm": "layer"},
        {"model.input_dropout": 0.5, "retain": "layer", "model.norm": "layer"},
    ],
    ids=lambda patch: " ".join(map(str, patch.values())) or "plain",
)
def test_the_most_that_a_step_holds_and_its_weights(
    graph: Graph, conv: str, patch: dict[str, Any], request_of: Callable[..., RunRequest]
) -> None:
    if conv in ("gat", "mpnn") and patch.get("aggregation") == "spmm":
        pytest.skip(f"{conv} has no spmm")
    settings = settings_of(patched(tree_of(BASE), {"model.conv": conv, **patch}))
    request = request_of(
        purpose="timing",
        model=settings.model,
        training=settings.training,
        options=settings.options,
        graph_path=str(graph.path),
    )
    run = assemble(request, graph, torch.device("cpu"))
    trainer = run.trainer
    trainer.epoch(1, NoClock())  # indices and the optimiser's moments are there from now on
    with LiveTensors() as live:
        trainer.epoch(2, NoClock())
    sizes = sizes_of(graph.meta.model_dump())
    layers = layer_shapes(settings, sizes)
    assert parameters(settings, layers, sizes) == sum(p.numel() for p in run.model.parameters())
    expected = sum(StepMemory(settings, layers, "cpu").ledger.peak.values())
    assert expected == pytest.approx(live.peak, rel=0.25)
