"""Which layer's spread tells whether nodes can still be told apart."""

from __future__ import annotations

import pytest

from harness.records.spread import over_smoothed, spread_judged

RECOVERING = [0.9, 0.5, 0.001, 0.1, 0.7]  # features, three hidden layers, logits: gcn of 32 layers on Cora looks so


@pytest.mark.parametrize(
    ("by_layer", "jumping", "judged", "collapsed"),
    [
        (RECOVERING, "none", 0.001, True),
        (RECOVERING, "cat", 0.5, False),
        (RECOVERING, "max", 0.5, False),
        ([0.9, 0.5, None, 0.7, 0.7], "none", None, True),  # a layer of zeros
        ([0.9, None, 0.7], "cat", None, True),
        ([0.9, 0.1, 0.2, 0.7], "none", 0.1, False),
        ([0.0, 0.0, 0.0, 0.0], "none", 0.0, False),  # features that are alike: no layer's doing
        ([None, 0.0, 0.0], "none", 0.0, False),  # features of zeros
        ([0.9, 0.7], "none", None, None),  # no hidden layer
        ([], "none", None, None),
    ],
)
def test_it_is_the_narrowest_hidden_layer_or_the_widest_of_those_read(by_layer, jumping, judged, collapsed):
    assert spread_judged(by_layer, jumping) == judged
    assert over_smoothed(by_layer, jumping) is collapsed
