"""What is missing is filled by what the training nodes hold, and by nothing of the test set."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs import features
from harness.spec.errors import InputError

SPLIT = {"train": np.arange(10), "val": np.arange(10, 14), "test": np.arange(14, 20)}


@pytest.fixture
def with_gaps(arrays):
    x = arrays["x"].copy()
    x[[2, 5, 12, 17], 1] = np.nan
    x[19, 4] = np.nan
    return arrays | SPLIT | {"x": x}


def test_a_gap_is_the_mean_of_the_training_nodes_that_have_the_feature(from_arrays, with_gaps, monkeypatch) -> None:
    monkeypatch.setattr(features, "CHUNK_BYTES", 64)  # several chunks
    graph = from_arrays(with_gaps, transform={"missing": "mean"})
    x = with_gaps["x"]
    known = x[[0, 1, 3, 4, 6, 7, 8, 9], 1].mean()
    np.testing.assert_allclose(graph.x[[2, 5, 12, 17], 1], known, rtol=1e-6)
    np.testing.assert_allclose(graph.x[19, 4], x[:10, 4].mean(), rtol=1e-6)
    there = ~np.isnan(x)
    assert np.array_equal(graph.x[there], x[there])
    assert graph.meta.features.filled == 5


def test_what_other_nodes_hold_changes_nothing_filled_in(from_arrays, with_gaps) -> None:
    one = from_arrays(with_gaps, transform={"missing": "mean"})
    changed = with_gaps["x"].copy()
    changed[10:] *= -40.0
    other = from_arrays(with_gaps | {"x": changed}, transform={"missing": "mean"})
    assert np.array_equal(one.x[:10], other.x[:10])
    assert one.x[12, 1] == other.x[12, 1]
    leaking = from_arrays(with_gaps | {"x": changed}, transform={"missing": "mean", "fit": "all"})
    assert leaking.x[12, 1] != other.x[12, 1]


def test_a_feature_that_no_training_node_has_is_0_and_said(from_arrays, with_gaps) -> None:
    x = with_gaps["x"].copy()
    x[:10, 3] = np.nan
    graph = from_arrays(with_gaps | {"x": x}, transform={"missing": "mean", "scale": "standard"})
    assert (graph.x[:10, 3] == 0.0).all()
    assert np.isfinite(graph.x).all()
    assert any("no training node has feature 3 (1 in all)" in warning for warning in graph.meta.warnings)


def test_filling_comes_before_scaling(from_arrays, with_gaps) -> None:
    graph = from_arrays(with_gaps, transform={"missing": "mean", "scale": "standard"})
    np.testing.assert_allclose(graph.x[[2, 5, 12, 17], 1], 0.0, atol=1e-6)  # the mean itself


def test_an_infinite_feature_is_an_error_even_where_missing_ones_are_filled(from_arrays, with_gaps) -> None:
    x = with_gaps["x"].copy()
    x[7, 0] = np.inf
    with pytest.raises(InputError, match=r"feature 0 of node 7 is inf.*NaN for what is missing"):
        from_arrays(with_gaps | {"x": x}, transform={"missing": "mean"})
    with pytest.raises(InputError, match=r"feature 1 of node 2 is nan.*transform: \{missing: mean\}"):
        from_arrays(with_gaps, transform={"scale": "standard"})
