"""A graph on disk: memory-mapped arrays beside a `graph.json` that says what they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from harness.plan.version import BUILDER_VERSION
from harness.spec.options import Frozen

__all__ = ["BUILDER_VERSION", "FeatureFacts", "Graph", "GraphMeta", "Projection", "Twins"]


class Twins(Frozen):
    """Nodes of different splits that look the same; rows of zeros are none."""

    test_features: int  # test nodes with the features of a training node
    test_features_and_neighbours: int  # and with its neighbours too
    any_features: int  # nodes of any split with the features of a node in another
    any_features_and_neighbours: int
    distinct_share: float  # different rows over all rows of the split's nodes that are not zeros


class Projection(Frozen):
    """What principal components keep of the rows they were fitted on."""

    components: int
    explained_variance: float  # a share
    components_for_85: int  # so many keep 85 % of the variance
    at_least: bool = False  # `components_for_85` is a lower bound
    method: Literal["exact", "randomised"]


class FeatureFacts(Frozen):
    """How `x` was made of what the source has."""

    columns: int  # of the source, before any transform
    filled: int = 0  # missing entries
    projection: Projection | None = None
    structural: list[str] = []  # the last columns of `x`, in order
    walks: int | None = None  # random walks a node that return probabilities were counted on; None if exact, or none
    twins: Twins | None = None  # None for a graph without features


class GraphMeta(Frozen):
    """`graph.json`."""

    builder_version: int = BUILDER_VERSION
    name: str
    dataset: dict[str, Any]
    fingerprint: str  # sha256 over the content of all arrays
    structure: str | None = None  # sha256 over indptr and indices; None for a graph that was not prepared
    num_nodes: int
    num_edges: int
    num_features: int
    edge_features: int = 0  # attributes of each edge; 0 where there is no edge_attr.npy
    num_classes: int
    class_names: list[str]
    train_nodes: int
    val_nodes: int
    test_nodes: int
    directed: bool
    isolated_nodes: int
    self_loops: int
    duplicate_edges: int
    max_in_degree: int
    degrees: list[Annotated[tuple[int, int, int], Field(strict=False)]] = []  # nodes alike in both: number, sums
    split: Literal["public", "file", "random", "stratified", "ogb"]
    metric: Literal["acc", "rocauc"] | None = None  # what OGB's Evaluator measures on it; None for other sources
    features: FeatureFacts | None = None  # None for a graph that was not prepared
    warnings: list[str] = []
    prepare_s: float = 0.0


@dataclass(frozen=True)
class Graph:
    """One prepared graph. All arrays are read-only memory maps.

    Attributes:
        path: folder that holds graph.json and the arrays.
        meta: sizes, names, fingerprint.
        indptr: CSR row pointer, int64, ``[num_nodes + 1]``; ``indices[indptr[v]:indptr[v+1]]`` are the
            nodes that v receives messages from, sorted.
        indices: int32 (int64 from 2**31 nodes on), ``[num_edges]``.
        x: features, float32, ``[num_nodes, num_features]``, already transformed.
        y: class of each node, int64, ``[num_nodes]``; -1 is unlabelled.
        train, val, test: sorted node ids, int64; disjoint, labelled.
        edge_attr: attributes of each edge in the order of `indices`, float32, ``[num_edges, edge_features]``; None
            where the data have none.
    """

    path: Path
    meta: GraphMeta
    indptr: np.ndarray
    indices: np.ndarray
    x: np.ndarray
    y: np.ndarray
    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    edge_attr: np.ndarray | None = None

    @property
    def num_nodes(self) -> int:
        return self.meta.num_nodes

    @property
    def num_edges(self) -> int:
        return self.meta.num_edges

    @property
    def num_classes(self) -> int:
        return self.meta.num_classes

    @property
    def num_features(self) -> int:
        return self.meta.num_features
