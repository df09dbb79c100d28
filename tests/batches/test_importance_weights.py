"""The weights a spec asks for, computed or from a file; a file that cannot be weights is one clear message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.batches.plans import batches_of
from harness.batches.sampling.importance_weights import importance_weights
from harness.spec.errors import InputError
from harness.spec.options import Options, Training


@pytest.fixture
def graph(skewed, make_graph):
    return make_graph(*skewed)


def test_weights_by_name(graph, tmp_path: Path) -> None:
    assert np.array_equal(importance_weights(graph, "degree", tmp_path), np.bincount(graph.indices, minlength=2000))
    assert importance_weights(graph, "pagerank", tmp_path).sum() == pytest.approx(1.0)


def test_a_file_beside_the_spec_or_among_the_data(graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "files").mkdir(parents=True)
    given = np.arange(2000, dtype=np.float32)
    np.save(tmp_path / "data" / "files" / "w.npy", given)
    assert np.array_equal(importance_weights(graph, "w.npy", tmp_path / "specs"), given)
    np.save(tmp_path / "w.npy", given[::-1])
    assert np.array_equal(importance_weights(graph, "w.npy", tmp_path), given[::-1])  # the spec's folder comes first


def _with(node: int, value: float) -> np.ndarray:
    weights = np.ones(2000)
    weights[node] = value
    return weights


def _headed(text: str) -> bytes:
    """An npy file with any text for its header."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(400)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "is not an npy file"),
        (b"1.0\n2.0\n", "is not an npy file"),
        (b"PK\x03\x04" + bytes(50), "is not an npy file"),  # a zip cut short
        (b"\x93NUMPY\x01", "cannot be read as npy"),
        (_headed("(" * 5000), "cannot be read as npy"),
        (_headed("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000,)}"), "cannot be read as npy"),
        (_headed(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**23},)}}"), "cannot be read as npy"),
        (np.array([{"a": 1}] * 2000, dtype=object), "holds Python objects"),
        (np.array(["1"] * 2000), "one number a node"),
        (np.ones(1999), "one number a node"),
        (np.ones((2000, 1)), "one number a node"),
        (np.ones(2000, np.complex128), "one number a node"),
        (np.zeros(2000), "every neighbour has weight 0"),
        (_with(17, -1.0), "node 17 has -1"),
        (_with(18, np.nan), "node 18 has nan"),
        (_with(19, np.inf), "node 19 has inf"),
    ],
)
def test_what_cannot_be_weights_names_file_key_and_remedy(graph, tmp_path: Path, content, words: str) -> None:
    path = tmp_path / "w.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content, allow_pickle=True)
    options = Options.model_validate({"sampling": {"fanout": [4], "method": "importance", "weights": "w.npy"}})
    with pytest.raises(InputError, match=words) as raised:
        batches_of(graph, options, Training(), 1, 0, spec_dir=tmp_path)
    (problem,) = raised.value.problems
    assert problem.path == "sampling.weights"
    assert problem.file == ("w.npy" if content is None else str(path))
    assert any(remedy in problem.message for remedy in ("give a path", "write ", "save plain arrays"))


def test_an_archive_under_the_name_of_an_array(graph, tmp_path: Path) -> None:
    with (tmp_path / "w.npy").open("wb") as file:
        np.savez(file, w=np.ones(2000))
    with pytest.raises(InputError, match=r"is not an npy file .*an npz"):
        importance_weights(graph, "w.npy", tmp_path)


def test_only_importance_opens_the_file_and_pays_for_weights(graph, tmp_path: Path) -> None:
    asked = {"fanout": [4], "weights": "missing.npy", "reweight": True}
    uniform = batches_of(graph, Options.model_validate({"sampling": asked}), Training(), 1, 0, spec_dir=tmp_path)
    assert uniform.preprocess_s == {}
    assert uniform.counters()["sampling_weights"] is None
    asked |= {"method": "importance", "weights": "pagerank"}
    drawn = batches_of(graph, Options.model_validate({"sampling": asked}), Training(), 1, 0)
    assert drawn.preprocess_s["neighbour_weights_s"] > 0
    assert next(drawn.epoch(1)).blocks[0].edge_weight is not None
