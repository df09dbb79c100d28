"""Parts of a graph: METIS answers every small case, and a cached partition belongs to one graph."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs import cached_partition, edge_cut, partition
from harness.graphs.graph import Graph, GraphMeta
from harness.spec.errors import InputError

Csr = tuple[np.ndarray, np.ndarray]


def csr(n: int, edges: list[tuple[int, int]]) -> Csr:
    target = np.array([t for _, t in edges], dtype=np.int64)
    source = np.array([s for s, _ in edges], dtype=np.int32)
    order = np.argsort(target, kind="stable")
    return np.concatenate([[0], np.cumsum(np.bincount(target, minlength=n))]).astype(np.int64), source[order]


def communities(k: int, size: int, seed: int = 0) -> Csr:
    """k dense groups with a few edges between them; group of node v is v % k."""
    rng = np.random.default_rng(seed)
    n = k * size
    a = rng.integers(0, n, 12 * n)
    b = np.where(rng.random(12 * n) < 0.95, rng.integers(0, size, 12 * n) * k + a % k, rng.integers(0, n, 12 * n))
    return csr(n, list(zip(a.tolist(), b.tolist(), strict=True)))


def graph_of(indptr: np.ndarray, indices: np.ndarray, train: np.ndarray | None = None) -> Graph:
    n = len(indptr) - 1
    train = np.arange(0, n, 3) if train is None else train
    sizes = {"num_nodes": n, "num_edges": len(indices), "num_features": 1, "num_classes": 2, "max_in_degree": 0}
    splits = {"train_nodes": len(train), "val_nodes": 0, "test_nodes": 0, "split": "random"}
    facts = {"directed": True, "isolated_nodes": 0, "self_loops": 0, "duplicate_edges": 0}
    meta = GraphMeta(name="g", dataset={}, fingerprint="same", class_names=["a", "b"], **sizes, **splits, **facts)
    none = np.zeros(0, np.int64)
    return Graph(
        Path("."), meta, indptr, indices, np.zeros((n, 1), np.float32), np.zeros(n, np.int64), train, none, none
    )


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


@pytest.mark.parametrize("method", ["metis", "random"])
def test_the_seed_decides(method: str) -> None:
    graph = communities(3, 80, seed=1)
    assert np.array_equal(partition(*graph, 7, method, 5), partition(*graph, 7, method, 5))
    others = [partition(*graph, 7, method, seed) for seed in (6, 7, -1, 2**40)]
    assert any(not np.array_equal(partition(*graph, 7, method, 5), other) for other in others)


def test_random_parts_differ_by_one_node_at_most() -> None:
    sizes = np.bincount(partition(*communities(2, 50), 7, "random"))
    assert sorted(sizes) == [14, 14, 14, 14, 14, 15, 15]


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(0, 30),
    edges=st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=80),
    parts=st.integers(1, 40),
    method=st.sampled_from(["metis", "random"]),
)
def test_every_odd_graph_answers(n: int, edges: list[tuple[int, int]], parts: int, method: str) -> None:
    """Directed, disconnected, self-loops, repeated edges, no edges, no nodes; one part, more parts than nodes."""
    graph = csr(n, [(a % n, b % n) for a, b in edges] if n else [])
    part = partition(*graph, parts, method)
    assert part.dtype == np.int64
    assert part.shape == (n,)
    assert not n or (part.min() >= 0 and part.max() < min(parts, n))
    if parts >= n:
        assert len(np.unique(part)) == n  # each node its own part


def test_direction_loops_and_repetition_do_not_matter_to_metis() -> None:
    n = 40
    plain = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 7) % n) for i in range(n)]
    both = plain + [(b, a) for a, b in plain]
    messy = both + plain[:30] + [(i, i) for i in range(n)]
    expected = partition(*csr(n, both), 4)
    assert np.array_equal(partition(*csr(n, plain), 4), expected)
    assert np.array_equal(partition(*csr(n, messy), 4), expected)


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


def test_two_graphs_never_share_a_cached_partition(tmp_path: Path) -> None:
    """Same name, same size, same fingerprint field, same k: only the edges differ."""
    one, other = graph_of(*communities(4, 30, seed=0)), graph_of(*communities(4, 30, seed=1))
    first, _ = cached_partition(one, 8, "metis", 0, tmp_path)
    second, report = cached_partition(other, 8, "metis", 0, tmp_path)
    assert not report["cached"]
    assert np.array_equal(second, partition(other.indptr, other.indices, 8))
    assert not np.array_equal(first, second)


def test_k_method_and_seed_are_part_of_the_key(tmp_path: Path) -> None:
    graph = graph_of(*communities(4, 30))
    asked = [(8, "metis", 0), (9, "metis", 0), (8, "random", 0), (8, "metis", 1), (8, "random", 1)]
    for k, method, seed in asked:
        assert not cached_partition(graph, k, method, seed, tmp_path)[1]["cached"]
    for k, method, seed in asked:
        part, report = cached_partition(graph, k, method, seed, tmp_path)
        assert report["cached"]
        assert np.array_equal(part, partition(graph.indptr, graph.indices, k, method, seed))


def test_another_version_makes_another_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(*communities(4, 30))
    cached_partition(graph, 8, "metis", 0, tmp_path)
    monkeypatch.setattr("harness.plan.partitions.version", lambda _: "2999.1")
    assert not cached_partition(graph, 8, "metis", 0, tmp_path)[1]["cached"]
    monkeypatch.setattr("harness.plan.partitions.PARTITION_VERSION", 99)
    assert not cached_partition(graph, 8, "metis", 0, tmp_path)[1]["cached"]


def test_a_cached_partition_keeps_the_time_of_its_making_and_reports_this_split(tmp_path: Path) -> None:
    arrays = communities(4, 30)
    _, made = cached_partition(graph_of(*arrays), 8, "metis", 0, tmp_path)
    part, found = cached_partition(graph_of(*arrays, train=np.arange(9)), 8, "metis", 0, tmp_path)
    assert found["seconds"] == made["seconds"] > 0
    labels = np.bincount(part[:9], minlength=8)
    assert found["balance"]["train"] == labels.max() / labels.mean()


def test_many_ask_and_one_makes(tmp_path: Path) -> None:
    graph, reports = graph_of(*communities(4, 50)), []

    def ask() -> None:
        reports.append(cached_partition(graph, 8, "metis", 0, tmp_path)[1])

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r["cached"] for r in reports) == [False, True, True, True]
    assert not list(tmp_path.glob("*.tmp"))


def test_a_broken_cache_file_is_named(tmp_path: Path) -> None:
    graph = graph_of(*communities(2, 10))
    cached_partition(graph, 2, "random", 0, tmp_path)
    (path,) = tmp_path.glob("*.npz")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=rf"{path.name}.*cannot be read.*delete it"):
        cached_partition(graph, 2, "random", 0, tmp_path)


def test_importing_the_folder_is_cheap() -> None:
    heavy = "import sys, harness.graphs; print(sorted({'torch', 'scipy', 'numba', 'pymetis'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_name_stays_the_function() -> None:
    import harness.graphs
    import harness.graphs.partitioning  # importing the module must not hide the function

    assert harness.graphs.partition is partition
