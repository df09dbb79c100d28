"""The synthetic graphs have the degrees, the homophily and the signal that a spec asks for."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs import features
from harness.graphs.graph import Graph
from harness.spec.errors import InputError


def homophily(graph: Graph) -> float:
    """Share of edges inside a class."""
    targets = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return float((graph.y[graph.indices] == graph.y[targets]).mean())


@pytest.mark.parametrize(
    ("nodes", "degree", "classes", "asked"),
    [(1000, 14.0, 10, 0.7), (3000, 4.0, 3, 0.1), (20000, 20.0, 40, 0.9), (500, 30.0, 2, 0.5), (200, 3.0, 4, 1.0)],
)
def test_mean_degree_and_homophily_are_met(nodes, degree, classes, asked, opened) -> None:
    graph = opened(source="synthetic", nodes=nodes, mean_degree=degree, classes=classes, homophily=asked, features=4)
    assert abs(graph.num_edges / nodes - degree) <= 0.05 * degree
    assert abs(homophily(graph) - asked) <= 0.02
    assert (graph.num_classes, graph.num_nodes) == (classes, nodes)
    assert (graph.meta.directed, graph.meta.self_loops, graph.meta.duplicate_edges) == (False, 0, 0)
    assert np.ptp(np.bincount(graph.y)) <= 1


def test_degrees_follow_the_power_law(opened) -> None:
    graph = opened(
        source="synthetic", nodes=40_000, mean_degree=14.0, classes=2, exponent=2.5, homophily=0.5, features=1
    )
    degrees = np.sort(np.diff(graph.indptr))[::-1]
    # maximum-likelihood exponent of the tail (Clauset, Shalizi and Newman 2009, eq. 3.7)
    tail = degrees[degrees >= 20]
    exponent = 1 + len(tail) / np.log(tail / 19.5).sum()
    assert abs(exponent - 2.5) < 0.15
    assert degrees[0] > 50 * 14  # hubs


def test_a_larger_exponent_is_more_even(opened) -> None:
    hubs = [
        opened(source="synthetic", nodes=5000, mean_degree=10.0, exponent=e, features=1).meta.max_in_degree
        for e in (2.1, 3.0, 6.0)
    ]
    assert hubs == sorted(hubs, reverse=True)
    assert hubs[0] > 4 * hubs[2]
    assert hubs[0] < 0.2 * 5000


def test_signal_is_the_distance_of_class_means_over_the_noise(opened) -> None:
    graph = opened(source="synthetic", nodes=20_000, mean_degree=2.0, classes=4, features=64, signal=3.0)
    x, y = np.asarray(graph.x), graph.y
    means = np.stack([x[y == c].mean(axis=0) for c in range(4)])
    assert abs((x - means[y]).std() - 1.0) < 0.01
    apart = [np.linalg.norm(means[a] - means[b]) for a in range(4) for b in range(a)]
    assert abs(np.mean(apart) - 3.0) < 0.3
    silent = opened(source="synthetic", nodes=20_000, mean_degree=2.0, classes=4, features=64, signal=0.0)
    means = np.stack([silent.x[silent.y == c].mean(axis=0) for c in range(4)])
    assert np.abs(means).max() < 5 / np.sqrt(5000)


def test_a_seed_gives_one_graph_and_another_seed_another(opened) -> None:
    section = {"source": "synthetic", "nodes": 2000, "features": 8}
    one = opened(**section, seed=5)
    assert opened(**section, seed=5).meta.fingerprint == one.meta.fingerprint
    other = opened(**section, seed=6)
    for name in ("indices", "x", "y"):
        assert not np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(one.train, other.train)  # the split's seed is its own


def test_features_are_made_in_chunks_that_do_not_repeat(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "CHUNK_BYTES", 4 * 8 * 100)
    graph = opened(source="synthetic", nodes=1000, features=8, signal=0.0)
    assert len(np.unique(graph.x, axis=0)) == 1000


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ({"nodes": 100, "mean_degree": 40.0, "classes": 10, "homophily": 1.0}, "edges fit"),
        ({"nodes": 2000, "exponent": 1.0001}, "edges fit"),
    ],
)
def test_what_does_not_fit_is_refused(section, says, opened) -> None:
    with pytest.raises(InputError, match=says):
        opened(source="synthetic", features=2, **section)
