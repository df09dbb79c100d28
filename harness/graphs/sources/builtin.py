"""WordNet 3.0, shipped with the package: synsets, their relations, the words of their glosses."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

import numpy as np

from harness.graphs.features import FeatureRows
from harness.graphs.raw import RawGraph
from harness.graphs.sources.files import read_plain
from harness.spec.dataset import Builtin


def read_builtin(dataset: Builtin) -> RawGraph:
    """WordNet, or the synsets of one part of speech with the relations among them.

    Each undirected edge is stored once and always used in both directions. Classes are lexicographer files
    (`verb.motion`, …); a subset keeps those of its part of speech, renumbered in the same order.
    """
    with as_file(files("harness.graphs") / "builtin" / "wordnet30.npz") as path:
        raw = read_plain(path, "dataset.name", one_way=True)
    rows = raw.features.rows
    words = FeatureRows(len(raw.y), dataset.features, lambda a, b: rows(a, b)[:, : dataset.features])
    whole = replace(raw, name="wordnet", features=words)
    return whole if dataset.subset is None else _subset(whole, dataset.subset)


def _subset(raw: RawGraph, part_of_speech: str) -> RawGraph:
    """The induced subgraph of the classes whose name starts with the part of speech."""
    classes = np.array([name.startswith(f"{part_of_speech}.") for name in raw.class_names])
    kept = np.flatnonzero(classes[raw.y])
    place = np.full(len(raw.y), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    inside = (place[raw.source] >= 0) & (place[raw.target] >= 0)
    rows = raw.features.rows
    first = kept[0]
    assert kept[-1] - first + 1 == len(kept)  # synsets are ordered by part of speech: rows of a subset are a slice
    return replace(
        raw,
        name=f"wordnet-{part_of_speech}",
        source=place[raw.source[inside]],
        target=place[raw.target[inside]],
        features=FeatureRows(len(kept), raw.features.num_features, lambda a, b: rows(first + a, first + b)),
        y=(np.cumsum(classes) - 1)[raw.y[kept]],
        class_names=tuple(np.array(raw.class_names)[classes].tolist()),
    )
