"""What may be asked for a spec of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.drafts.target import GivenFiles, checked, dataset_section, default_name
from harness.graphs.sources import read_source
from harness.spec.errors import InputError

NONE = GivenFiles()


@pytest.mark.parametrize(
    ("target", "name", "section"),
    [
        ("wordnet", "my-wordnet", {"source": "builtin", "name": "wordnet"}),
        ("wordnet:verb", "my-wordnet-verb", {"source": "builtin", "name": "wordnet", "subset": "verb"}),
        ("builtin:wordnet/verb", "my-wordnet-verb", {"source": "builtin", "name": "wordnet", "subset": "verb"}),
        ("pyg:Planetoid/Cora", "my-cora", {"source": "pyg", "name": "Planetoid/Cora"}),
        ("Planetoid/Cora", "my-cora", {"source": "pyg", "name": "Planetoid/Cora"}),
        ("pyg:WikiCS", "my-wikics", {"source": "pyg", "name": "WikiCS"}),
        ("ogb:ogbn-arxiv", "my-ogbn-arxiv", {"source": "ogb", "name": "ogbn-arxiv", "undirected": True}),
        ("ogbn-products", "my-ogbn-products", {"source": "ogb", "name": "ogbn-products"}),
    ],
)
def test_names_of_the_specs_language(target: str, name: str, section: dict, tmp_path: Path) -> None:
    assert dataset_section(target, NONE, tmp_path) == section
    assert checked(section).source == section["source"]
    assert default_name(target) == name


def test_a_synthetic_graph_of_any_size(tmp_path: Path) -> None:
    section = dataset_section("synthetic:3000", NONE, tmp_path)
    assert section["nodes"] == 3000
    assert checked(section).source == "synthetic"
    assert default_name("synthetic:3000") == "my-synthetic-3000"


def test_the_smallest_synthetic_graph_that_is_offered_can_be_made(tmp_path: Path) -> None:
    made = checked(dataset_section("synthetic:100", NONE, tmp_path))
    assert len(read_source(made, tmp_path, lambda line: None).y) == 100


def test_a_file_without_a_suffix_does_not_hide_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wordnet").write_text("notes")
    assert dataset_section("wordnet", NONE, tmp_path)["source"] == "builtin"


@pytest.fixture
def edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with edges, labels and features in `data/`, and a folder for specs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "elsewhere"))
    for folder in ("data", "specs", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "My Edges.csv").write_text("0,1\n1,2\n")
    (tmp_path / "data" / "labels.csv").write_text("a\nb\na\n")
    np.save(tmp_path / "data" / "x.npy", np.eye(3, dtype=np.float32))
    np.savez(tmp_path / "elsewhere" / "whole.npz", edge_index=np.zeros((2, 1), int), y=np.arange(3))
    return tmp_path


def test_paths_are_relative_to_the_spec(edges: Path) -> None:
    section = dataset_section("data/My Edges.csv", GivenFiles("data/x.npy", "data/labels.csv"), Path("specs"))
    assert section == {
        "source": "files",
        "edges": "../data/My Edges.csv",
        "features": "../data/x.npy",
        "labels": "../data/labels.csv",
    }
    assert default_name("data/My Edges.csv") == "my-edges"


def test_a_graph_without_features_gets_columns_from_its_edges(edges: Path) -> None:
    section = dataset_section("data/My Edges.csv", GivenFiles(labels="data/labels.csv"), Path("specs"))
    assert section["transform"] == {"structural": ["degree", "random-walk"]}
    assert checked(section).adds_columns


def test_a_file_under_the_data_folder_keeps_its_name(edges: Path) -> None:
    section = dataset_section("whole.npz", NONE, Path("specs"))
    assert (section["path"], section["transform"]) == ("whole.npz", {"structural": ["degree", "random-walk"]})


@pytest.mark.parametrize(
    ("target", "files", "words"),
    [
        ("data/My Edges.csv", NONE, "give --labels FILE (csv, tsv, npy, npz, parquet: one label a node); beside it"),
        ("none.csv", NONE, "no such file: 'none.csv'"),
        ("pyg:Amazon/Photo!", NONE, "did you mean pyg:Amazon/Photo?"),
        ("Planetoid/Coro", NONE, "did you mean pyg:Planetoid/Cora?"),
        ("ogb:arxiv", NONE, "did you mean ogb:ogbn-arxiv?"),
        ("wordnet:adverb", NONE, "noun, verb and adj"),
        ("synthetic:few", NONE, "give the number of nodes"),
        ("worldnet", NONE, "did you mean wordnet?"),
        ("Wordnet:Verb", NONE, "did you mean wordnet:verb?"),
        ("cora", NONE, "did you mean pyg:Planetoid/Cora?"),
        ("data", NONE, "is a folder"),
        ("data/My Edges.csv", GivenFiles(labels="data"), "is a folder"),
        ("wordnet", GivenFiles(labels="data/labels.csv"), "--labels belong to a file of edges"),
        ("data/My Edges.csv", GivenFiles(labels="none.csv"), "no such file: 'none.csv'"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(edges: Path, target: str, files: GivenFiles, words: str) -> None:
    with pytest.raises(InputError) as error:
        dataset_section(target, files, Path("specs"))
    assert words in str(error.value)
