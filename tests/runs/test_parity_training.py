"""What feeds a model, and what it holds, changes no step: logits, gradients, running statistics, weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.runs.execute import assemble
from harness.runs.request import RunRequest
from harness.runs.stages import NoClock
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training

CPU = torch.device("cpu")
CONVS = ("gcn", "sage", "gat", "gin", "mpnn")
BATCHINGS: dict[str, dict[str, Any]] = {
    "neighbor": {"sampling": {"fanout": [4, 3]}},
    "cluster": {"batching": "cluster", "partition": {"method": "random", "parts": 6, "per_batch": 2}},
    "full": {"batching": "full"},
}
# of the baseline's operations in the baseline's order: to the bit; checkpointing computes some of them again
SAME = {
    "loader": {"loader": {"threads": 2, "depth": 3}},
    "disk": {"features": {"home": "disk"}},
    "device": {"features": {"home": "device"}},
    "cache-degree": {"features": {"cache_ratio": 0.3}},
    "cache-presample-disk": {"features": {"home": "disk", "cache_ratio": 0.2, "policy": "presample"}},
    "cache-all": {"features": {"cache_ratio": 1.0}, "loader": {"threads": 1}},
    "retain": {"retain": "layer"},
    "checkpointing": {"checkpointing": True},
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        sizes = {"nodes": 150, "mean_degree": 5.0, "classes": 3, "features": 7, "edge_features": 2}
        section = Synthetic(source="synthetic", **sizes, split=split)
        yield prepare(section, "graph", ".")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("batching", BATCHINGS)
@pytest.mark.parametrize("option", SAME)
@pytest.mark.parametrize("conv", CONVS)
def test_every_step_is_the_baselines(graph, conv, option, batching):
    wanted = trained(graph, conv, BATCHINGS[batching])
    found = trained(graph, conv, {**BATCHINGS[batching], **SAME[option]})
    assert wanted.keys() == found.keys()
    assert len([name for name in wanted if name.startswith("logits")]) >= 2
    for name, value in wanted.items():
        if option == "checkpointing":
            torch.testing.assert_close(found[name], value, rtol=1e-5, atol=1e-6, msg=name)
        else:
            assert torch.equal(found[name], value), name


@pytest.mark.parametrize("batching", ["neighbor", "cluster"])
@pytest.mark.parametrize("option", ["loader", "disk", "device", "cache-degree", "cache-presample-disk", "cache-all"])
def test_features_in_half_are_the_same_wherever_they_lie(graph, option, batching):
    half = {"precision": "fp16-features", **BATCHINGS[batching]}
    wanted, found = trained(graph, "sage", half), trained(graph, "sage", {**half, **SAME[option]})
    assert wanted.keys() == found.keys()
    for name, value in wanted.items():
        assert torch.equal(found[name], value), name


def trained(graph: Path, conv: str, options: dict[str, Any]) -> dict[str, Tensor]:
    """Logits and gradients of each step of two epochs, and what the model has at their end."""
    request = RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=0, graph_path=str(graph), spec_dir=str(graph),
        model=Model(conv=conv, layers=2, hidden=8, heads=2, dropout=0.5, norm="batch"),
        training=Training(epochs=2, batch_size=32, lr=0.01, clip=1.0),
        options=Options.model_validate(options), device="cpu", threads=1,
    )  # fmt: skip
    run = assemble(request, open_graph(graph), CPU)
    seen: dict[str, Tensor] = {}
    run.model.register_forward_hook(lambda _, __, out: seen.update({f"logits {len(seen)}": out.detach().clone()}))
    run.trainer._optimiser.register_step_pre_hook(
        lambda *_: seen.update({f"gradient {len(seen)}": torch.cat([p.grad.flatten() for p in run.model.parameters()])})
    )
    torch.manual_seed(0)
    for epoch in (1, 2):
        run.trainer.epoch(epoch, NoClock())
    return {**seen, **{f"at the end {name}": value for name, value in run.model.state_dict().items()}}
