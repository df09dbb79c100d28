"""Every combination trains one step and proves its options, or has a reason."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F

from harness.models.build import build_model
from harness.models.errors import Unsupported
from harness.models.precision import Precision, update
from harness.spec.options import Model, Options

PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "fp16-linear": "float32"}


@pytest.mark.parametrize("precision", [*PRECISIONS, "bf16-linear"])
@pytest.mark.parametrize("aggregation", ["scatter", "spmm", "segment", "dense"])
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin"])
def test_trains_and_proves_its_options(graphs, batches, conv, aggregation, precision):
    graph = graphs()
    model = Model(conv=conv, layers=3, hidden=8, heads=2, norm="batch")
    for kind, checkpointing in itertools.product(["neighbor", "cluster", "full"], [False, True]):
        options = Options(batching=kind, aggregation=aggregation, precision=precision, checkpointing=checkpointing)
        if (conv, aggregation) == ("gat", "spmm"):
            with pytest.raises(Unsupported, match="attention weights per edge: spmm gains nothing"):
                build_model(model, 12, 4, options)
            continue
        nodes, blocks = batches(graph, kind, 3)
        torch.manual_seed(0)
        net = build_model(model, 12, 4, options)
        before = [p.detach().clone() for p in net.parameters()]
        optimizer, scaler = torch.optim.SGD(net.parameters(), lr=0.1), Precision(precision, "cpu").scaler()
        y = torch.from_numpy(graph.y[nodes[: blocks[-1].num_dst]])
        loss = F.cross_entropy(net(torch.from_numpy(graph.x[nodes]), blocks), y)
        assert torch.isfinite(loss), (kind, checkpointing)
        scaler.scale(loss).backward()
        update(net, optimizer, scaler)
        assert any(not torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True)) or scaler.is_enabled()
        counters = net.counters()
        assert counters["aggregation"] == aggregation
        assert counters["aggregation_calls"] == {aggregation: 5 if checkpointing else 3}
        assert counters["aggregation_dtype"] == [PRECISIONS.get(precision, "float32")] * 3
        assert counters["checkpoint_recomputations"] == (2 if checkpointing else 0)
