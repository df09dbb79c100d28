"""A known number: a two-layer gcn on Cora's public split (Kipf and Welling 2017: 81.5 %)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from harness.batches.full import FullBatch
from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.models.build import build_model
from harness.models.inference import Inference
from harness.spec.dataset import Pyg
from harness.spec.options import Model, Options


@pytest.fixture
def cora(real_data, cache, monkeypatch) -> Graph:
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    return open_graph(prepare(Pyg(source="pyg", name="Planetoid/Cora"), "cora", cache))


@pytest.mark.data
@pytest.mark.parametrize("aggregation", ["scatter", "spmm"])
def test_gcn_reaches_what_is_published(cora, aggregation):
    torch.manual_seed(0)
    model = Model(conv="gcn", layers=2, hidden=16, dropout=0.5)
    net = build_model(model, cora.num_features, cora.num_classes, Options(batching="full", aggregation=aggregation))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    x, y = torch.from_numpy(np.array(cora.x)), torch.from_numpy(np.array(cora.y))
    inference, plan = Inference(cora, "cpu"), FullBatch(cora, layers=2)
    best = (float("inf"), 0.0)
    for epoch in range(1, 121):
        (batch,) = list(plan.epoch(epoch))
        optimizer.zero_grad()
        F.cross_entropy(net(x, batch.blocks)[batch.targets], y[batch.targets]).backward()
        optimizer.step()
        if epoch % 5 == 0:
            logits = inference.logits(net)
            loss = float(F.cross_entropy(logits[cora.val], y[cora.val]))
            best = min(best, (loss, float((logits[cora.test].argmax(1) == y[cora.test]).float().mean())))
    assert 0.79 <= best[1] <= 0.84
