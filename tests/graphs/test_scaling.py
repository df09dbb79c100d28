"""Scaling is fitted on training nodes: nothing of the test set leaks, and nothing becomes NaN."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs.scaling import apply_scale, fit_scale

TRAIN = np.array([0, 2, 3, 5, 7, 8])


def features() -> np.ndarray:
    x = np.random.default_rng(0).normal(50.0, 3.0, (10, 6)).astype(np.float32)
    x[:, 1] = 0.1  # constant everywhere
    x[TRAIN, 2] = 7.0  # constant on training nodes only
    x[:, 3] *= 1e6
    return x


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_training_rows_get_the_promised_range_and_constants_become_zero(kind) -> None:
    x = features()
    apply_scale(x, fit_scale(x, TRAIN, kind))
    rows = x[TRAIN]
    assert np.isfinite(x).all()
    varying = [0, 3, 4, 5]
    if kind == "standard":
        np.testing.assert_allclose(rows[:, varying].mean(axis=0), 0.0, atol=1e-5)
        np.testing.assert_allclose(rows[:, varying].std(axis=0), 1.0, rtol=1e-5)
    else:
        np.testing.assert_allclose(rows[:, varying].min(axis=0), 0.0, atol=1e-6)
        np.testing.assert_allclose(rows[:, varying].max(axis=0), 1.0, rtol=1e-6)
    assert (x[:, 1] == 0.0).all()
    assert (rows[:, 2] == 0.0).all()


@pytest.mark.parametrize("kind", ["standard", "minmax"])
def test_other_nodes_do_not_change_the_fit(kind) -> None:
    x = features()
    before = fit_scale(x, TRAIN, kind)
    x[np.setdiff1d(np.arange(10), TRAIN)] += 1000.0
    after = fit_scale(x, TRAIN, kind)
    assert np.array_equal(before.shift, after.shift)
    assert np.array_equal(before.width, after.width)
    x[TRAIN[0]] += 1000.0
    assert not np.array_equal(before.width, fit_scale(x, TRAIN, kind).width)


def test_prepared_training_features_are_the_same_whatever_the_test_nodes_hold(from_arrays, arrays) -> None:
    split = {"train": np.arange(10), "val": np.arange(10, 14), "test": np.arange(14, 20)}
    scale = {"scale": "standard"}
    one = from_arrays(arrays | split, transform=scale)
    changed = arrays["x"].copy()
    changed[10:] *= -40.0
    other = from_arrays(arrays | split | {"x": changed}, transform=scale)
    assert np.array_equal(one.x[:10], other.x[:10])
    assert not np.array_equal(one.x[10:], other.x[10:])
    np.testing.assert_allclose(one.x[:10].std(axis=0), 1.0, rtol=1e-5)
