"""Exact options against the baseline: same weights, same batch, same random state, with dropout on.

Logits and gradients are equal to a relative 1e-5 in float32 and 1e-9 in float64, the running statistics of batch norm
too, and as many random numbers are drawn.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.models.build import build_model
from harness.plan.capabilities import model_cannot
from harness.spec.options import Model, Options

CONVS = ("gcn", "sage", "gat", "gin", "mpnn")
EXACT = [
    {"checkpointing": True},
    {"retain": "layer"},
    {"checkpointing": True, "retain": "layer"},
    {"aggregation": "segment"},
    {"aggregation": "spmm"},
    {"aggregation": "dense"},
    {"aggregation": "segment", "checkpointing": True},
]
PARTS = [
    {"norm": "batch"},
    {"norm": "layer", "residual": True, "input_dropout": 0.3},
    {"norm": "pair", "jumping": "cat"},
    {"norm": "batch", "residual": True, "jumping": "max"},
]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-9}


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "-".join(map(str, parts.values())))
@pytest.mark.parametrize("exact", EXACT, ids=lambda exact: "-".join(map(str, exact.values())))
@pytest.mark.parametrize("conv", CONVS)
def test_a_step_is_the_baselines(graphs, batches, conv, exact, parts, dtype):
    model = Model.model_validate({"conv": conv, "layers": 3, "hidden": 8, "heads": 2, "dropout": 0.5, **parts})
    options = Options.model_validate(exact)
    refused = model_cannot(model, options)
    if refused is not None:
        pytest.skip(refused)
    graph = graphs()
    for kind in ("full", "cluster", "neighbor"):
        nodes, blocks = batches(graph, kind, 3)
        x = torch.from_numpy(graph.x[nodes]).to(dtype)
        y = torch.from_numpy(graph.y[nodes[: blocks[-1].num_dst]])
        wanted, found = (step(model, how, x, blocks, y) for how in (Options(), options))
        assert wanted.keys() == found.keys()
        for name, value in wanted.items():
            assert relative_difference(found[name], value) <= TOLERANCE[dtype], f"{kind}: {name}"


def step(model: Model, options: Options, x: Tensor, blocks, y: Tensor) -> dict[str, Tensor]:
    """What one training step computes: logits, gradients, statistics, and the next random number."""
    torch.manual_seed(0)
    net = build_model(model, 12, 4, options, edge_features=3).to(x.dtype)
    torch.manual_seed(1)
    logits = net.train()(x, blocks)
    F.cross_entropy(logits, y).backward()
    after = torch.rand(1)
    assert not any(isinstance(m, nn.modules.batchnorm._BatchNorm) and m.num_batches_tracked != 1 for m in net.modules())
    return {
        "logits": logits.detach(),
        # as one: that of a bias before batch norm is 0, and what is computed of it is rounding
        "gradients": torch.cat([p.grad.flatten() for p in net.parameters()]),
        **{f"statistic {name}": buffer for name, buffer in net.named_buffers()},
        "next random number": after,
    }


def relative_difference(found: Tensor, wanted: Tensor) -> float:
    """Largest difference over the largest value."""
    assert found.shape == wanted.shape
    difference, largest = (found - wanted).abs().max(), wanted.abs().max()
    return float(difference / largest) if difference > 0 else 0.0
