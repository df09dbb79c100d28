"""The checks that the data of every source passes before anything is written."""

from __future__ import annotations

import numpy as np

from harness.graphs.raw import RawGraph


def check_edges(raw: RawGraph) -> None:
    """Node ids are integers in [0, num_nodes).

    Raises:
        InputError: they are not; the message has the first offending edge.
    """
    n = raw.features.num_nodes
    for end, ids in (("source", raw.source), ("target", raw.target)):
        if ids.ndim != 1 or len(ids) != len(raw.source):
            raise raw.fault("edges", f"edge {end}s have shape {ids.shape}; both ends need one id an edge")
        if not np.issubdtype(ids.dtype, np.integer):
            raise raw.fault(
                "edges",
                f"edge {end}s are {ids.dtype}; node ids must be integers 0 .. {n - 1}: convert with astype('int64')",
            )
        if len(ids) and (ids.min() < 0 or ids.max() >= n):
            at = int(np.flatnonzero((ids < 0) | (ids >= n))[0])
            counted = "in the order of the feature rows; renumber the nodes"
            if not raw.features.num_features:  # nodes are as many as labels
                counted = "one a label; renumber the nodes, or give those without a label an empty one"
            raise raw.fault(
                "edges",
                f"edge {at} has {end} {ids[at]}, but there are {n} nodes: node ids must be 0 .. {n - 1}, {counted}",
            )


def check_edge_attr(raw: RawGraph) -> None:
    """Attributes of edges, where there are some, are one row of numbers an edge.

    Raises:
        InputError: they are not; the message has what they are.
    """
    attr = raw.edge_attr
    if attr is None:
        return
    edges = len(raw.source)
    shapes = f"shape [{edges}, D], or [{edges}] for a single attribute"
    if attr.dtype.kind not in "iufb":
        raise raw.fault("edge attributes", f"attributes of edges are {attr.dtype}; they must be numbers, {shapes}")
    if attr.ndim not in (1, 2) or (attr.ndim == 2 and attr.shape[1] == 0):
        raise raw.fault("edge attributes", f"attributes of edges have shape {list(attr.shape)}; give them {shapes}")
    if len(attr) != edges:
        raise raw.fault(
            "edge attributes",
            f"{len(attr)} rows of edge attributes for {edges} edges; give one row an edge, in the order of the edges",
        )


def check_labels(raw: RawGraph) -> tuple[np.ndarray, tuple[str, ...], list[str]]:
    """Classes as int64 with -1 for unlabelled, one name a class, and warnings.

    Raises:
        InputError: wrong length or type, several labels a node, no labels, or a single class.
    """
    n, y = raw.features.num_nodes, np.asarray(raw.y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise raw.fault(
            "labels",
            f"labels have shape {y.shape}; multi-label is not supported: give one class a node, shape [{n}]",
        )
    if len(y) != n:
        raise raw.fault("labels", f"{len(y)} labels for {n} rows of features; give one label a node (-1: unlabelled)")
    y = _whole_numbers(raw, y)
    labelled = y[y >= 0]
    if not len(labelled):
        raise raw.fault("labels", f"none of the {n} nodes has a label; classes are 0, 1, 2, …")
    names = _names(raw, labelled)
    present = np.bincount(labelled, minlength=len(names)) > 0
    if present.sum() < 2:
        only = names[int(labelled[0])]
        raise raw.fault(
            "labels",
            f"all {len(labelled)} labelled nodes are of class {only}; there is nothing to learn from a single class",
        )
    return y, names, [*_unlabelled(len(labelled), n), *_absent(names, present)]


def _whole_numbers(raw: RawGraph, y: np.ndarray) -> np.ndarray:
    if np.issubdtype(y.dtype, np.floating):
        unlabelled = np.isnan(y)
        odd = np.flatnonzero(~unlabelled & ((y != np.floor(y)) | np.isinf(y)))
        if len(odd):
            at = int(odd[0])
            raise raw.fault("labels", f"label of node {at} is {y[at]}; classes are whole numbers 0, 1, 2, …")
        y = np.where(unlabelled, -1, y)
    elif not np.issubdtype(y.dtype, np.integer):
        raise raw.fault("labels", f"labels are {y.dtype}; classes are whole numbers 0, 1, 2, … (-1: unlabelled)")
    y = y.astype(np.int64)
    if len(y) and y.min() < -1:
        at = int(np.flatnonzero(y < -1)[0])
        raise raw.fault("labels", f"label of node {at} is {y[at]}; classes are 0, 1, 2, … (-1: unlabelled)")
    return y


def _names(raw: RawGraph, labelled: np.ndarray) -> tuple[str, ...]:
    top = int(labelled.max())
    if raw.class_names:
        if top >= len(raw.class_names):
            raise raw.fault(
                "labels", f"label {top} has no name: there are {len(raw.class_names)} class_names; add the missing"
            )
        return raw.class_names
    if top >= max(len(labelled), 2):
        raise raw.fault(
            "labels",
            f"label {top} with {len(labelled)} labelled nodes; classes must be numbered 0 .. C-1: renumber them",
        )
    return tuple(str(c) for c in range(top + 1))


def _unlabelled(labelled: int, nodes: int) -> list[str]:
    left = nodes - labelled
    if not left:
        return []
    words = f"{left:,} of {nodes:,} nodes have" if left > 1 else f"1 of {nodes:,} nodes has"
    return [f"{words} no label: in the graph, but in no split"]


def _absent(names: tuple[str, ...], present: np.ndarray) -> list[str]:
    absent = [name for name, there in zip(names, present, strict=True) if not there]
    return [f"no node is of class {_some(absent)}"] if absent else []


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def check_chunk(raw: RawGraph, first: int, rows: np.ndarray, missing_allowed: bool) -> None:
    """Features are finite, or NaN where what is missing will be filled.

    Raises:
        InputError: NaN, infinite or beyond float32; the message has the row and column.
    """
    found = first_not_finite(rows, missing_allowed)
    if found is not None:
        row, column = found
        value = rows[row, column]
        remedy = (
            "missing values can be filled by their column's mean: transform: {missing: mean}"
            if np.isnan(value)
            else "clip large ones, and write NaN for what is missing"
        )
        raise raw.fault(
            "features",
            f"feature {column} of node {first + row} is {value}; features must be finite in float32: {remedy}",
        )


def first_not_finite(rows: np.ndarray, nan_allowed: bool = False) -> tuple[int, int] | None:
    """Row and column of the first value that is infinite or, unless that is allowed, NaN; None where there is none.

    The sum alone tells of a chunk without any, in one pass.
    """
    if np.isfinite(rows.sum(dtype=np.float64)):
        return None
    bad = np.argwhere(np.isinf(rows) if nan_allowed else ~np.isfinite(rows))
    return (int(bad[0][0]), int(bad[0][1])) if len(bad) else None


def check_size(raw: RawGraph, columns_are_added: bool) -> None:
    """There are nodes, and features, or columns from the edges in their place.

    Raises:
        InputError: there are none.
    """
    if not raw.features.num_nodes or not (raw.features.num_features or columns_are_added):
        shape = (raw.features.num_nodes, raw.features.num_features)
        raise raw.fault(
            "features",
            f"features have shape {shape}; give at least one node and one feature, "
            "or make features from the edges: transform: {structural: [degree, random-walk]}",
        )
