"""Which nodes train, validate and test: given splits checked, and drawn ones repeatable by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.raw import RawGraph, SplitNodes
from harness.spec.dataset import Split

DEFAULT = Split(kind="random", train=0.6, val=0.2, seed=0)
PARTS = ("train", "val", "test")


def random_split(y: np.ndarray, train: float, val: float, seed: int) -> SplitNodes:
    """Labelled nodes in random order, cut at the two shares.

    Args:
        y: classes, int, ``[num_nodes]``; -1 is unlabelled and in no part.
        train, val: shares of the labelled nodes; the rest tests.
        seed: the only source of randomness.
    """
    order = np.random.default_rng(np.random.SeedSequence([seed, 0])).permutation(np.flatnonzero(y >= 0))
    first, second = round(train * len(order)), round((train + val) * len(order))
    return SplitNodes(np.sort(order[:first]), np.sort(order[first:second]), np.sort(order[second:]))


def stratified_split(y: np.ndarray, train: float, val: float, seed: int) -> SplitNodes:
    """As `random_split`, but each class is cut at the two shares; every class has a node in training."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    parts: list[list[np.ndarray]] = [[], [], []]
    for label in np.unique(y[y >= 0]):
        order = rng.permutation(np.flatnonzero(y == label))
        first = max(1, round(train * len(order)))
        second = max(first, round((train + val) * len(order)))
        for part, nodes in zip(parts, np.split(order, [first, second]), strict=True):
            part.append(nodes)
    return SplitNodes(*(np.sort(np.concatenate(part)) for part in parts))


def given_splits(
    arrays: Mapping[str, np.ndarray], num_nodes: int, file: Path | str, key: str
) -> tuple[SplitNodes, ...]:
    """Splits from arrays train, val, test: node ids, masks ``[num_nodes]``, or masks ``[num_nodes, k]``.

    Raises:
        InputError: a part is missing, has a wrong shape or type, or names a node that does not exist or twice.
    """
    missing = [part for part in PARTS if part not in arrays]
    if missing:
        raise data_fault(
            file, key, f"the split lacks {', '.join(missing)}; it needs train, val and test (ids or masks)"
        )
    several = {part: _as_sets(np.asarray(arrays[part]), num_nodes, part, file, key) for part in PARTS}
    counts = {part: len(sets) for part, sets in several.items()}
    k = max(counts.values())
    if any(count not in (1, k) for count in counts.values()):
        raise data_fault(file, key, f"train, val and test have {counts} splits; give each the same number of columns")
    # one common mask beside several (the test set of WikiCS) belongs to all of them
    return tuple(SplitNodes(*(several[part][i if counts[part] > 1 else 0] for part in PARTS)) for i in range(k))


def _as_sets(array: np.ndarray, num_nodes: int, part: str, file: Path | str, key: str) -> list[np.ndarray]:
    if array.ndim == 2 and array.shape[0] == num_nodes and array.shape[1] > 0 and _is_mask(array):
        return [np.flatnonzero(array[:, i]) for i in range(array.shape[1])]
    if array.ndim != 1:
        raise data_fault(
            file, key, f"split {part} has shape {array.shape}; give node ids, or a mask of shape [{num_nodes}]"
        )
    if array.dtype == bool and len(array) != num_nodes:
        raise data_fault(file, key, f"mask {part} has {len(array)} entries for {num_nodes} nodes; give one a node")
    # 0/1 integers, one a node, cannot be ids: some would occur twice
    if array.dtype == bool or (len(array) == num_nodes > 2 and _is_mask(array)):
        return [np.flatnonzero(array)]
    if not np.issubdtype(array.dtype, np.integer):
        if len(array):
            raise data_fault(file, key, f"split {part} is {array.dtype}; give integer node ids or a boolean mask")
        array = array.astype(np.int64)
    ids = np.sort(array.astype(np.int64))
    if len(ids) and (ids[0] < 0 or ids[-1] >= num_nodes):
        wrong = ids[0] if ids[0] < 0 else ids[-1]
        raise data_fault(file, key, f"split {part} names node {wrong}; there are nodes 0 .. {num_nodes - 1}")
    twice = np.flatnonzero(ids[1:] == ids[:-1])
    if len(twice):
        raise data_fault(file, key, f"split {part} names node {ids[twice[0]]} twice; name each node once")
    return [ids]


def _is_mask(array: np.ndarray) -> bool:
    if array.dtype == bool:
        return True
    return np.issubdtype(array.dtype, np.integer) and bool(np.isin(array, (0, 1)).all())


def choose_split(
    wanted: Split | None, raw: RawGraph, y: np.ndarray, from_file: tuple[SplitNodes, ...] = ()
) -> tuple[SplitNodes, str]:
    """The split that a spec asks for, and its kind; default is the data's own, else random 60/20/20 by seed 0.

    Args:
        wanted: the spec's `dataset.split`.
        raw: the graph, with its own splits where it has some.
        y: classes, int64, ``[num_nodes]``; -1 is unlabelled.
        from_file: splits read from `wanted.path` for kind `file`.

    Raises:
        InputError: there is no such split, or it fails `check_split`.
    """
    wanted = wanted or (Split(kind="public") if raw.splits else DEFAULT)
    if wanted.kind in ("random", "stratified"):
        draw = random_split if wanted.kind == "random" else stratified_split
        assert wanted.train is not None  # the schema demands both
        assert wanted.val is not None
        nodes, kind, file = draw(y, wanted.train, wanted.val, wanted.seed), wanted.kind, raw.file
    else:
        given = from_file if wanted.kind == "file" else raw.splits
        file = wanted.path or raw.file
        nodes = _indexed(given, wanted.index, file)
        kind = "file" if wanted.kind == "file" else raw.own_split
    return check_split(nodes, y, file), kind


def _indexed(given: tuple[SplitNodes, ...], index: int, file: Path | str) -> SplitNodes:
    if not given:
        raise data_fault(
            file,
            "dataset.split.kind",
            "public: this data has no split of its own; write e.g. {kind: random, train: 0.6, val: 0.2, seed: 0}",
        )
    if index >= len(given):
        raise data_fault(
            file, "dataset.split.index", f"{index}: the data has {len(given)} split(s), index 0 .. {len(given) - 1}"
        )
    return given[index]


def check_split(nodes: SplitNodes, y: np.ndarray, file: Path | str) -> SplitNodes:
    """The split's labelled nodes: disjoint parts, none empty.

    Raises:
        InputError: a node is in two parts, or a part has no labelled node.
    """
    parts = {part: getattr(nodes, part) for part in PARTS}
    for one, other in (("train", "val"), ("train", "test"), ("val", "test")):
        shared = np.intersect1d(parts[one], parts[other])
        if len(shared):
            raise data_fault(
                file,
                "dataset.split",
                f"{len(shared)} node(s) are in both {one} and {other}, e.g. node {shared[0]}; parts must be disjoint",
            )
    labelled = {part: ids[y[ids] >= 0].astype(np.int64) for part, ids in parts.items()}
    for part, ids in labelled.items():
        if not len(ids):
            why = f"its {len(parts[part])} nodes have no label" if len(parts[part]) else "it is empty"
            raise data_fault(
                file, "dataset.split", f"no labelled node in {part}: {why}; give each part nodes, or other shares"
            )
    return SplitNodes(**labelled)


def untested_classes(y: np.ndarray, test: np.ndarray, class_names: Sequence[str]) -> list[str]:
    """Names of the classes of which no node tests: with one of them missing there is no ROC-AUC."""
    counts = np.bincount(np.asarray(y)[np.asarray(test)], minlength=len(class_names))
    return [class_names[c] for c in np.flatnonzero(counts == 0)]


def split_warnings(nodes: SplitNodes, y: np.ndarray, class_names: tuple[str, ...]) -> list[str]:
    """What a person should know before trusting a verdict on this split."""
    found = []
    trained = np.bincount(y[nodes.train], minlength=len(class_names)) > 0
    tested = np.bincount(y[np.concatenate([nodes.val, nodes.test])], minlength=len(class_names)) > 0
    unseen = [class_names[c] for c in np.flatnonzero(tested & ~trained)]
    if unseen:
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        found.append(f"no training node of class {', '.join(unseen[:5])}{more}: a stratified split has one of each")
    if 0.005 * len(nodes.test) < 1:
        only = "1 test node" if len(nodes.test) == 1 else f"{len(nodes.test)} test nodes"
        found.append(f"only {only}: 0.5 percentage points is less than one of them")
    return found
