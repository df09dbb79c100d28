"""Fingerprints of a graph's parts: kept beside it, and made again where they are missing or of other arrays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness.graphs import data_version as module
from harness.graphs.data_version import FILE, data_version
from harness.graphs.store import open_graph
from harness.spec.errors import InputError, Problem


def test_a_prepared_graph_has_them_and_they_are_not_made_again(from_arrays, arrays, monkeypatch) -> None:
    graph = from_arrays(arrays)
    kept = json.loads((graph.path / FILE).read_text())
    monkeypatch.setattr(module, "part_fingerprints", None)
    assert data_version(graph).model_dump() == kept
    assert (kept["fingerprint"], kept["builder_version"]) == (graph.meta.fingerprint, graph.meta.builder_version)


@pytest.mark.parametrize("left", [None, "{", '{"builder_version": 1}'])
def test_a_graph_of_before_they_were_kept_gets_them(from_arrays, arrays, left) -> None:
    graph = from_arrays(arrays)
    whole, before = data_version(graph), (graph.path / "graph.json").read_bytes()
    (graph.path / FILE).unlink() if left is None else (graph.path / FILE).write_text(left)
    assert data_version(open_graph(graph.path)) == whole
    assert json.loads((graph.path / FILE).read_text()) == whole.model_dump()
    assert (graph.path / "graph.json").read_bytes() == before


def test_those_of_other_arrays_do_not_count(from_arrays, arrays) -> None:
    one = from_arrays(arrays)
    x = arrays["x"].copy()
    x[0, 0] += 1
    other = from_arrays(arrays | {"x": x})
    (other.path / FILE).write_bytes((one.path / FILE).read_bytes())
    assert data_version(other).parts.features != data_version(one).parts.features


def test_a_folder_that_cannot_be_written_costs_the_hashing_alone(from_arrays, arrays, monkeypatch) -> None:
    graph = from_arrays(arrays)
    whole = data_version(graph)
    (graph.path / FILE).unlink()

    def read_only(path: Path, text: str) -> None:
        raise InputError(Problem(str(path), "no permission to write here"))

    monkeypatch.setattr(module, "write_atomically", read_only)
    assert data_version(graph) == whole


def test_another_split_changes_the_splits_alone(from_arrays, arrays) -> None:
    one, other = (
        data_version(from_arrays(arrays, split={"kind": "random", "train": 0.5, "val": 0.25, "seed": seed}))
        for seed in (0, 1)
    )
    differ = [name for name, digest in one.parts.model_dump().items() if digest != getattr(other.parts, name)]
    assert differ == ["splits"]


def test_attributes_of_edges_are_part_of_the_graph(from_arrays, arrays) -> None:
    attr = np.arange(80, dtype=np.float32).reshape(40, 2)
    one = data_version(from_arrays(arrays | {"edge_attr": attr}))
    other = data_version(from_arrays(arrays | {"edge_attr": attr + 1}))
    differ = [name for name, digest in one.parts.model_dump().items() if digest != getattr(other.parts, name)]
    assert differ == ["graph"]
