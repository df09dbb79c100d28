"""Parity tells an exact variant from one that is not."""

from __future__ import annotations

import pytest
import torch

from harness.models.parity import Side, parity, parity_models
from harness.spec.options import Model, Options

MODEL = Model(conv="sage", layers=2, hidden=8, norm="batch")


@pytest.fixture
def sides(graphs, batches):
    graph = graphs()
    nodes, blocks = batches(graph, "neighbor", 2)
    x, y = torch.from_numpy(graph.x[nodes]), torch.from_numpy(graph.y[nodes])
    targets = torch.tensor([0, 2, 3])

    def make(reference, variant, other_x=None):
        first, second = parity_models(MODEL, 12, 4, reference, variant, seed=3)
        return (
            Side(first, x, blocks, targets, y[targets]),
            Side(second, x if other_x is None else other_x(x), blocks, targets, y[targets]),
        )

    return make


@pytest.mark.parametrize(
    ("reference", "variant"),
    [
        (Options(), Options(aggregation="spmm")),
        (Options(), Options(aggregation="segment")),
        (Options(), Options(checkpointing=True)),
        (Options(precision="fp16"), Options(precision="fp16", aggregation="spmm")),
    ],
)
def test_exact_variants_agree(sides, reference, variant):
    found = parity(*sides(reference, variant))
    assert found.ok
    assert found.max_abs_logit > 0.1
    assert found.max_abs_difference < 1e-5 * found.max_abs_logit
    assert found.gradient_cosine > 0.999999


def test_the_same_model_with_other_features_does_not(sides):
    found = parity(*sides(Options(), Options(), lambda x: x.half().float() + 0.01), note="features")
    assert not found.ok
    assert found.max_abs_difference > 0
    assert found.note == "features"


def test_values_that_are_not_finite_do_not(sides):
    found = parity(*sides(Options(), Options(), lambda x: x * float("nan")))
    assert not found.ok


def test_leaves_the_random_state_and_no_gradients(sides):
    before = torch.get_rng_state()
    reference, variant = sides(Options(), Options(aggregation="spmm"))
    parity(reference, variant)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.grad is None for side in (reference, variant) for p in side.model.parameters())
    assert reference.model.training
