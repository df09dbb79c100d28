"""WordNet as shipped has its published counts, and the script rebuilds it from the dict files."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from harness.graphs.csr import build_csr

REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = REPOSITORY / "harness" / "graphs" / "builtin" / "wordnet30.npz"
DICT = Path("/usr/share/wordnet")


@pytest.fixture(scope="module")
def shipped() -> dict[str, np.ndarray]:
    with np.load(SHIPPED, allow_pickle=False) as archive:
        return dict(archive)


def test_the_shipped_file_is_small_and_has_its_notice() -> None:
    assert SHIPPED.stat().st_size < 1.2e6
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in SHIPPED.with_name("LICENSE.wordnet30").read_text()


def test_the_shipped_arrays_have_the_documented_counts(shipped: dict[str, np.ndarray]) -> None:
    n = len(shipped["y"])
    source = np.repeat(np.arange(n), np.diff(shipped["indptr"]))
    assert (source < shipped["indices"]).all()  # each undirected edge once
    csr = build_csr(source, shipped["indices"], n, undirected=True)
    assert (n, len(csr.indices)) == (117_659, 367_578)
    assert len(shipped["class_names"]) == len(np.unique(shipped["y"])) == 45
    assert shipped["x_shape"].tolist() == [n, 1024]
    assert len(np.unique(shipped["vocab"])) == 1024
    # synsets by part of speech, WordNet 3.0, wnstats(7WN)
    part = np.array([name.split(".")[0] for name in shipped["class_names"]])[shipped["y"]]
    counts = {name: int((part == name).sum()) for name in ("noun", "verb", "adj", "adv")}
    assert counts == {"noun": 82_115, "verb": 13_767, "adj": 18_156, "adv": 3_621}


def test_the_verbs_are_the_induced_subgraph(opened, shipped: dict[str, np.ndarray]) -> None:
    graph = opened(source="builtin", name="wordnet", subset="verb")
    assert (graph.num_nodes, graph.num_classes, graph.num_features) == (13_767, 15, 1024)
    assert graph.meta.class_names[0] == "verb.body"
    assert graph.meta.class_names == sorted(graph.meta.class_names)
    verbs = np.flatnonzero(np.char.startswith(shipped["class_names"], "verb.")[shipped["y"]])
    names = np.array(graph.meta.class_names)
    assert np.array_equal(names[graph.y], shipped["class_names"][shipped["y"][verbs]])
    source = np.repeat(np.arange(len(shipped["y"])), np.diff(shipped["indptr"]))
    inside = np.isin(source, verbs) & np.isin(shipped["indices"], verbs)
    assert graph.num_edges == 2 * inside.sum()
    assert not graph.meta.directed
    rows = np.repeat(np.arange(len(shipped["y"])), np.diff(shipped["x_indptr"]))
    first = shipped["x_indices"][rows == verbs[0]]
    assert np.flatnonzero(graph.x[0]).tolist() == sorted(first)
    assert set(np.unique(graph.x)) == {0.0, 1.0}


def test_fewer_words_are_the_most_frequent_ones(opened) -> None:
    section = {"source": "builtin", "name": "wordnet", "subset": "adj"}
    few, all_words = opened(**section, features=100), opened(**section)
    assert (all_words.num_nodes, all_words.num_classes, few.num_features) == (18_156, 3, 100)
    assert np.array_equal(few.x, all_words.x[:, :100])


def test_the_script_rebuilds_it_from_the_dict_files(shipped: dict[str, np.ndarray]) -> None:
    if not (DICT / "data.noun").is_file():
        pytest.skip(f"no WordNet dict files under {DICT}: install wordnet-base")
    place = importlib.util.spec_from_file_location("build_wordnet", REPOSITORY / "scripts" / "build_wordnet.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    with pytest.MonkeyPatch.context() as patch:  # dataclasses look their module up
        patch.setitem(__import__("sys").modules, "build_wordnet", script)
        place.loader.exec_module(script)
        rebuilt = script.build(DICT)
    assert set(rebuilt) == set(shipped)
    for name, array in shipped.items():
        assert rebuilt[name].dtype == array.dtype, name
        assert np.array_equal(rebuilt[name], array), name
