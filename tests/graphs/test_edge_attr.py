"""Attributes of edges: from every source to the place of their edge in the CSR."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.graphs.csr import build_csr, edge_numbers
from harness.graphs.graph import Graph


def triples(graph: Graph) -> list[tuple[int, int, tuple[float, ...]]]:
    """Source, target and attributes of each edge, in the order of the CSR."""
    target = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return [
        (int(s), int(t), tuple(row.tolist())) for s, t, row in zip(graph.indices, target, graph.edge_attr, strict=True)
    ]


def ends_as_attributes(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Of each edge its own ends, and its place in the list: which row belongs to which edge can be read off."""
    return np.stack([source, target, np.arange(len(source))], axis=1).astype(np.float32)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40), st.booleans())
def test_each_entry_of_the_csr_is_the_edge_that_it_is_said_to_be(edges, undirected) -> None:
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    csr, number = build_csr(source, target, 6, undirected), edge_numbers(source, target, 6, undirected)
    row = np.repeat(np.arange(6), np.diff(csr.indptr))
    assert len(number) == len(csr.indices)
    as_given = (source[number] == csr.indices) & (target[number] == row)
    reversed_ = (target[number] == csr.indices) & (source[number] == row)
    assert (as_given | (reversed_ & undirected)).all()
    if not undirected:
        assert sorted(number) == list(range(len(edges)))
    else:  # the first of those given in this direction, or else the first of the reversed ones
        for s, t, n in zip(csr.indices.tolist(), row.tolist(), number.tolist(), strict=True):
            assert n == (edges.index((s, t)) if (s, t) in edges else edges.index((t, s)))


def test_rows_follow_their_edges_duplicates_and_self_loops_too(from_arrays, arrays) -> None:
    source, target = arrays["edge_index"] = np.array([[3, 0, 3, 3, 5, 3], [1, 1, 1, 2, 5, 1]])
    graph = from_arrays(arrays | {"edge_attr": ends_as_attributes(source, target)})
    assert (graph.meta.edge_features, graph.edge_attr.dtype, graph.edge_attr.shape) == (3, np.float32, (6, 3))
    assert isinstance(graph.edge_attr, np.memmap)
    assert not graph.edge_attr.flags.writeable
    assert [(s, t) == row[:2] for s, t, row in triples(graph)] == [True] * 6
    assert [row[2] for s, t, row in triples(graph) if (s, t) == (3, 1)] == [0, 2, 5]  # alike: in the order given


def test_a_reverse_edge_carries_the_same(from_arrays, arrays) -> None:
    arrays["edge_index"] = np.array([[0, 1, 2, 4, 2], [1, 2, 1, 4, 3]])
    graph = from_arrays(arrays | {"edge_attr": np.array([10.0, 11, 12, 13, 14])}, undirected=True)
    found = {(s, t): row[0] for s, t, row in triples(graph)}
    # 1-2 was given both ways, each with its own
    assert found == {(0, 1): 10, (1, 0): 10, (1, 2): 11, (2, 1): 12, (4, 4): 13, (2, 3): 14, (3, 2): 14}


def test_no_edges_have_no_rows(from_arrays, arrays) -> None:
    graph = from_arrays(arrays | {"edge_index": np.zeros((2, 0), int), "edge_attr": np.zeros((0, 2))})
    assert (graph.meta.edge_features, graph.edge_attr.shape) == (2, (0, 2))


def test_csr_edges_have_their_rows_in_the_order_of_indices(from_arrays, arrays) -> None:
    del arrays["edge_index"]
    arrays |= {"indptr": np.minimum(np.arange(21), 2) * 3, "indices": np.array([9, 4, 4, 0, 9, 2])}
    graph = from_arrays(arrays | {"edge_attr": np.arange(6)})
    assert triples(graph) == [(4, 0, (1,)), (4, 0, (2,)), (9, 0, (0,)), (0, 1, (3,)), (2, 1, (5,)), (9, 1, (4,))]


def test_files_apart_give_the_same_graph(opened, from_arrays, arrays, tmp_path) -> None:
    attr = ends_as_attributes(*arrays["edge_index"])
    whole = from_arrays(arrays | {"edge_attr": attr}, undirected=True)
    (tmp_path / "e.csv").write_text("".join(f"{u},{v}\n" for u, v in arrays["edge_index"].T))
    for name, array in (("x", arrays["x"]), ("y", arrays["y"]), ("a", attr.astype(np.float64))):
        np.save(tmp_path / f"{name}.npy", array)
    apart = {"source": "files", "edges": "e.csv", "features": "x.npy", "labels": "y.npy", "undirected": True}
    graph = opened(**apart, edge_features="a.npy")
    assert graph.meta.fingerprint == whole.meta.fingerprint
    bare = opened(**apart)
    assert (bare.meta.edge_features, bare.edge_attr) == (0, None)
    assert bare.meta.structure == whole.meta.structure
    assert bare.meta.fingerprint != whole.meta.fingerprint


def test_synthetic_attributes_tell_whether_the_ends_share_a_class(opened) -> None:
    section = {"source": "synthetic", "nodes": 3000, "mean_degree": 20.0, "classes": 4, "features": 3}
    graph, again = (opened(**section, edge_features=2) for _ in range(2))
    assert graph.meta.fingerprint == again.meta.fingerprint
    plain = opened(**section)
    assert (plain.meta.edge_features, plain.meta.structure) == (0, graph.meta.structure)
    assert np.array_equal(plain.x, graph.x)
    target = np.repeat(np.arange(3000), np.diff(graph.indptr))
    same = graph.y[graph.indices] == graph.y[target]
    attr = np.asarray(graph.edge_attr)
    assert abs(attr[same, 0].mean() - 1.0) < 0.03
    assert abs(attr[~same, 0].mean()) < 0.03
    assert np.abs(attr[:, 1].mean()) < 0.03
    assert np.abs((attr - np.stack([same, 0 * same], axis=1)).std(axis=0) - 1.0).max() < 0.03
    found = {(s, t): row for s, t, row in triples(graph)}
    assert all(found[t, s] == row for (s, t), row in found.items())
