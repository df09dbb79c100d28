"""Each kind of damaged or unsuitable data ends in one message with file, key, value and remedy."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from harness.graphs.prepare import prepared_path
from harness.spec.errors import InputError

MASK = np.arange(20) < 10

# the npz, changed: key of the array, value (None: left out), what the message must say
ARRAYS = [
    ("edge_index", None, ["has no edges", "add edge_index"]),
    ("edge_index", np.zeros((40, 2), int), ["[40, 2]", "[2, E]", "transpose"]),
    ("edge_index", np.zeros((3, 40), int), ["[3, 40]"]),
    ("edge_index", np.full((2, 4), 20), ["edge 0 has source 20", "0 .. 19", "renumber"]),
    ("edge_index", np.array([[0, 1], [1, -3]]), ["edge 1 has target -3", "0 .. 19"]),
    ("edge_index", np.zeros((2, 4)), ["float64", "whole numbers", "astype"]),
    ("edge_index", np.array([["a"], ["b"]]), ["<U1", "whole numbers"]),
    ("x", None, ["has no features", "add x"]),
    (
        "x",
        np.where(np.eye(20, 5, k=-3, dtype=bool), np.nan, 1.0),
        ["feature 0 of node 3 is nan", "{missing: mean}"],
    ),
    ("x", np.full((20, 5), np.inf), ["feature 0 of node 0 is inf"]),
    ("x", np.full((20, 5), 1e300), ["feature 0 of node 0", "float32"]),
    ("x", np.ones((19, 5)), ["20 labels for 19 rows"]),
    ("x", np.ones(20), ["[20]", "[nodes, features]"]),
    ("x", np.full((20, 2), "q"), ["<U1", "must be numbers"]),
    ("x", np.ones((20, 0)), ["(20, 0)", "at least one"]),
    ("y", None, ["has no labels", "add y"]),
    ("y", np.arange(21) % 3, ["21 labels for 20 rows"]),
    ("y", np.full(20, -1), ["none of the 20 nodes has a label"]),
    ("y", np.full(20, np.nan), ["none of the 20 nodes has a label"]),
    ("y", np.zeros(20, int), ["class 0", "single class"]),
    ("y", np.full(20, 0.5), ["label of node 0 is 0.5", "whole numbers"]),
    ("y", np.arange(20) % 3 - 2, ["label of node 0 is -2", "-1: unlabelled"]),
    ("y", np.eye(20, 3, dtype=int), ["[20]", "multi-label is not supported"]),
    ("y", np.arange(20) + 2000, ["label 2019 with 20", "renumber"]),
    ("class_names", np.array(["a", "b"]), ["label 2 has no name", "2 class_names"]),
    ("train", MASK, ["lacks val, test"]),
]


@pytest.mark.parametrize(("name", "value", "says"), ARRAYS, ids=[f"{a[0]}-{i}" for i, a in enumerate(ARRAYS)])
def test_a_wrong_array_is_named(name, value, says, from_arrays, arrays, tmp_path) -> None:
    changed = {key: array for key, array in (arrays | {name: value}).items() if array is not None}
    with pytest.raises(InputError) as caught:
        from_arrays(changed)
    check(caught.value, tmp_path / "graph.npz", "dataset.path", says)


SPLITS = [
    ({"train": [0, 1], "val": [1], "test": [2]}, ["both train and val", "node 1", "disjoint"]),
    ({"train": [0, 99], "val": [1], "test": [2]}, ["names node 99", "0 .. 19"]),
    ({"train": [0, -1], "val": [1], "test": [2]}, ["names node -1"]),
    ({"train": [0, 0], "val": [1], "test": [2]}, ["node 0 twice"]),
    ({"train": [0], "val": [], "test": [2]}, ["no labelled node in val", "empty"]),
    ({"train": [0], "val": [1]}, ["lacks test"]),
    ({"train": [0.5], "val": [1], "test": [2]}, ["float64", "integer node ids"]),
    ({"train": MASK[:5], "val": MASK, "test": MASK}, ["mask train has 5", "20"]),
]


@pytest.mark.parametrize(("split", "says"), SPLITS)
def test_a_wrong_split_file_is_named(split, says, from_arrays, arrays, tmp_path) -> None:
    np.savez(tmp_path / "split.npz", **{part: np.array(nodes) for part, nodes in split.items()})
    with pytest.raises(InputError) as caught:
        from_arrays(arrays, split={"kind": "file", "path": "split.npz"})
    check(caught.value, Path("split.npz"), "dataset.split", says)


def row_pointer(values: list[int]) -> dict[str, np.ndarray]:
    return {"indptr": np.array(values), "indices": np.zeros(20, int)}


STEPS = list(range(21))
CSR = [
    (row_pointer([*STEPS[:7], 3, *STEPS[8:]]), ["indptr falls at row 6", "never decreases"]),
    (row_pointer(STEPS[:-1]), ["indptr has 20", "need 21"]),
    (row_pointer([*STEPS[:-1], 25]), ["runs from 0 to 25", "0 to 20"]),
    ({"indptr": np.arange(21), "indices": np.full(20, 20)}, ["indices has 20 at 0", "0 .. 19"]),
    ({"indptr": np.arange(21.0), "indices": np.zeros(20, int)}, ["indptr is float64", "integer"]),
]


@pytest.mark.parametrize(("edges", "says"), CSR)
def test_wrong_csr_edges_are_named(edges, says, from_arrays, arrays, tmp_path) -> None:
    del arrays["edge_index"]
    with pytest.raises(InputError) as caught:
        from_arrays(arrays | edges)
    check(caught.value, tmp_path / "graph.npz", "dataset.path", says)


SPARSE = [
    ({"x_indices": np.full(20, 5)}, ["x_indices has 5 at 0", "0 .. 4"]),
    ({"x_indptr": np.arange(20)}, ["x_indptr has 20", "need 21"]),
    ({"x_shape": np.array([20])}, ["x_shape is [20]", "two whole numbers"]),
    ({"x_data": np.ones(3)}, ["x_data has shape [3]"]),
    ({"x_data": np.full(20, np.nan)}, ["feature 0 of node 0 is nan"]),
]


@pytest.mark.parametrize(("change", "says"), SPARSE)
def test_wrong_sparse_features_are_named(change, says, from_arrays, arrays, tmp_path) -> None:
    del arrays["x"]
    good = {"x_indptr": np.arange(21), "x_indices": np.zeros(20, int), "x_shape": np.array([20, 5])}
    with pytest.raises(InputError) as caught:
        from_arrays(arrays | good | change)
    check(caught.value, tmp_path / "graph.npz", "dataset.path", says)


def write_text(text: str):
    return lambda path: path.write_text(text)


def write_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps({"edge_index": [[0], [1]]}))


def write_objects(path: Path) -> None:
    np.savez(path, edge_index=np.array([[0], [1], None], dtype=object), x=np.ones((20, 5)), y=np.arange(20) % 2)


def write_truncated(path: Path) -> None:
    np.savez(path, edge_index=np.zeros((2, 4), int), x=np.ones((20, 5)), y=np.arange(20) % 2)
    path.write_bytes(path.read_bytes()[:-300])


def write_damaged_member(path: Path) -> None:
    np.savez(path, edge_index=np.zeros((2, 4), int), x=np.ones((20, 5)), y=np.arange(20) % 2)
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("x.npy").header_offset + 300
    whole = bytearray(path.read_bytes())
    whole[at] ^= 255
    path.write_bytes(bytes(whole))


def write_npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros((2, 4), int))


WHOLE = [
    ("absent.npz", None, ["no such file", "looked at", "HARNESS_DATA"]),
    ("graph.txt", write_text("0 1"), ["'.txt'", ".npz"]),
    ("graph.npz", write_text("not a zip"), ["is not an npz", "numpy.savez"]),
    ("graph.npz", write_text(""), ["cannot be read as npz"]),
    ("graph.npz", write_pickle, ["not an npz", "pickle"]),
    ("graph.npz", write_objects, ["edge_index holds Python objects", "plain arrays"]),
    ("graph.npz", write_truncated, ["cut short", "again"]),
    ("graph.npz", write_damaged_member, ["array x is damaged", "again"]),
    ("graph.npz", write_npy, ["single array", "numpy.savez"]),
    ("graph.npz", Path.mkdir, ["is a folder", "one file"]),
    (f"{'a' * 300}.npz", None, ["cannot be looked at (File name too long)", "grant access"]),
]


@pytest.mark.parametrize(("name", "write", "says"), WHOLE)
def test_a_wrong_file_is_named(name, write, says, opened, tmp_path) -> None:
    if write:
        write(tmp_path / name)
    with pytest.raises(InputError) as caught:
        opened(source="files", path=name)
    check(caught.value, Path(name), "dataset.path", says)


def save_sparse(shape: tuple[int, int]):
    return lambda path: scipy.sparse.save_npz(path, scipy.sparse.eye(*shape, format="csr"))


APART = [
    ("edges", "e.csv", write_text("a,b\n0,1\nbob,2\n"), ["row 2 of column 'a' holds 'bob'", "number the nodes"]),
    ("edges", "e.csv", write_text("alice,bob\nbob,carl\n"), ["row 1 of column 'alice' holds 'bob'", "number"]),
    ("edges", "e.csv", write_text("0,1\n1,\n"), ["row 2", "holds nothing"]),
    ("edges", "e.csv", write_text("0,1\n1,2.5\n"), ["row 2", "2.5", "whole numbers"]),
    ("edges", "e.csv", write_text("0\n1\n"), ["1 column(s)", "source and target"]),
    ("edges", "e.csv", write_text(""), ["is empty"]),
    ("edges", "e.csv", write_text("0,1\n1,2,3\n"), ["cannot be read as a table"]),
    ("edges", "e.csv", lambda path: path.write_bytes(b"0,1\n\xff\xfe,2\n"), ["not text in UTF-8"]),
    ("edges", "e.csv", write_text("0,1\n1,20\n"), ["edge 1 has target 20"]),
    ("edges", "e.mtx", write_text("hello"), ["cannot be read as Matrix Market", "mmwrite"]),
    ("edges", "e.npz", save_sparse((20, 21)), ["[20, 21]", "[20, 20]"]),
    ("edges", "e.parquet", write_text("PAR1"), ["cannot be read as a table"]),
    ("edges", "e.xlsx", write_text(""), ["'.xlsx'", ".csv", ".mtx"]),
    ("features", "x.npy", write_text("text"), ["is not an npy file", "numpy.save"]),
    ("features", "x.npy", lambda path: np.save(path, np.array([[{}]], dtype=object)), ["Python objects"]),
    ("features", "x.npy", lambda path: np.save(path, np.full((20, 2), np.nan)), ["feature 0 of node 0 is nan"]),
    ("features", "x.csv", write_text("1,2"), ["'.csv'", ".npy"]),
    ("labels", "y.csv", write_text("0\n1\n0\n"), ["3 labels for 20 rows"]),
    ("labels", "y.csv", write_text("node,label\n0,1\n20,0\n"), ["names node 20", "0 .. 19"]),
    ("labels", "y.csv", write_text("node,label\n0,1\n0,0\n"), ["names node 0 2 times"]),
    ("labels", "y.csv", write_text("node,label\nzero,1\n"), ["holds 'zero'", "0 .. 19"]),
    ("labels", "y.npz", lambda path: np.savez(path, a=np.ones(2), b=np.ones(2)), ["holds a, b", "add y"]),
    ("labels", "y.npy", lambda path: np.save(path, np.ones(20) > 0), ["labels are bool", "whole numbers"]),
]


@pytest.mark.parametrize(("part", "name", "write", "says"), APART)
def test_a_wrong_file_among_three_is_named_with_its_key(part, name, write, says, opened, arrays, tmp_path) -> None:
    files = {"edges": "edges.npy", "features": "features.npy", "labels": "labels.npy"}
    for own, array in (("edges", "edge_index"), ("features", "x"), ("labels", "y")):
        np.save(tmp_path / files[own], arrays[array])
    write(tmp_path / name)
    with pytest.raises(InputError) as caught:
        opened(source="files", **files | {part: name})
    check(caught.value, Path(name), f"dataset.{part}", says)


EDGE_ATTR = [
    (np.zeros((39, 2)), ["39 rows", "40 edges", "in the order of the edges"]),
    (np.zeros(41), ["41 rows", "40 edges"]),
    (np.zeros((40, 2, 2)), ["[40, 2, 2]", "shape [40, D]"]),
    (np.zeros((40, 0)), ["[40, 0]", "shape [40, D]"]),
    (np.full(40, "far"), ["<U3", "must be numbers"]),
    (np.where(np.arange(80).reshape(40, 2) == 7, np.nan, 1.0), ["attribute 1 of edge 3 is nan", "replace"]),
    (np.full((40, 1), 1e300), ["attribute 0 of edge", "is inf", "clip"]),
]


@pytest.mark.parametrize(("attr", "says"), EDGE_ATTR, ids=[says[0] for _, says in EDGE_ATTR])
def test_wrong_attributes_are_named(attr, says, opened, from_arrays, arrays, tmp_path) -> None:
    with pytest.raises(InputError) as caught:
        from_arrays(arrays | {"edge_attr": attr})
    check(caught.value, tmp_path / "graph.npz", "dataset.path", says)
    for name, array in (("e", arrays["edge_index"]), ("x", arrays["x"]), ("y", arrays["y"]), ("a", attr)):
        np.save(tmp_path / f"{name}.npy", array)
    with pytest.raises(InputError) as caught:
        opened(source="files", edges="e.npy", features="x.npy", labels="y.npy", edge_features="a.npy")
    check(caught.value, tmp_path / "a.npy", "dataset.edge_features", says)


def test_a_file_of_attributes_that_is_not_one(opened, arrays, tmp_path: Path) -> None:
    for name, array in (("e", arrays["edge_index"]), ("x", arrays["x"]), ("y", arrays["y"])):
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "a.csv").write_text("1\n")
    apart = {"source": "files", "edges": "e.npy", "features": "x.npy", "labels": "y.npy"}
    for name, says in (("a.csv", ["'.csv'", ".npy"]), ("none.npy", ["no such file"])):
        with pytest.raises(InputError) as caught:
            opened(**apart, edge_features=name)
        check(caught.value, tmp_path / name, "dataset.edge_features", says)


def check(error: InputError, file: Path, key: str, says: list[str]) -> None:
    """One problem, with this file and key, that says all of it; and no half graph is left."""
    (problem,) = error.problems
    assert Path(problem.file).name == file.name
    assert problem.path.startswith(key)
    for words in says:
        assert words in problem.message, problem.message
    left = [path.name for path in prepared_path("any").parent.iterdir() if path.suffix != ".lock"]
    assert left == []
