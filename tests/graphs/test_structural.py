"""Columns from the edges against plain loops over small graphs: with hubs, loops, repetitions and isolated nodes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs.csr import Csr, build_csr
from harness.graphs.structural import walks as module
from harness.graphs.structural.clustering import clustering_coefficient
from harness.graphs.structural.pagerank import pagerank
from harness.graphs.structural.undirected import undirected
from harness.graphs.structural.walks import return_probabilities
from harness.spec.dataset import Files, Transform
from harness.spec.errors import InputError

graphs = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def csr_of(n: int, edges: list[tuple[int, int]]) -> Csr:
    source, target = (np.array([edge[end] for edge in edges], dtype=np.int64) for end in (0, 1))
    return build_csr(source, target, n)


def matrix_of(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    a = np.zeros((n, n))
    for u, v in edges:
        a[u, v] = a[v, u] = 1.0
    return a


def clustering_by_pairs(a: np.ndarray) -> list[float]:
    found = []
    for v in range(len(a)):
        pairs = list(itertools.combinations([u for u in np.flatnonzero(a[v]) if u != v], 2))
        found.append(sum(a[i, j] for i, j in pairs) / len(pairs) if pairs else 0.0)
    return found


def returns_by_powers(a: np.ndarray, steps: int) -> np.ndarray:
    step = a / np.maximum(a.sum(axis=1, keepdims=True), 1.0)
    return np.stack([np.diag(np.linalg.matrix_power(step, k)) for k in range(1, steps + 1)], axis=1)


@settings(max_examples=150)
@given(graph=graphs, steps=st.integers(1, 7))
def test_clustering_and_returns_are_those_of_plain_loops(graph, steps) -> None:
    n, edges = graph
    simple, a = undirected(csr_of(n, edges)), matrix_of(n, edges)
    assert clustering_coefficient(simple) == pytest.approx(clustering_by_pairs(a))
    found = return_probabilities(simple, steps)
    assert found.walks is None
    np.testing.assert_allclose(found.columns, returns_by_powers(a, steps), atol=1e-6)


def test_returns_of_many_chunks_are_the_same(monkeypatch) -> None:
    edges = np.random.default_rng(0).integers(0, 40, (90, 2)).tolist()
    simple = undirected(csr_of(40, edges))
    monkeypatch.setattr(module, "_CHUNK_BYTES", 8 * 40 * 7)
    expected = returns_by_powers(matrix_of(40, edges), 9)
    np.testing.assert_allclose(return_probabilities(simple, 9).columns, expected, atol=1e-6)


def test_returns_of_known_graphs() -> None:
    ring = undirected(csr_of(6, [(v, (v + 1) % 6) for v in range(6)]))
    np.testing.assert_allclose(return_probabilities(ring, 4).columns[0], [0.0, 1 / 2, 0.0, 6 / 16])
    star = undirected(csr_of(5, [(0, v) for v in range(1, 5)]))
    np.testing.assert_allclose(return_probabilities(star, 4).columns[:2], [[0, 1, 0, 1], [0, 1 / 4, 0, 1 / 4]])
    loops = undirected(csr_of(3, [(0, 0), (0, 0), (0, 1)]))  # the repeated loop counts once; node 2 is isolated
    np.testing.assert_allclose(return_probabilities(loops, 2).columns, [[1 / 2, 3 / 4], [0, 1 / 2], [0, 0]])


def test_counted_walks_estimate_the_same_and_repeat(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    edges = [*rng.integers(0, 50, (120, 2)).tolist(), *((0, v) for v in range(1, 50)), (3, 3)]
    simple = undirected(csr_of(52, edges))  # a hub, and isolated nodes
    exact = return_probabilities(simple, 6).columns
    monkeypatch.setattr(module, "EXACT_WORK", 0)
    found = return_probabilities(simple, 6)
    assert found.walks == 1_000
    error = np.sqrt(exact * (1 - exact) / 1_000)
    off = np.abs(found.columns - exact)
    assert (off <= 5 * error + 1e-6).all()  # 312 estimates: 5 sigma is beyond chance
    assert off.max() > 0.0
    assert 0.5 < np.sqrt((off**2).sum() / (error**2).sum()) < 1.5  # as far off as independent walks are
    assert np.array_equal(found.columns, return_probabilities(simple, 6).columns)


def test_walks_beyond_what_is_affordable_are_refused_with_what_is(monkeypatch, from_arrays, arrays) -> None:
    monkeypatch.setattr(module, "EXACT_WORK", 0)
    monkeypatch.setattr(module, "SAMPLED_WORK", 20 * 100 * 8)
    transform = {"structural": ["random-walk"]}
    with pytest.raises(InputError, match="at most walk_steps: 8 is affordable") as caught:
        from_arrays(arrays, transform=transform)
    assert caught.value.problems[0].path == "dataset.transform.structural"
    graph = from_arrays(arrays, transform=transform | {"walk_steps": 8})
    assert graph.meta.features.walks == 100
    assert any("estimates from 100 random walks a node" in warning for warning in graph.meta.warnings)


def test_a_hub_costs_no_more_than_its_edges() -> None:
    n = 20_001  # two hubs of 20,000 would be 4e8 pairs each
    spokes = [*((0, v) for v in range(1, n)), *((1, v) for v in range(2, n))]
    found = clustering_coefficient(undirected(csr_of(n, spokes)))
    assert found[2:] == pytest.approx(1.0)  # each knows the two hubs, which know each other
    assert found[0] == pytest.approx((n - 2) / ((n - 1) * (n - 2) / 2))


SPLIT = {"train": np.arange(10), "val": np.arange(10, 14), "test": np.arange(14, 20)}


def standardised(column: np.ndarray) -> np.ndarray:
    spread = column[:10].std()
    return (column - column[:10].mean()) / (spread or 1.0)


def test_columns_follow_the_features_standardised_on_training_nodes(from_arrays, arrays) -> None:
    both = ["clustering", "degree", "random-walk", "pagerank"]
    graph = from_arrays(arrays | SPLIT, transform={"structural": both, "walk_steps": 3})
    source, target = arrays["edge_index"]
    csr, a = build_csr(source, target, 20), matrix_of(20, arrays["edge_index"].T.tolist())
    expected = [
        np.array(clustering_by_pairs(a)),
        np.log1p(np.bincount(target, minlength=20)),
        *returns_by_powers(a, 3).T,
        np.log(20 * pagerank(csr.indptr, csr.indices)),
    ]
    assert graph.meta.features.structural == ["clustering", "degree", "walk-1", "walk-2", "walk-3", "pagerank"]
    assert np.array_equal(graph.x[:, :5], arrays["x"])
    np.testing.assert_allclose(graph.x[:, 5:], np.stack([standardised(c) for c in expected], axis=1), atol=1e-5)


def test_columns_follow_scale_components_and_fit(from_arrays, arrays) -> None:
    degree = np.log1p(np.bincount(arrays["edge_index"][1], minlength=20))
    section = {"structural": ["degree"], "scale": "minmax", "pca": 2}
    graph = from_arrays(arrays | SPLIT, transform=section)
    assert graph.x.shape == (20, 3)
    low, high = degree[:10].min(), degree[:10].max()
    np.testing.assert_allclose(graph.x[:, 2], (degree - low) / (high - low), atol=1e-6)
    leaking = from_arrays(arrays | SPLIT, transform={"structural": ["degree"], "fit": "all"})
    np.testing.assert_allclose(leaking.x[:, 5], (degree - degree.mean()) / degree.std(), atol=1e-5)


def test_a_graph_of_edges_and_labels_alone(from_arrays, opened, arrays, tmp_path) -> None:
    bare = {name: array for name, array in arrays.items() if name != "x"} | SPLIT
    graph = from_arrays(bare, transform={"structural": ["degree", "pagerank"], "missing": "mean"})
    assert graph.x.shape == (20, 2)
    assert graph.meta.features.columns == 0
    assert graph.meta.features.twins is None
    whole = from_arrays(arrays | SPLIT, transform={"structural": ["degree", "pagerank"]})
    assert np.array_equal(graph.x, whole.x[:, 5:])
    np.save(tmp_path / "e.npy", arrays["edge_index"])
    np.savez(tmp_path / "split.npz", **SPLIT)
    (tmp_path / "y.csv").write_text("\n".join(str(label) for label in arrays["y"]))
    (tmp_path / "named.csv").write_text("node,label\n" + "\n".join(f"{v},{v % 3}" for v in range(20)))
    for labels in ("y.csv", "named.csv"):
        section = {"edges": "e.npy", "labels": labels, "split": {"kind": "file", "path": "split.npz"}}
        apart = opened(source="files", transform={"structural": ["degree", "pagerank"]}, **section)
        assert np.array_equal(apart.x, graph.x)


def test_without_features_and_columns_the_message_offers_them(from_arrays, arrays) -> None:
    bare = {name: array for name, array in arrays.items() if name != "x"}
    with pytest.raises(InputError, match=r"has no features.*structural"):
        from_arrays(bare)
    with pytest.raises(InputError, match="0 features of 12 training nodes"):
        from_arrays(bare, transform={"structural": ["degree"], "pca": 2})
    with pytest.raises(ValueError, match="missing features"):
        Files(source="files", edges="e.npy", labels="y.npy", transform=Transform(scale="row"))


def test_without_features_there_is_nothing_to_project_and_the_spec_says_so() -> None:
    with pytest.raises(ValueError, match=r"transform: \{structural: \[degree\]\}"):
        Files(source="files", edges="e.npy", labels="y.npy")
    with pytest.raises(ValueError, match=r"no features for `transform.pca`.*leave pca out"):
        Files(source="files", edges="e.npy", labels="y.npy", transform=Transform(structural=("degree",), pca=2))


def test_too_many_components_are_a_fault_of_the_file_of_features(opened, arrays, tmp_path) -> None:
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(InputError) as caught:
        opened(source="files", edges="edge_index.npy", features="x.npy", labels="y.npy", transform={"pca": 6})
    (problem,) = caught.value.problems
    assert (Path(problem.file).name, problem.path) == ("x.npy", "dataset.transform.pca")


def test_a_graph_without_edges_has_columns_that_say_nothing(from_arrays, arrays) -> None:
    everything = ["degree", "pagerank", "clustering", "random-walk"]
    graph = from_arrays(arrays | {"edge_index": np.zeros((2, 0), np.int64)}, transform={"structural": everything})
    assert (graph.x[:, 5:] == 0.0).all()


def test_where_all_nodes_are_alike_no_rounding_error_is_scaled_up(from_arrays, arrays) -> None:
    around = np.arange(20)
    ring = np.concatenate([np.stack([around, (around + hop) % 20]) for hop in (1, 2, 5)], axis=1)
    everything = ["degree", "pagerank", "clustering", "random-walk"]
    graph = from_arrays(arrays | {"edge_index": ring}, undirected=True, transform={"structural": everything})
    assert (graph.x[:, 5:] == 0.0).all()
