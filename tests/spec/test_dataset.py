"""What a data set's section refuses by itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness.spec.dataset import Synthetic, Transform


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "changes nothing"),
        ({"fit": "all"}, "changes nothing"),
        ({"structural": ["degree", "degree"]}, "names a column twice"),
        ({"structural": ["degree"], "walk_steps": 8}, "`walk_steps` changes nothing"),
        ({"scale": "row", "fit": "all"}, "`fit` changes nothing with scale: row alone"),
        ({"pca": 0}, "greater than or equal to 1"),
        ({"structural": ["betweenness"]}, "'degree', 'pagerank', 'clustering' or 'random-walk'"),
    ],
)
def test_a_transform_that_cannot_be_meant(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Transform(**keys)


def test_a_transform_is_read_back_as_it_was_written() -> None:
    transform = Transform(structural=("degree", "random-walk"), pca=3)
    assert Transform.model_validate(transform.model_dump(mode="json")) == transform
    assert transform.columns_after(100) == 3 + 1 + 16
    assert Transform(scale="row").columns_after(100) == 100


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"nodes": 20}, "a mean_degree of 14 with 20 nodes; at most 9.5 fits"),
        ({"nodes": 1000, "mean_degree": 1e300}, "at most 499.5 fits"),
        ({"nodes": 10, "mean_degree": 2.0, "classes": 20}, "20 classes for 10 nodes"),
    ],
)
def test_a_synthetic_graph_that_cannot_be_made(keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Synthetic(source="synthetic", **keys)
