"""A person's own files: every format gives the same graph, bit for bit."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from harness.graphs.csr import build_csr

CLASSES = np.array(["bird", "cat", "dog"])


def edge_file(path: Path, edge_index: np.ndarray) -> None:
    """Writes edges in the format of the suffix."""
    source, target = edge_index
    ones = np.ones(len(source), dtype=np.int8)
    match "".join(path.suffixes):
        case ".npy":
            np.save(path, edge_index)
        case ".npz":
            np.savez(path, edge_index=edge_index)
        case ".scipy.npz":
            scipy.sparse.save_npz(path, scipy.sparse.coo_matrix((ones, (source, target)), shape=(20, 20)))
        case ".mtx":
            scipy.io.mmwrite(path, scipy.sparse.coo_matrix((ones, (source, target)), shape=(20, 20)))
        case ".csv":
            path.write_text("".join(f"{u},{v}\n" for u, v in edge_index.T))
        case ".csv.gz":
            path.write_bytes(gzip.compress("".join(f"{u},{v}\n" for u, v in edge_index.T).encode()))
        case ".head.csv":
            path.write_text("target,source\n" + "".join(f"{v},{u}\n" for u, v in edge_index.T))
        case ".tsv":
            path.write_text("# a comment\n" + "".join(f"{u}\t{v}\n" for u, v in edge_index.T))
        case ".parquet":
            pd.DataFrame({"source": source, "target": target}).to_parquet(path)
        case other:
            raise AssertionError(other)


def label_file(path: Path, y: np.ndarray) -> None:
    """Writes labels in the format of the suffix."""
    lines = "".join(f"{label}\n" for label in y)
    match "".join(path.suffixes):
        case ".npy":
            np.save(path, y)
        case ".npz":
            np.savez(path, labels=y)
        case ".csv":
            path.write_text(lines)
        case ".head.csv":
            path.write_text("label\n" + lines)
        case ".node.csv":
            path.write_text("node,label\n" + "".join(f"{v},{y[v]}\n" for v in np.arange(20)[::-1]))
        case ".parquet":
            pd.DataFrame({"label": y}).to_parquet(path)
        case other:
            raise AssertionError(other)


def feature_file(path: Path, x: np.ndarray) -> None:
    """Writes features in the format of the suffix."""
    sparse = scipy.sparse.csr_matrix(x)
    match "".join(path.suffixes):
        case ".npy":
            np.save(path, x.astype(np.float64))
        case ".npz":
            np.savez(path, x=x)
        case ".scipy.npz":
            scipy.sparse.save_npz(path, sparse)
        case ".plain.npz":
            shape = np.array(x.shape)
            np.savez(path, x_indptr=sparse.indptr, x_indices=sparse.indices, x_data=sparse.data, x_shape=shape)
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize(
    "edges", ["e.npy", "e.npz", "e.scipy.npz", "e.mtx", "e.csv", "e.csv.gz", "e.head.csv", "e.tsv", "e.parquet"]
)
def test_every_edge_format_gives_the_same_fingerprint(edges, from_arrays, opened, arrays, tmp_path) -> None:
    # a matrix has no duplicates, so neither has this graph
    arrays["edge_index"] = np.unique(arrays["edge_index"], axis=1)
    np.save(tmp_path / "x.npy", arrays["x"])
    np.save(tmp_path / "y.npy", arrays["y"])
    edge_file(tmp_path / edges, arrays["edge_index"])
    apart = opened(source="files", edges=edges, features="x.npy", labels="y.npy")
    assert apart.meta.fingerprint == from_arrays(arrays).meta.fingerprint
    assert apart.meta.warnings == from_arrays(arrays).meta.warnings


@pytest.mark.parametrize("labels", ["y.npy", "y.npz", "y.csv", "y.head.csv", "y.node.csv", "y.parquet"])
@pytest.mark.parametrize("words", [False, True])
def test_every_label_format_gives_the_same_classes(labels, words, opened, arrays, tmp_path) -> None:
    np.save(tmp_path / "e.npy", arrays["edge_index"])
    np.save(tmp_path / "x.npy", arrays["x"])
    label_file(tmp_path / labels, CLASSES[arrays["y"]] if words else arrays["y"])
    graph = opened(source="files", edges="e.npy", features="x.npy", labels=labels)
    assert np.array_equal(graph.y, arrays["y"])
    assert graph.meta.class_names == (CLASSES.tolist() if words else ["0", "1", "2"])


@pytest.mark.parametrize("features", ["x.npy", "x.npz", "x.scipy.npz", "x.plain.npz"])
def test_every_feature_format_gives_the_same_features(features, opened, arrays, tmp_path) -> None:
    arrays["x"][np.abs(arrays["x"]) < 0.7] = 0.0
    np.save(tmp_path / "e.npy", arrays["edge_index"])
    np.save(tmp_path / "y.npy", arrays["y"])
    feature_file(tmp_path / features, arrays["x"])
    graph = opened(source="files", edges="e.npy", features=features, labels="y.npy")
    assert graph.x.dtype == np.float32
    assert np.array_equal(graph.x, arrays["x"])


def test_messages_flow_from_source_to_target_unless_undirected(from_arrays, arrays) -> None:
    arrays["edge_index"] = np.array([[3, 4, 5, 5], [0, 0, 5, 6]])
    kept, both = from_arrays(arrays), from_arrays(arrays, undirected=True)
    assert kept.indices[kept.indptr[0] : kept.indptr[1]].tolist() == [3, 4]
    assert (kept.num_edges, kept.meta.directed) == (4, True)
    assert (both.num_edges, both.meta.directed, both.meta.self_loops) == (7, False, 1)


def test_indptr_and_indices_are_what_a_node_receives_from(from_arrays, arrays) -> None:
    csr = build_csr(*arrays.pop("edge_index"), 20)
    graph = from_arrays(arrays | {"indptr": csr.indptr.astype(np.int32), "indices": csr.indices.astype(np.uint16)})
    assert np.array_equal(graph.indptr, csr.indptr)
    assert np.array_equal(graph.indices, csr.indices)


def test_binary_sparse_features_are_ones(from_arrays, arrays) -> None:
    del arrays["x"]
    rows = {"x_indptr": np.arange(0, 42, 2), "x_indices": np.tile([0, 6], 20), "x_shape": np.array([20, 7])}
    graph = from_arrays(arrays | rows)
    assert graph.x[:, [0, 6]].min() == 1.0
    assert graph.x.sum() == 40.0


def test_unlabelled_nodes_stay_in_the_graph_and_out_of_the_split(opened, arrays, tmp_path) -> None:
    np.save(tmp_path / "e.npy", arrays["edge_index"])
    np.save(tmp_path / "x.npy", arrays["x"])
    (tmp_path / "y.csv").write_text("".join(f"{'' if v in (2, 19) else 'ab'[v % 2]}\n" for v in range(20)))
    graph = opened(source="files", edges="e.npy", features="x.npy", labels="y.csv")
    assert np.flatnonzero(graph.y == -1).tolist() == [2, 19]
    assert graph.meta.warnings[0] == "2 of 20 nodes have no label: in the graph, but in no split"
    split = np.concatenate([graph.train, graph.val, graph.test])
    assert sorted(split) == [v for v in range(20) if v not in (2, 19)]


def test_own_split_of_an_npz_is_the_default_and_a_split_file_replaces_it(from_arrays, arrays, tmp_path) -> None:
    mask = np.arange(20) < 12
    graph = from_arrays(arrays | {"train": mask, "val": np.array([12, 13]), "test": np.array([14, 15, 19])})
    assert (graph.train.tolist(), graph.test.tolist()) == (list(range(12)), [14, 15, 19])
    assert graph.meta.split == "file"
    np.savez(tmp_path / "split.npz", train=[0, 1], val=[2], test=[3, 4])
    other = from_arrays(arrays, split={"kind": "file", "path": "split.npz"})
    assert (other.train.tolist(), other.val.tolist(), other.test.tolist()) == ([0, 1], [2], [3, 4])


def test_files_are_found_beside_the_spec_then_under_harness_data(opened, arrays, tmp_path, monkeypatch) -> None:
    data = tmp_path / "data"
    (data / "files").mkdir(parents=True)
    monkeypatch.setenv("HARNESS_DATA", str(data))
    for classes, place in ((5, data / "files"), (4, data), (3, tmp_path)):
        np.savez(place / "g.npz", **arrays | {"y": np.arange(20) % classes})
        assert opened(source="files", path="g.npz").num_classes == classes


def test_weights_and_other_columns_are_named_as_unused(opened, arrays, tmp_path) -> None:
    np.save(tmp_path / "x.npy", arrays["x"])
    np.save(tmp_path / "y.npy", arrays["y"])
    (tmp_path / "e.csv").write_text("src,dst,weight\n0,1,0.5\n1,2,0.7\n")
    graph = opened(source="files", edges="e.csv", features="x.npy", labels="y.npy")
    assert graph.num_edges == 2
    assert "columns of the edges not used: weight" in graph.meta.warnings
