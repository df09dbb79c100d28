"""The fingerprint is the content: same arrays, same fingerprint; any change, another."""

from __future__ import annotations

import numpy as np
import pytest

from harness.graphs import fingerprint as module
from harness.records.data_version import PARTS

ARRAYS = {
    "indptr": np.array([0, 2, 2, 3]),
    "indices": np.array([1, 2, 0], dtype=np.int32),
    "x": np.arange(6, dtype=np.float32).reshape(3, 2),
    "y": np.array([0, 1, -1]),
    "train": np.array([0]),
    "val": np.array([1]),
    "test": np.array([], dtype=np.int64),
}


@pytest.mark.parametrize("name", [name for name, array in ARRAYS.items() if array.size])
def test_one_changed_entry_changes_it(name: str) -> None:
    changed = ARRAYS[name].copy()
    changed.reshape(-1)[-1] += 1
    assert module.fingerprint(ARRAYS | {name: changed}, 2) != module.fingerprint(ARRAYS, 2)


def test_moving_a_node_between_parts_changes_it() -> None:
    moved = {"train": np.array([0, 1]), "val": np.array([], dtype=np.int64)}
    assert module.fingerprint(ARRAYS | moved, 2) != module.fingerprint(ARRAYS, 2)


def test_attributes_of_edges_count_where_there_are_some() -> None:
    attr = np.zeros((3, 2), np.float32)
    bare, with_attr = module.fingerprint(ARRAYS, 2), module.fingerprint(ARRAYS | {"edge_attr": attr}, 2)
    assert bare == "b980e357a52525d054a3fc9b049ce3cf55398232a17289e7f61ca9d6e173de7f"
    assert len({bare, with_attr, module.fingerprint(ARRAYS | {"edge_attr": attr + 1}, 2)}) == 3


def test_shape_classes_and_version_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = module.fingerprint(ARRAYS, 2)
    assert module.fingerprint(ARRAYS | {"x": ARRAYS["x"].reshape(2, 3)}, 2) != whole
    assert module.fingerprint(ARRAYS, 3) != whole
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert module.fingerprint(ARRAYS, 2) != whole


def test_it_does_not_depend_on_how_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = module.fingerprint(ARRAYS, 2)
    monkeypatch.setattr(module, "CHUNK_BYTES", 8)
    assert module.fingerprint(dict(reversed(ARRAYS.items())), 2) == whole


def test_order_of_the_edges_in_a_file_does_not_matter_and_a_feature_does(from_arrays, arrays) -> None:
    one = from_arrays(arrays).meta.fingerprint
    order = np.random.default_rng(0).permutation(40)
    assert from_arrays(arrays | {"edge_index": arrays["edge_index"][:, order]}).meta.fingerprint == one
    x = arrays["x"].copy()
    x[3, 3] = np.nextafter(x[3, 3], np.float32(9))
    assert from_arrays(arrays | {"x": x}).meta.fingerprint != one


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *[("indptr", "graph"), ("indices", "graph"), ("edge_attr", "graph"), ("x", "features"), ("y", "labels")],
        *[("train", "splits"), ("val", "splits")],
    ],
)
def test_a_changed_array_changes_its_own_part_alone(name: str, part: str) -> None:
    arrays = ARRAYS | {"edge_attr": np.zeros((3, 2), np.float32)}
    changed = arrays[name].copy()
    changed.reshape(-1)[-1] += 1
    before, after = module.part_fingerprints(arrays, 2), module.part_fingerprints(arrays | {name: changed}, 2)
    assert [key for key in before if before[key] != after[key]] == [part]


def test_the_number_of_classes_belongs_to_the_labels() -> None:
    two, three = module.part_fingerprints(ARRAYS, 2), module.part_fingerprints(ARRAYS, 3)
    assert [key for key in two if two[key] != three[key]] == ["labels"]
    assert len(set(two.values())) == 4


def test_every_array_belongs_to_one_part() -> None:
    assert sorted(name for names in module.PARTS.values() for name in names) == sorted((*module.ARRAYS, "edge_attr"))
    assert tuple(module.PARTS) == PARTS
