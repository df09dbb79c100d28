"""Parts of a graph: every method answers every small case, and METIS cuts what METIS says it cuts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pymetis
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs import cached_partition, edge_cut, partition
from harness.graphs.partitioning.undirected import undirected

from .plain_graphs import Csr, block_model, communities, csr, graph_of

ALL = ["metis", "random", "fennel", "ldg"]


@pytest.fixture(scope="module")
def computers(real_data: Path) -> Csr:
    raw = np.load(real_data / "pyg/Amazon/Computers/raw/amazon_electronics_computers.npz", allow_pickle=False)
    shape = tuple(raw["adj_shape"])
    one_way = sp.csr_array((np.ones(len(raw["adj_indices"]), np.bool_), raw["adj_indices"], raw["adj_indptr"]), shape)
    both = (one_way + one_way.T).tocsr()
    return both.indptr.astype(np.int64), both.indices


@pytest.mark.data
def test_metis_keeps_more_than_twice_what_random_parts_keep(computers: Csr) -> None:
    kept = {method: 1 - edge_cut(*computers, partition(*computers, 64, method)) for method in ("metis", "random")}
    assert kept["random"] == pytest.approx(1 / 64, rel=0.2)
    assert kept["metis"] > 2 * kept["random"]
    assert kept["metis"] > 0.3


@pytest.mark.data
def test_parts_of_a_real_graph_are_balanced_in_nodes(computers: Csr, tmp_path: Path) -> None:
    graph = graph_of(*computers)
    part, report = cached_partition(graph, 64, "metis", 0, tmp_path)
    sizes = np.bincount(part, minlength=64)
    assert report["balance"]["nodes"] == sizes.max() / sizes.mean() < 1.1
    edges = np.zeros(64)
    np.add.at(edges, part, np.diff(computers[0]))
    assert report["balance"]["edges"] == edges.max() / edges.mean() > 1.1  # METIS balances nodes only
    labels = np.bincount(part[graph.train], minlength=64)
    assert report["balance"]["train"] == labels.max() / labels.mean()
    assert report["non_empty_parts"] == 64
    assert report["kept_edge_share"] == 1 - edge_cut(*computers, part) == 1 - report["edge_cut"]


def test_metis_finds_communities() -> None:
    graph = communities(8, 60)
    part = partition(*graph, 8)
    assert edge_cut(*graph, part) < 0.08
    for group in range(8):
        assert np.bincount(part[group::8]).max() > 55


def test_edge_cut_of_a_path() -> None:
    path = csr(4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
    assert edge_cut(*path, np.array([0, 0, 1, 1])) == pytest.approx(1 / 3)
    assert edge_cut(*path, np.zeros(4, int)) == 0.0
    assert edge_cut(np.zeros(4, int), np.zeros(0, int), np.arange(3)) == 0.0
    with pytest.raises(ValueError, match="part has 3 entries for a graph of 4 nodes"):
        edge_cut(*path, np.zeros(3, int))


def test_the_cut_is_the_one_that_metis_returns() -> None:
    """METIS counts each edge once; the share counts both directions of both."""
    indptr, indices = block_model(6_000, 20, 14, 0.8, seed=3)
    options = pymetis.Options(seed=6)  # of our seed 5: to METIS, 0 is the same as 1
    adjacency = pymetis.CSRAdjacency(indptr, indices.astype(np.int64))
    count, expected = pymetis.part_graph(32, adjacency, options=options)
    part = partition(indptr, indices, 32, "metis", seed=5)
    assert np.array_equal(part, expected)
    assert edge_cut(indptr, indices, part) == 2 * count / len(indices)


@pytest.mark.parametrize("method", ALL)
def test_the_seed_decides(method: str) -> None:
    graph = communities(3, 80, seed=1)
    made = [partition(*graph, 7, method, seed) for seed in (0, 1, 2, 3, -1, 2**40)]
    assert np.array_equal(made[1], partition(*graph, 7, method, 1))
    for i, one in enumerate(made):
        assert not any(np.array_equal(one, other) for other in made[:i])


def test_random_parts_differ_by_one_node_at_most() -> None:
    sizes = np.bincount(partition(*communities(2, 50), 7, "random"))
    assert sorted(sizes) == [14, 14, 14, 14, 14, 15, 15]


@settings(max_examples=150)
@given(
    n=st.integers(0, 30),
    edges=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=80),
    parts=st.integers(1, 40),
    method=st.sampled_from(ALL),
    seed=st.integers(-3, 3),
)
def test_every_odd_graph_answers(n: int, edges: list[tuple[int, int]], parts: int, method: str, seed: int) -> None:
    """Directed, disconnected, self-loops, repeated edges, no edges, no nodes; one part, more parts than nodes."""
    graph = csr(n, [(a % n, b % n) for a, b in edges] if n else [])
    part = partition(*graph, parts, method, seed, passes=2)
    assert np.array_equal(part, partition(*graph, parts, method, seed, passes=2))
    assert part.dtype == np.int64
    assert part.shape == (n,)
    assert not n or (part.min() >= 0 and part.max() < min(parts, n))
    if parts >= n:
        assert len(np.unique(part)) == n  # each node its own part


@pytest.mark.parametrize("method", ["metis", "fennel", "ldg"])
def test_direction_loops_and_repetition_do_not_matter(method: str) -> None:
    n = 40
    plain = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 7) % n) for i in range(n)]
    both = plain + [(b, a) for a, b in plain]
    messy = both + plain[:30] + [(i, i) for i in range(n)]
    expected = partition(*csr(n, both), 4, method)
    assert np.array_equal(partition(*csr(n, plain), 4, method), expected)
    assert np.array_equal(partition(*csr(n, messy), 4, method), expected)
    indptr, indices = csr(n, messy)
    assert np.array_equal(partition(indptr.astype(np.int32), indices.astype(np.uint64), 4, method), expected)


@pytest.mark.parametrize("method", ALL)
def test_a_hub_with_all_edges(method: str) -> None:
    star = csr(2_001, [(0, v) for v in range(1, 2_001)])
    sizes = np.bincount(partition(*star, 8, method), minlength=8)
    assert sizes.min() > 0
    assert sizes.max() <= 1.1 * 2_001 / 8


@pytest.mark.parametrize("method", ALL)
def test_isolated_nodes_alone_are_dealt_evenly(method: str) -> None:
    sizes = np.bincount(partition(*csr(100, []), 7, method))
    assert sorted(sizes) == [14] * 5 + [15] * 2


@settings(max_examples=100)
@given(n=st.integers(1, 25), edges=st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=90))
def test_the_undirected_graph_is_what_scipy_makes_of_it(n: int, edges: list[tuple[int, int]]) -> None:
    ends = [(a % n, b % n) for a, b in edges]
    made = undirected(*csr(n, ends))
    dense = np.zeros((n, n), bool)
    for a, b in ends:
        dense[a, b] = dense[b, a] = a != b
    expected = sp.csr_array(dense)
    assert np.array_equal(made.indptr, expected.indptr)
    assert np.array_equal(made.indices, expected.indices)
    again = undirected(made.indptr, made.indices)
    assert np.shares_memory(again.indices, made.indices) or not made.num_edges  # nothing to do, nothing copied


def test_mistakes_are_named() -> None:
    graph = communities(2, 10)
    with pytest.raises(ValueError, match="'kernighan' is unknown; use metis, random, fennel or ldg"):
        partition(*graph, 2, "kernighan")
    with pytest.raises(ValueError, match="passes must be at least 1; got 0"):
        partition(*graph, 2, "fennel", passes=0)
    with pytest.raises(ValueError, match="parts must be at least 1; got 0"):
        partition(*graph, 0)
    with pytest.raises(ValueError, match="indptr must rise"):
        partition(graph[0][:-1], graph[1], 2)
    with pytest.raises(ValueError, match="indices must lie in"):
        partition(graph[0], graph[1] + 1, 2)


def test_importing_the_folder_is_cheap() -> None:
    heavy = "import sys, harness.graphs; print(sorted({'torch', 'scipy', 'numba', 'pymetis'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_name_stays_the_function() -> None:
    import harness.graphs
    import harness.graphs.partitioning  # importing the module must not hide the function

    assert harness.graphs.partition is partition


@pytest.mark.parametrize(
    ("indptr", "indices", "part", "message"),
    [
        ([0, 1, 2], [50_000, 1], [0, 1], r"indices must lie in 0\.\.1"),
        ([0, 1, 2], [2**32, 1], [0, 1], r"indices must lie in 0\.\.1"),  # 0, were it cut to 32 bits
        ([0, 1, 10**9], [0, 1], [0, 1], "indptr must rise from 0 to the number of edges, 2"),
        ([0, 1, 2], [0, 1], [0.2, 0.9], "part must be one whole number a node; got float64"),
        ([0, 1, 2], [0, 1], [[0], [1]], r"got int64 of shape \(2, 1\)"),
    ],
)
def test_the_cut_of_what_is_no_graph_is_refused(indptr, indices, part, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        edge_cut(np.array(indptr), np.array(indices), np.array(part))
