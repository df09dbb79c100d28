"""Splits are disjoint, labelled, repeatable, and say when they are poor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs.raw import SplitNodes
from harness.graphs.splits import check_split, given_splits, random_split, split_warnings, stratified_split
from harness.spec.errors import InputError


@given(
    st.lists(st.integers(-1, 4), min_size=30, max_size=200),
    st.floats(0.1, 0.7),
    st.floats(0.1, 0.25),
    st.integers(0, 2**32),
    st.sampled_from([random_split, stratified_split]),
)
@settings(max_examples=80)
def test_parts_hold_every_labelled_node_once(labels: list[int], train: float, val: float, seed: int, draw) -> None:
    y = np.array(labels)
    nodes = draw(y, train, val, seed)
    together = np.concatenate([nodes.train, nodes.val, nodes.test])
    assert sorted(together) == np.flatnonzero(y >= 0).tolist()
    assert all((np.diff(part) > 0).all() for part in (nodes.train, nodes.val, nodes.test))


def test_a_seed_gives_one_split_and_another_seed_another() -> None:
    y = np.arange(1000) % 5
    np.random.seed(1)  # noqa: NPY002 - the global state must not matter
    one = random_split(y, 0.6, 0.2, 3)
    np.random.seed(2)  # noqa: NPY002
    assert np.array_equal(one.train, random_split(y, 0.6, 0.2, 3).train)
    assert not np.array_equal(one.train, random_split(y, 0.6, 0.2, 4).train)
    assert not np.array_equal(one.train, stratified_split(y, 0.6, 0.2, 3).train)


def test_random_split_has_the_asked_sizes_and_no_pattern() -> None:
    nodes = random_split(np.zeros(10_000, dtype=int), 0.6, 0.2, 0)
    assert (len(nodes.train), len(nodes.val), len(nodes.test)) == (6000, 2000, 2000)
    # mean of 6,000 ids of 0 .. 9,999 without replacement: sd 2,887 / sqrt(6000) * sqrt(0.4) = 23.6
    assert abs(nodes.train.mean() - 4999.5) < 5 * 23.6


def test_stratified_keeps_each_class_share_within_one_node() -> None:
    y = np.repeat(np.arange(4), [1000, 100, 10, 1])
    nodes = stratified_split(y, 0.6, 0.2, 0)
    for label, size in enumerate([1000, 100, 10, 1]):
        assert abs((y[nodes.train] == label).sum() - 0.6 * size) <= 1
    assert set(y[nodes.train]) == {0, 1, 2, 3}


def test_ids_masks_and_columns_of_masks_say_the_same() -> None:
    ids = {"train": np.array([4, 0]), "val": np.array([2]), "test": np.array([1, 3])}
    masks = {part: np.isin(np.arange(5), own) for part, own in ids.items()}
    numbers = {part: mask.astype(np.uint8) for part, mask in masks.items()}
    columns = {part: np.stack([mask, ~mask], axis=1) for part, mask in masks.items()}
    for arrays in (ids, masks, numbers, columns):
        (first, *others) = given_splits(arrays, 5, "f", "k")
        assert [first.train.tolist(), first.val.tolist(), first.test.tolist()] == [[0, 4], [2], [1, 3]]
        assert len(others) == (1 if arrays is columns else 0)


def test_one_test_mask_serves_all_splits() -> None:
    masks = {"train": np.eye(4, dtype=bool)[:, :2], "val": np.eye(4, dtype=bool)[:, 1:3], "test": np.arange(4) == 3}
    splits = given_splits(masks, 4, "f", "k")
    assert [s.test.tolist() for s in splits] == [[3], [3]]


def test_unlabelled_nodes_are_in_no_part() -> None:
    y = np.array([0, -1, 1, -1, 0, 1])
    nodes = check_split(SplitNodes(np.array([0, 1]), np.array([2, 3]), np.array([4, 5])), y, "f")
    assert [nodes.train.tolist(), nodes.val.tolist(), nodes.test.tolist()] == [[0], [2], [4, 5]]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (([0, 1], [1, 2], [3]), "in both train and val, e.g. node 1"),
        (([0, 1], [2], [0]), "in both train and test"),
        (([0], [], [1]), "no labelled node in val: it is empty"),
        (([0], [5], [1]), "no labelled node in val: its 1 nodes have no label"),
    ],
)
def test_a_bad_split_is_refused(parts: tuple[list[int], ...], said: str) -> None:
    y = np.array([0, 1, 0, 1, 0, -1])
    with pytest.raises(InputError, match=said):
        check_split(SplitNodes(*(np.array(part, dtype=np.int64) for part in parts)), y, Path("split.npz"))


def test_warnings_name_unseen_classes_and_small_test_sets() -> None:
    y = np.array([0, 0, 1, 2])
    found = split_warnings(SplitNodes(np.array([0]), np.array([1]), np.array([2, 3])), y, ("a", "b", "c"))
    assert "no training node of class b, c" in found[0]
    assert "only 2 test nodes" in found[1]
    y = np.tile([0, 1], 300)
    quiet = SplitNodes(np.arange(300), np.arange(300, 400), np.arange(400, 600))
    assert split_warnings(quiet, y, ("a", "b")) == []  # 200 test nodes: 0.5 pp is one of them
