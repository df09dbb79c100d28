"""What a data set is like, before it is prepared: what the choices of a first spec are made by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.graphs.checks import check_edge_attr, check_edges, check_labels, check_size
from harness.graphs.raw import RawGraph
from harness.graphs.splits import stratified_split

SAMPLED_EDGES = 10_000  # that are looked up in the other direction
CHUNK_EDGES = 1 << 22
SCANNED_ROWS = 50_000  # of features, from the first on
FEW_TO_SCALE = 10.0  # ratio of the widest column's deviation to the narrowest one's
TOO_WIDE = 1_000.0  # deviation of a column, or of its inverse, with which training may run away or stand still
SHARES: dict[str, Any] = {"train": 0.6, "val": 0.2, "seed": 0}  # of a split that is drawn


@dataclass(frozen=True)
class Looked:
    """A data set seen once.

    Attributes:
        nodes, labelled, features, classes: counts, as the source gives them.
        stratifies: a split by class leaves nodes to validate and to test.
        smallest_class: labelled nodes of the rarest class that has any.
        rarest_share: its share of the labelled nodes.
        homophily: share of edges inside a class, among those whose ends are labelled; None without any.
        both_ways: share of edges whose reverse is there too, of a sample; 1.0 without edges.
        one_way: the source stores each undirected edge once, and the reverse is added whatever the spec says.
        own_splits: splits that come with the data.
        edge_features: attributes of an edge.
        missing: some feature is NaN.
        sparse: bags of words: no feature is negative, and at least four of five are zero.
        uneven: columns differ in scale, or are far from 1, so that they should be standardised.
    """

    nodes: int
    labelled: int
    features: int
    classes: int
    stratifies: bool
    smallest_class: int
    rarest_share: float
    homophily: float | None
    both_ways: float
    one_way: bool
    own_splits: int
    edge_features: int
    missing: bool
    sparse: bool
    uneven: bool


def look(raw: RawGraph) -> Looked:
    """Look at a source's graph.

    Raises:
        InputError: edges or labels that preparation would refuse; features are allowed to be missing here.
    """
    check_size(raw, columns_are_added=True)
    y, names, _ = check_labels(raw)
    check_edges(raw)
    check_edge_attr(raw)
    counts = np.bincount(y[y >= 0], minlength=len(names))
    present = counts[counts > 0]
    drawn = stratified_split(y, **SHARES)
    missing, sparse, uneven = _features(raw)
    return Looked(
        nodes=len(y),
        labelled=int(counts.sum()),
        features=raw.features.num_features,
        classes=len(names),
        stratifies=bool(len(drawn.val) and len(drawn.test)),
        smallest_class=int(present.min()),
        rarest_share=float(present.min() / counts.sum()),
        homophily=homophily(raw.source, raw.target, y),
        both_ways=both_ways(raw.source, raw.target, len(y)),
        one_way=raw.one_way,
        own_splits=len(raw.splits),
        edge_features=0 if raw.edge_rows is None else raw.edge_rows.shape[1],
        missing=missing,
        sparse=sparse,
        uneven=uneven,
    )


def homophily(source: np.ndarray, target: np.ndarray, y: np.ndarray) -> float | None:
    """Share of edges whose ends are of one class (edge homophily, Zhu et al. 2020, arXiv:2006.11468).

    Args:
        source, target: ends of each edge, ``[num_edges]`` each.
        y: class of each node, -1 unlabelled: edges with such an end are left out.
    """
    inside = known = 0
    for first in range(0, len(source), CHUNK_EDGES):
        a, b = y[source[first : first + CHUNK_EDGES]], y[target[first : first + CHUNK_EDGES]]
        both = (a >= 0) & (b >= 0)
        known += int(both.sum())
        inside += int((both & (a == b)).sum())
    return inside / known if known else None


def both_ways(source: np.ndarray, target: np.ndarray, num_nodes: int) -> float:
    """Share of edges whose reverse is an edge too, of up to 10,000 drawn ones; self-loops are left out."""
    between = np.flatnonzero(source != target)
    if not len(between):
        return 1.0
    keys = np.unique(source.astype(np.int64) * num_nodes + target)
    drawn = np.random.default_rng(0).permutation(between)[:SAMPLED_EDGES]
    reverse = target[drawn].astype(np.int64) * num_nodes + source[drawn]
    at = np.minimum(np.searchsorted(keys, reverse), len(keys) - 1)
    return float((keys[at] == reverse).mean())


def _features(raw: RawGraph) -> tuple[bool, bool, bool]:
    """Whether some are missing, whether they are bags of words, whether columns differ in scale."""
    if not raw.features.num_features:
        return False, False, False
    with np.errstate(invalid="ignore", over="ignore"):  # what is infinite is refused by the preparation
        return _scanned(raw)


def _scanned(raw: RawGraph) -> tuple[bool, bool, bool]:
    missing, zeros, seen, low = False, 0, 0, np.inf
    total = np.zeros(raw.features.num_features)
    squares = np.zeros_like(total)
    for first, rows in raw.features.chunks():
        unknown = np.isnan(rows)
        missing |= bool(unknown.any())
        if first >= SCANNED_ROWS:
            continue  # whether something is missing is asked of every row
        filled = np.where(unknown, 0.0, rows).astype(np.float64)
        zeros, seen = zeros + int((filled == 0).sum()), seen + len(rows)
        low = min(low, float(filled.min()))
        total += filled.sum(axis=0)
        squares += np.square(filled).sum(axis=0)
    mean = total / seen
    deviation = np.sqrt(np.maximum(squares / seen - mean**2, 0.0))
    sparse = low >= 0 and zeros >= 0.8 * seen * len(total)
    varying = deviation > 1e-6 * np.maximum(np.abs(mean), 1e-12)
    if sparse or not varying.any():
        return missing, sparse, False
    widths, shifts = deviation[varying], np.abs(mean[varying]) / deviation[varying]
    unlike = widths.max() > FEW_TO_SCALE * widths.min() or shifts.max() > FEW_TO_SCALE
    return missing, sparse, bool(unlike or widths.max() > TOO_WIDE or widths.min() < 1.0 / TOO_WIDE)
