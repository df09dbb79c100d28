"""What every source hands over, before it is checked, split, scaled and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from harness.graphs.faults import data_fault
from harness.graphs.features import FeatureRows
from harness.spec.errors import InputError


@dataclass(frozen=True)
class SplitNodes:
    """Three disjoint sets of nodes: ids, int64, sorted."""

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class RawGraph:
    """A graph as its source gives it; messages flow from `source` to `target`.

    Attributes:
        name: what people call it.
        file, key: what a complaint about the data names: a file or folder, and the spec's key.
        source, target: ends of each edge, integer, ``[num_edges]`` each.
        features: rows of features, read in chunks.
        y: class of each node, integer or float with NaN, ``[num_nodes]``; -1 or NaN is unlabelled.
        class_names: one name a class, or empty: classes are then 0 .. max(y).
        splits: the source's own splits; empty where it has none.
        own_split: what `splits` are called in `graph.json`.
        one_way: each undirected edge is stored once, so the reverse is added whatever the spec says.
        metric: what OGB's Evaluator measures on it, `acc` or `rocauc`; None for other sources.
        warnings: what a person should know about the data.
        places: file and key of "features", "labels" and "edge attributes" where they are not `file` and `key`.
        edge_attr: attributes of each edge, in the order of `source`, numbers, ``[num_edges, D]`` or ``[num_edges]``;
            None where there are none.
    """

    name: str
    file: Path | str
    key: str
    source: np.ndarray
    target: np.ndarray
    features: FeatureRows
    y: np.ndarray
    class_names: tuple[str, ...] = ()
    splits: tuple[SplitNodes, ...] = ()
    own_split: Literal["public", "file", "ogb"] = "public"
    one_way: bool = False
    metric: str | None = None
    warnings: tuple[str, ...] = ()
    places: Mapping[str, tuple[Path | str, str]] = field(default_factory=dict)
    edge_attr: np.ndarray | None = None

    @property
    def edge_rows(self) -> np.ndarray | None:
        """The attributes of edges as a matrix, ``[num_edges, D]``."""
        return self.edge_attr if self.edge_attr is None or self.edge_attr.ndim == 2 else self.edge_attr[:, None]

    def fault(self, part: str, message: str) -> InputError:
        """A complaint about "edges", "edge attributes", "features" or "labels", with the file and key of them."""
        return data_fault(*self.places.get(part, (self.file, self.key)), message)
