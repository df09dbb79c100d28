"""Which spread is what the classifier reads."""

from __future__ import annotations

import pytest

from harness.records.spread import spread_read

COLLAPSING = [0.9, 0.5, None, 0.01, 0.7]  # features, three hidden layers, logits


@pytest.mark.parametrize(
    ("by_layer", "jumping", "read"),
    [
        (COLLAPSING, "none", 0.01),
        (COLLAPSING, "cat", 0.5),
        (COLLAPSING, "max", 0.5),
        ([0.9, None, 0.7], "cat", None),
        ([0.9, 0.7], "none", None),  # no hidden layer
        ([], "none", None),
    ],
)
def test_it_is_the_last_hidden_layer_or_the_widest_of_those_read(by_layer, jumping, read):
    assert spread_read(by_layer, jumping) == read
