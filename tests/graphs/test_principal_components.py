"""Principal components against their definition: the singular vectors of the centred training rows."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs import features
from harness.graphs import principal_components as module
from harness.graphs.principal_components import fit_components, project
from harness.spec.errors import InputError


def table(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Features whose variances fall by a fifth a column, in a random basis, far from the origin."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((columns, columns)))[0]
    spread = 0.8 ** np.arange(columns)
    return (rng.standard_normal((rows, columns)) * spread @ basis + 3.0).astype(np.float32)


def projected(x: np.ndarray, fitted: np.ndarray, k: int) -> np.ndarray:
    return np.concatenate(list(project(x, fit_components(x, fitted, k))))


def by_definition(x: np.ndarray, fitted: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Projections up to their signs, and variances."""
    mean = x[fitted].astype(np.float64).mean(axis=0)
    _, singular, directions = np.linalg.svd(x[fitted] - mean, full_matrices=False)
    return (x - mean) @ directions[:k].T, singular**2


@pytest.mark.parametrize(("rows", "columns"), [(200, 30), (40, 90)])  # by covariance, by products of rows
def test_projections_are_those_of_a_singular_value_decomposition(rows, columns, monkeypatch) -> None:
    monkeypatch.setattr(features, "CHUNK_BYTES", 4 * columns * 7)
    monkeypatch.setattr(module, "_COLUMN_BYTES", 8 * 30 * 11)
    x, fitted = table(rows, columns), np.arange(0, rows, 2)
    found = fit_components(x, fitted, 6)
    theirs, variances = by_definition(x, fitted, 6)
    np.testing.assert_allclose(np.abs(projected(x, fitted, 6)), np.abs(theirs), rtol=1e-4, atol=1e-5)
    share = np.cumsum(variances) / variances.sum()
    assert found.explained == pytest.approx(share[5])
    assert found.enough == np.argmax(share >= 0.85) + 1
    assert not found.at_least
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(6), atol=1e-10)
    largest = np.abs(found.directions).argmax(axis=0)
    assert (found.directions[largest, np.arange(6)] > 0).all()


def test_a_table_too_wide_is_projected_almost_as_exactly(monkeypatch) -> None:
    x, fitted = table(300, 120), np.arange(250)
    exact = fit_components(x, fitted, 8)
    monkeypatch.setattr(module, "EXACT_WIDTH", 100)
    found = fit_components(x, fitted, 8)
    assert (exact.method, found.method) == ("exact", "randomised")
    np.testing.assert_allclose(found.directions, exact.directions, atol=1e-6)
    assert found.explained == pytest.approx(exact.explained, rel=1e-9)
    assert (found.enough, found.at_least) == (exact.enough, False)
    again = fit_components(x, fitted, 8)
    assert np.array_equal(found.directions, again.directions)


def test_of_a_table_too_wide_the_components_beyond_are_bounded_from_below(monkeypatch) -> None:
    x, fitted = np.random.default_rng(0).standard_normal((400, 150)).astype(np.float32), np.arange(400)
    exact = fit_components(x, fitted, 4)
    monkeypatch.setattr(module, "EXACT_WIDTH", 100)
    found = fit_components(x, fitted, 4)
    assert found.at_least
    assert 36 < found.enough <= exact.enough
    assert exact.explained - 0.01 < found.explained <= exact.explained


def test_where_training_rows_do_not_differ_nothing_is_made_up() -> None:
    flat = np.random.default_rng(1).standard_normal((50, 12)).astype(np.float32)
    flat[:40, 2:] = 0.0  # rows that are not fitted lie outside the plane
    found = projected(flat, np.arange(40), 5)
    assert (found[:, 2:] == 0.0).all()
    assert np.isfinite(found).all()
    same = np.ones((6, 3), np.float32)
    assert (projected(same, np.arange(6), 2) == 0.0).all()
    assert fit_components(same, np.arange(6), 2).explained == 1.0


SPLIT = {"train": np.arange(10), "val": np.arange(10, 14), "test": np.arange(14, 20)}


def test_a_graph_is_projected_by_its_training_nodes_alone(from_arrays, arrays) -> None:
    one = from_arrays(arrays | SPLIT, transform={"pca": 3})
    changed = arrays["x"].copy()
    changed[10:] *= -40.0
    other = from_arrays(arrays | SPLIT | {"x": changed}, transform={"pca": 3})
    assert one.x.shape == (20, 3)
    assert one.num_features == 3
    assert np.array_equal(one.x[:10], other.x[:10])
    assert not np.array_equal(one.x[10:], other.x[10:])
    leaking = from_arrays(arrays | SPLIT | {"x": changed}, transform={"pca": 3, "fit": "all"})
    assert not np.array_equal(leaking.x[:10], other.x[:10])
    theirs, variances = by_definition(arrays["x"], SPLIT["train"], 3)
    np.testing.assert_allclose(np.abs(one.x), np.abs(theirs), rtol=1e-4, atol=1e-5)
    assert one.meta.features.projection.explained_variance == pytest.approx(variances[:3].sum() / variances.sum())
    assert one.meta.features.columns == 5


def test_little_variance_kept_is_a_warning_that_says_what_would_do(from_arrays, arrays) -> None:
    _, variances = by_definition(arrays["x"], SPLIT["train"], 1)
    share = 100 * variances[0] / variances.sum()
    enough = int(np.argmax(np.cumsum(variances) / variances.sum() >= 0.85)) + 1
    graph = from_arrays(arrays | SPLIT, transform={"pca": 1})
    assert f"transform.pca: 1 components keep {share:.1f} % of the variance of the features; 85 % needs {enough}" in (
        graph.meta.warnings
    )
    assert not any("transform.pca" in warning for warning in from_arrays(arrays, transform={"pca": 5}).meta.warnings)


def test_scaling_comes_before_the_components(from_arrays, arrays) -> None:
    far = arrays["x"] * np.array([1e4, 1, 1, 1, 1], np.float32)
    plain = from_arrays(arrays | SPLIT | {"x": far}, transform={"pca": 2})
    scaled = from_arrays(arrays | SPLIT | {"x": far}, transform={"pca": 2, "scale": "standard"})
    assert plain.meta.features.projection.explained_variance > 0.999
    assert scaled.meta.features.projection.explained_variance < 0.9


@pytest.mark.parametrize(("k", "says"), [(6, "5 features of 10 training nodes"), (11, "at most 5")])
def test_more_components_than_there_are_is_an_error(k, says, from_arrays, arrays) -> None:
    with pytest.raises(InputError, match=says) as caught:
        from_arrays(arrays | SPLIT, transform={"pca": k})
    assert caught.value.problems[0].path == "dataset.transform.pca"


@pytest.mark.parametrize("rank", [0, 3])
def test_a_table_too_wide_of_few_directions_has_no_others(rank, monkeypatch) -> None:
    monkeypatch.setattr(module, "EXACT_WIDTH", 50)
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((90, rank)) @ rng.standard_normal((rank, 70)) + 1.0).astype(np.float32)
    found = fit_components(x, np.arange(90), 8)
    assert (found.method, found.at_least) == ("randomised", False)
    assert found.explained == pytest.approx(1.0)
    assert found.enough <= max(rank, 1)
