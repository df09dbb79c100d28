"""Duplicate nodes across splits are found, counted, and said where they are many."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs.csr import build_csr
from harness.graphs.raw import SplitNodes
from harness.graphs.twins import find_twins, row_words

SPLIT = {"train": np.arange(10), "val": np.arange(10, 14), "test": np.arange(14, 20)}


def test_rows_hash_equal_where_they_are_equal() -> None:
    x = np.random.default_rng(0).standard_normal((1000, 7)).astype(np.float32)
    x[500:] = x[:500]
    x[500, 3], x[0, 3] = -0.0, 0.0
    x[501, 2] = x[1, 2] = np.nan
    words = row_words(x)
    assert np.array_equal(words[:500], words[500:])
    assert len(np.unique(words)) == 500
    moved = np.eye(3, dtype=np.float32)
    assert len(np.unique(row_words(moved))) == 3
    swapped = np.array([[1, 2], [2, 1]], np.float32)
    assert len(np.unique(row_words(swapped))) == 2


def test_rows_without_content_are_no_twins() -> None:
    empty = np.array([[0, 0], [-0.0, 0], [np.nan, 0], [0, 1]], np.float32)
    assert (row_words(empty) == 0).tolist() == [True, True, True, False]


def by_pairs(x, indptr, indices, split) -> tuple[int, int, int, int]:
    """The four counts, pair by pair."""
    sets = [set(indices[indptr[v] : indptr[v + 1]].tolist()) - {v} for v in range(len(x))]
    part = {int(v): p for p, ids in enumerate((split.train, split.val, split.test)) for v in ids}

    def alike(a: int, b: int, neighbours: bool) -> bool:
        same = np.array_equal(x[a], x[b]) and bool(x[a].any())
        return same and (not neighbours or sets[a] == sets[b] or sets[a] | {a} == sets[b] | {b})

    def counted(neighbours: bool) -> tuple[int, int]:
        test = sum(any(alike(v, int(u), neighbours) for u in split.train) for v in split.test)
        across = sum(any(part[u] != p and alike(v, u, neighbours) for u in part) for v, p in part.items())
        return test, across

    (test, across), (test_too, across_too) = counted(False), counted(True)
    return test, test_too, across, across_too


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_all_pairs(seed) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    x = rng.integers(0, 2, (n, 3)).astype(np.float32)
    source, target = rng.integers(0, 6, 70), rng.integers(0, n, 70)  # few sources: many equal neighbourhoods
    ends = np.array([[50, 51], [51, 50], [52, 52]]).T  # two that are each other's neighbours; a self-loop
    x[50] = x[51]
    csr = build_csr(np.concatenate([source, ends[0]]), np.concatenate([target, ends[1]]), n)
    order = rng.permutation(n)
    split = SplitNodes(np.sort(order[:25]), np.sort(order[25:35]), np.sort(order[35:55]))  # five in no part
    found = find_twins(row_words(x), csr, split)
    assert (
        found.test_features,
        found.test_features_and_neighbours,
        found.any_features,
        found.any_features_and_neighbours,
    ) == by_pairs(x, csr.indptr, csr.indices, split)


def test_copies_of_training_nodes_in_the_test_set_are_said(from_arrays, arrays) -> None:
    clean = from_arrays(arrays | SPLIT)
    assert clean.meta.features.twins.any_features == 0
    assert not any("training node" in warning for warning in clean.meta.warnings)
    x, edges = arrays["x"].copy(), arrays["edge_index"]
    edges = edges[:, ~np.isin(edges[1], [2, 15])]
    edges = np.concatenate([edges, [[5, 6, 5, 6], [2, 2, 15, 15]]], axis=1)
    x[15], x[16] = x[2], x[3]
    copied = from_arrays(arrays | SPLIT | {"x": x, "edge_index": edges})
    twins = copied.meta.features.twins
    assert (twins.test_features, twins.test_features_and_neighbours) == (2, 1)
    assert any("16.7 % (1 of 6) of the test nodes have the features and the" in w for w in copied.meta.warnings)
    assert any("16.7 % (1 of 6) of the test nodes have the features of a" in w for w in copied.meta.warnings)


def test_equal_features_are_no_sign_where_most_rows_are_equal(from_arrays, arrays) -> None:
    kinds = (np.arange(20) % 4)[:, None] == np.arange(4)
    graph = from_arrays(arrays | SPLIT | {"x": kinds.astype(np.float32)})
    assert graph.meta.features.twins.test_features == 6
    assert not any("have the features of a" in warning for warning in graph.meta.warnings)


def test_twins_are_found_before_a_transform_makes_nodes_equal(from_arrays, arrays) -> None:
    x = arrays["x"].copy()
    x[:10, 1:] = 0.0  # constant where it is fitted
    plain = from_arrays(arrays | SPLIT | {"x": x})
    scaled = from_arrays(arrays | SPLIT | {"x": x}, transform={"pca": 1})
    assert scaled.meta.features.twins == plain.meta.features.twins


@pytest.mark.parametrize(
    ("transform", "warned"),
    [
        ({"scale": "standard"}, False),
        ({"scale": "standard", "fit": "all"}, True),
        ({"structural": ["degree"], "fit": "all"}, True),
    ],
)
def test_a_transform_that_saw_the_test_nodes_is_said(transform, warned, from_arrays, arrays) -> None:
    graph = from_arrays(arrays | SPLIT, transform=transform)
    assert any("transform.fit is all" in warning for warning in graph.meta.warnings) == warned
