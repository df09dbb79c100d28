"""Which data a result is of: the builder that wrote the arrays, and their content as a whole and part by part."""

from __future__ import annotations

from harness.spec.options import Frozen

PARTS = ("graph", "features", "labels", "splits")


class DataParts(Frozen):
    """SHA-256 of each part of a prepared graph."""

    graph: str  # edges and their attributes
    features: str  # after all transforms
    labels: str  # classes of the nodes, and how many classes there are
    splits: str  # nodes of training, validation and test


class DataVersion(Frozen):
    """Of one prepared graph."""

    builder_version: int
    fingerprint: str  # of all arrays together, as in graph.json and in the ids of runs
    parts: DataParts
