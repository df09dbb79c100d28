"""The spread of embeddings against all pairs, one by one."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from harness.models import over_smoothing
from harness.models.over_smoothing import SpreadProbe, spread_of


def by_pairs(rows: torch.Tensor) -> float:
    unit = F.normalize(rows.double(), dim=1)
    return float((1 - unit @ unit.t()).mean())


@pytest.mark.parametrize("shift", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_is_the_mean_over_all_pairs(monkeypatch, rows, shift):
    monkeypatch.setattr(over_smoothing, "PIECE_BYTES", 8 * 5 * rows)
    embeddings = torch.randn(60, 5) + shift
    found, zero_rows = spread_of(embeddings)
    assert found == pytest.approx(by_pairs(embeddings), abs=1e-12)
    assert zero_rows == 0


def test_of_one_direction_is_zero_and_of_opposite_ones_is_one():
    direction = torch.randn(5)
    assert spread_of(torch.rand(40, 1) * direction)[0] == pytest.approx(0.0, abs=1e-12)
    assert spread_of(torch.stack([direction, -direction]))[0] == pytest.approx(1.0)
    assert spread_of(torch.eye(10))[0] == pytest.approx(0.9)


def test_rows_of_zeros_are_left_out_and_counted():
    embeddings = torch.randn(20, 5)
    embeddings[3:8] = 0
    kept = torch.cat([embeddings[:3], embeddings[8:]])
    found, zero_rows = spread_of(embeddings)
    assert found == pytest.approx(by_pairs(kept), abs=1e-12)
    assert zero_rows == 5
    embeddings[3:8] = torch.tensor([[float("inf")], [float("nan")], [0.0], [0.0], [0.0]])
    assert spread_of(embeddings) == (found, 5)
    assert spread_of(torch.zeros(4, 5)) == (None, 4)


@pytest.mark.parametrize(
    ("hidden", "smoothed"),
    [(torch.eye(10), False), (torch.ones(10, 3), True), (torch.zeros(10, 3), True)],
)
def test_the_narrowest_hidden_layer_decides(hidden, smoothed):
    probe = SpreadProbe()
    for embeddings in (torch.eye(10), hidden, torch.eye(10), torch.eye(10)):
        probe.see(embeddings)
    counters = probe.counters()
    assert counters["over_smoothed"] is smoothed
    assert len(counters["embedding_spread"]) == len(counters["embedding_zero_rows"]) == 4


@pytest.mark.parametrize(("jumping", "smoothed"), [("none", True), ("cat", False), ("max", False)])
def test_a_classifier_that_reads_all_layers_is_judged_by_the_widest(jumping, smoothed):
    probe = SpreadProbe(jumping)
    for embeddings in (torch.eye(10), torch.eye(10), torch.ones(10, 3), torch.eye(10)):
        probe.see(embeddings)
    assert probe.counters()["over_smoothed"] is smoothed


def test_a_network_without_a_hidden_layer_has_nothing_to_smooth():
    probe = SpreadProbe()
    probe.see(torch.ones(10, 3))
    probe.see(torch.ones(10, 3))
    assert probe.counters()["over_smoothed"] is None
