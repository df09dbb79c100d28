"""Graphs of any size: a degree-corrected stochastic block model with class-dependent features.

Karrer and Newman, Stochastic blockmodels and community structure in networks, 2011. Expected degrees follow a
power law (Pareto, truncated where a hub would run out of partners); edges are drawn until the asked number
of distinct ones lies inside classes and between them, so mean degree and homophily are met, not just expected.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness.graphs.compiled import compiled
from harness.graphs.faults import data_fault
from harness.graphs.features import FeatureRows, rows_per_chunk
from harness.graphs.raw import RawGraph
from harness.spec.dataset import Synthetic

CHUNK_EDGES = 1 << 22
ROUNDS = 60


def make_synthetic(dataset: Synthetic, say: Callable[[str], None]) -> RawGraph:
    """The graph of a `source: synthetic` section; the same section gives the same graph.

    Raises:
        InputError: so many edges do not fit into so few nodes.
    """
    n, classes = dataset.nodes, dataset.classes
    streams = np.random.SeedSequence(dataset.seed).spawn(5)
    y = np.random.default_rng(streams[0]).permutation(np.arange(n, dtype=np.int64) % classes)
    weight = _power_law(dataset, np.random.default_rng(streams[1]))
    edges = round(n * dataset.mean_degree / 2)
    inside = round(dataset.homophily * edges)
    rng = np.random.default_rng(streams[2])
    sampler = _Endpoints(y, weight, classes)
    say(f"drawing {edges:,} edges inside and between {classes} classes")
    keys = np.concatenate([_distinct(sampler, rng, inside, True), _distinct(sampler, rng, edges - inside, False)])
    if len(keys) < 0.97 * edges:
        raise data_fault(
            "spec",
            "dataset.mean_degree",
            f"{dataset.mean_degree:g}: only {len(keys)} of {edges} edges fit with homophily {dataset.homophily:g}, "
            f"{classes} classes and exponent {dataset.exponent:g}; lower mean_degree or raise nodes or exponent",
        )
    ids = np.int32 if n < 2**31 else np.int64
    return RawGraph(
        name=f"synthetic-{n}",
        file=Path("synthetic"),
        key="dataset",
        source=(keys // n).astype(ids),
        target=(keys % n).astype(ids),
        features=_features(dataset, y, classes, streams[3]),
        y=y,
        one_way=True,
        edge_attr=_edge_attr(dataset, y[keys // n] == y[keys % n], streams[4]) if dataset.edge_features else None,
    )


def _edge_attr(dataset: Synthetic, inside: np.ndarray, stream: np.random.SeedSequence) -> np.ndarray:
    """Standard normal noise, float32, ``[num_edges, edge_features]``; plus 1 in the first column of an edge inside a
    class, so that a single edge tells little and a neighbourhood much."""
    noise = np.random.default_rng(stream).standard_normal((len(inside), dataset.edge_features), dtype=np.float32)
    noise[:, 0] += inside
    return noise


def _power_law(dataset: Synthetic, rng: np.random.Generator) -> np.ndarray:
    """Expected degree of each node, up to a factor: Pareto with the given exponent, truncated, float64 ``[n]``."""
    height = -np.log(1.0 - rng.random(dataset.nodes)) / (dataset.exponent - 1.0)  # log of a Pareto variable
    # a hub must find enough partners: half of its class, and a tenth of all nodes
    partners = 0.5 * dataset.nodes / dataset.classes / max(dataset.homophily, 0.1)
    most = max(2.0 * dataset.mean_degree, min(partners, 0.1 * dataset.nodes))
    return np.exp(np.minimum(height - _truncation(height, most / dataset.mean_degree), 0.0))


def _truncation(height: np.ndarray, ratio: float) -> float:
    """Where to cut log weights so that the largest weight is `ratio` times the mean, or the largest of them."""
    low, high = float(height.min()), float(height.max())
    if ratio * np.exp(height - high).mean() >= 1.0:
        return high
    for _ in range(40):
        middle = (low + high) / 2
        enough = ratio * np.exp(np.minimum(height - middle, 0.0)).mean() >= 1.0
        low, high = (middle, high) if enough else (low, middle)
    return low


class _Endpoints:
    """Draws nodes with probability proportional to weight, from all nodes or from one class.

    Nodes are laid out class by class on a line, each as long as its weight; a point on the line is a node. A guide
    table (Chen and Asau 1974) finds it in O(1) steps.
    """

    def __init__(self, y: np.ndarray, weight: np.ndarray, classes: int) -> None:
        self.order = np.argsort(y, kind="stable")
        self.ends = np.cumsum(weight[self.order])
        self.label = y[self.order]
        last = np.cumsum(np.bincount(y, minlength=classes)) - 1
        self.class_end = self.ends[last]
        self.class_start = np.concatenate([[0.0], self.class_end[:-1]])
        self.guide = np.searchsorted(self.ends, np.arange(len(y)) * (self.ends[-1] / len(y)), side="right")

    def draw(self, rng: np.random.Generator, count: int, inside: bool) -> np.ndarray:
        """Keys ``u * n + v`` with u < v of about `count` edges inside or between classes; repetitions happen."""
        n = len(self.order)
        u = _locate(rng.random(count) * self.ends[-1], self.ends, self.guide)
        place = rng.random(count)
        if inside:
            low, high = self.class_start[self.label[u]], self.class_end[self.label[u]]
            v = _locate(low + place * (high - low), self.ends, self.guide)
            fits = (self.label[u] == self.label[v]) & (u != v)
        else:
            v = _locate(place * self.ends[-1], self.ends, self.guide)
            fits = self.label[u] != self.label[v]
        a, b = self.order[u[fits]], self.order[v[fits]]
        return np.minimum(a, b) * n + np.maximum(a, b)


@compiled
def _locate(points: np.ndarray, ends: np.ndarray, guide: np.ndarray) -> np.ndarray:
    """Position of the first end beyond each point."""
    n = len(ends)
    found = np.empty(len(points), np.int64)
    scale = n / ends[-1]
    for i in range(len(points)):
        at = guide[min(np.int64(points[i] * scale), n - 1)]
        while at > 0 and ends[at - 1] > points[i]:  # rounding of the guide's cell
            at -= 1
        while at < n - 1 and ends[at] <= points[i]:
            at += 1
        found[i] = at
    return found


def _distinct(sampler: _Endpoints, rng: np.random.Generator, wanted: int, inside: bool) -> np.ndarray:
    """Sorted keys of `wanted` distinct edges, or fewer if they cannot be found."""
    keys = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS):
        missing = wanted - len(keys)
        if missing <= 0:
            break
        tries = int(1.1 * missing) + 16
        drawn, filled = np.empty(len(keys) + tries, dtype=np.int64), len(keys)
        drawn[:filled] = keys
        for first in range(0, tries, CHUNK_EDGES):
            more = sampler.draw(rng, min(tries - first, CHUNK_EDGES), inside)
            drawn[filled : filled + len(more)] = more
            filled += len(more)
        keys = _unique(drawn[:filled])
    if len(keys) > wanted:
        keys = np.delete(keys, rng.choice(len(keys), size=len(keys) - wanted, replace=False, shuffle=False))
    return keys


def _unique(keys: np.ndarray) -> np.ndarray:
    """The distinct keys, sorted; `keys` itself is sorted too."""
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _features(dataset: Synthetic, y: np.ndarray, classes: int, stream: np.random.SeedSequence) -> FeatureRows:
    """Standard normal noise around class means; two means lie about `signal` apart, as random directions do.

    Each chunk of rows has a stream of its own, so that they can be made one at a time and again.
    """
    width = dataset.features
    mean_stream, row_stream = stream.spawn(2)
    directions = np.random.default_rng(mean_stream).standard_normal((classes, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    means = (directions * dataset.signal / np.sqrt(2.0)).astype(np.float32)
    step = rows_per_chunk(width)

    def rows(first: int, last: int) -> np.ndarray:
        assert first % step == 0, "rows are made by whole chunks"
        assert last - first <= step
        own = np.random.SeedSequence(row_stream.entropy, spawn_key=(*row_stream.spawn_key, first // step))
        block = np.random.default_rng(own).standard_normal((last - first, width), dtype=np.float32)
        block += means[y[first:last]]
        return block

    return FeatureRows(dataset.nodes, width, rows)
