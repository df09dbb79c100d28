"""A person's own graph: one npz of plain arrays, or edges, features and labels in files of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.features import no_features
from harness.graphs.folders import find_file
from harness.graphs.raw import RawGraph
from harness.graphs.sources.arrays import check_suffix, read_npy, read_npz
from harness.graphs.sources.file_edges import edges_of, read_edges
from harness.graphs.sources.file_features import KEYS, features_of, read_features
from harness.graphs.sources.file_labels import class_names_of, classes_of, read_labels
from harness.graphs.splits import PARTS, given_splits
from harness.spec.dataset import Files

PLAIN = {"edge_index", "indptr", "indices", "edge_attr", "y", "class_names", *KEYS, *PARTS}


def read_files(dataset: Files, spec_dir: Path) -> RawGraph:
    """The graph of a `source: files` section.

    Raises:
        InputError: a file is missing, damaged or does not fit the others.
    """
    if dataset.path is not None:
        found = find_file(dataset.path, spec_dir, "dataset.path")
        return read_plain(found, "dataset.path", may_lack_features=dataset.adds_columns)
    assert dataset.edges is not None  # the schema demands both
    assert dataset.labels is not None
    named = {"edges": dataset.edges, "labels": dataset.labels}
    named |= {"features": dataset.features} if dataset.features is not None else {}
    paths = {part: find_file(name, spec_dir, f"dataset.{part}") for part, name in named.items()}
    if "features" in paths:
        features = read_features(paths["features"], "dataset.features")
        (y, class_names), of_labels = read_labels(paths["labels"], "dataset.labels", features.num_nodes)
    else:  # as many nodes as labels
        (y, class_names), of_labels = read_labels(paths["labels"], "dataset.labels")
        features = no_features(len(np.atleast_1d(y)))
    source, target, warnings = read_edges(paths["edges"], "dataset.edges", features.num_nodes)
    edge_attr = None
    if dataset.edge_features is not None:
        paths["edge attributes"] = find_file(dataset.edge_features, spec_dir, "dataset.edge_features")
        check_suffix(paths["edge attributes"], "dataset.edge_features", (".npy",))
        edge_attr = read_npy(paths["edge attributes"], "dataset.edge_features")
    keys = {"edge attributes": "dataset.edge_features"}
    return RawGraph(
        name=paths["edges"].name.split(".")[0],
        file=paths["edges"],
        key="dataset.edges",
        source=source,
        target=target,
        features=features,
        y=y,
        class_names=class_names,
        warnings=(*warnings, *of_labels),
        places={part: (path, keys.get(part, f"dataset.{part}")) for part, path in paths.items()},
        edge_attr=edge_attr,
    )


def read_plain(path: Path, key: str, one_way: bool = False, may_lack_features: bool = False) -> RawGraph:
    """The graph of one npz of plain arrays, as docs/adding-a-dataset.md lists them.

    Args:
        path: the npz.
        key: the spec's key that names it.
        one_way: each undirected edge is stored once.
        may_lack_features: the transform makes some from the edges; there are then as many nodes as labels.

    Raises:
        InputError: an array is missing, damaged or does not fit the others.
    """
    check_suffix(path, key, (".npz",))
    arrays = read_npz(path, key, PLAIN)
    if "y" not in arrays:
        raise data_fault(
            path, key, f"has no labels: it holds {', '.join(arrays)}; add y, one class a node (-1: unlabelled)"
        )
    if may_lack_features and not set(KEYS) & set(arrays):
        features = no_features(len(np.atleast_1d(arrays["y"])))
    else:
        features = features_of(arrays, path, key)
    source, target = edges_of(arrays, features.num_nodes, path, key)
    y, text_names = classes_of(arrays["y"])
    has_split = any(part in arrays for part in PARTS)
    return RawGraph(
        name=path.stem,
        file=path,
        key=key,
        source=source,
        target=target,
        features=features,
        y=y,
        class_names=text_names or class_names_of(arrays, path, key),
        splits=given_splits(arrays, features.num_nodes, path, key) if has_split else (),
        own_split="file",
        one_way=one_way,
        edge_attr=arrays.get("edge_attr"),
    )
