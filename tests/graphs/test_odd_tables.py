"""Tables as other programs write them: no row is lost, none is made up, and what cannot be read is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from harness.spec.errors import InputError

EDGES = np.array([[0, 1, 2, 5], [1, 2, 3, 0]])
ROWS = "".join(f"{s},{t}\n" for s, t in EDGES.T)
WORDS = ["a", "b", "b", "a", "a", "b", "a", "b", "a", "b"]
LABELS = "".join(f"{word}\n" for word in WORDS)
OWN = {"transform": {"structural": ["degree"]}}


@pytest.fixture
def read(opened, tmp_path: Path):
    """Opens the graph of a text of edges and a text of labels, with features where they are asked for."""

    def make(edges: str | bytes, labels: str | bytes, features: bool = False, **section):
        for name, text in (("e.csv", edges), ("y.csv", labels)):
            (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        np.save(tmp_path / "x.npy", np.eye(10))
        own = {"features": "x.npy"} if features else OWN
        return opened(source="files", edges="e.csv", labels="y.csv", **own, **section)

    return make


@pytest.mark.parametrize(
    "edges",
    [
        f"\ufeff{ROWS}",
        f"\ufeffsource,target\n{ROWS}",
        f"\ufeff# a comment\n{ROWS}",
        "".join(f'"{s}","{t}"\n' for s, t in EDGES.T),
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("\n", "\n\n"),
        ROWS.replace(",", " ; "),
    ],
    ids=["mark", "mark-header", "mark-comment", "quoted", "crlf", "empty-lines", "semicolons"],
)
def test_every_edge_is_kept(read, edges: str) -> None:
    assert read(edges, LABELS).num_edges == 4


BY_NODE = "".join(f"{v},{word}\n" for v, word in enumerate(WORDS))


@pytest.mark.parametrize("features", [False, True], ids=["columns-from-edges", "features"])
@pytest.mark.parametrize(
    "labels",
    [
        LABELS,
        f"\ufeff{LABELS}",
        f"# species of each node, by hand\n# second line\n{LABELS}",
        BY_NODE,
        f"\ufeff{BY_NODE}",
        f"# by node\n{BY_NODE}",
        f"\n{BY_NODE}\n",
        BY_NODE.replace(",", ".0,"),
        f",species\n{BY_NODE}",
        f"node,label,name\n{BY_NODE.replace(chr(10), f',x{chr(10)}')}",
    ],
)
def test_every_label_is_kept(read, labels: str, features: bool) -> None:
    graph = read(ROWS, labels, features)
    assert [graph.meta.class_names[c] for c in graph.y] == WORDS


def test_a_first_line_without_a_label_is_a_node(read) -> None:
    assert read(ROWS, "\n" + LABELS).y.tolist()[:3] == [-1, 0, 1]
    assert read(ROWS, "\n" + LABELS[2:], features=True).y.tolist()[:3] == [-1, 1, 1]


def test_empty_lines_at_the_end_do_not_make_the_first_label_a_header(read) -> None:
    for more in ("\n", "\n\n", "\n\n\n"):
        assert read(ROWS, LABELS + more, features=True).y.tolist() == [int(word == "b") for word in WORDS]
        assert read(ROWS, f"label\n{LABELS}{more}", features=True).y.tolist()[0] == 0


def test_words_with_a_hash_are_words_where_they_are_not_only_on_top(read) -> None:
    graph = read(ROWS, LABELS.replace("a", "#a"), features=True)
    assert graph.meta.class_names == ["#a", "b"]


def test_a_word_over_numbers_is_a_header(read) -> None:
    graph = read(ROWS, "species\n" + LABELS.replace("a", "0").replace("b", "1"))
    assert (graph.num_nodes, graph.meta.class_names) == (10, ["0", "1"])


def test_a_first_word_that_may_be_a_header_is_told(read) -> None:
    said = read(ROWS, "species\n" + LABELS).meta.warnings
    assert any("the first label, 'species', is the only one of its class" in line for line in said)
    assert not any("header" in line for line in read(ROWS, LABELS).meta.warnings)


def test_nan_is_no_class(read) -> None:
    assert read(ROWS, "nan\n" + LABELS[2:]).meta.class_names == ["a", "b"]
    assert read(ROWS, "NaN\n" + LABELS[2:].replace("a", "0").replace("b", "1")).meta.class_names == ["0", "1"]


def test_columns_that_are_not_used_are_told(read) -> None:
    edges = "weight,u,v\n" + "".join(f"1,{s},{t}\n" for s, t in EDGES.T)
    labels = "node,name,species\n" + "".join(f"{v},x{v % 3},{word}\n" for v, word in enumerate(WORDS))
    said = read(edges, labels).meta.warnings
    assert "columns of the edges not used: v (source and target are the first two, weight and u)" in said
    assert "columns of the labels not used: species" in said


@pytest.mark.parametrize(
    ("edges", "labels", "words"),
    [
        ("99999999999999999999,1\n1,2\n", LABELS, ["row 1", "99999999999999999999", "whole numbers 0 .. n-1"]),
        ("18446744073709551615,1\n1,2\n", LABELS, ["row 1", "18446744073709551615"]),
        ("1.5,1\n1,2\n", LABELS, ["holds 1.5;"]),
        (ROWS, "node,label\n0,a\n1,b\n4000000000000,a\n", ["node 4000000000000", "3 labels", "renumber"]),
        (ROWS, "node,label\n0,a\n1,b\n99999999999999999999,a\n", ["row 3", "99999999999999999999"]),
        (ROWS, "node,label\n0,a\n1,b\n2,a\n", ["edge 3 has source 5", "one a label", "an empty one"]),
        (ROWS, "a\n" * 10, ["all 10 labelled nodes are of class a"]),
        (ROWS, "K\xe4se\nBrot\n".encode("latin-1") * 5, ["not text in UTF-8 (byte 0xe4", "save it as UTF-8"]),
        (ROWS.encode("utf-16"), LABELS, ["not text in UTF-8", "save it as UTF-8"]),
        (gzip.compress(ROWS.encode()), LABELS, ["name it .gz"]),
        (ROWS.replace(",", "|"), LABELS, ["1 column(s)", "commas, semicolons, tabs or blanks"]),
        (ROWS, "", ["is empty"]),
        (ROWS, "\n\n", ["is empty"]),
        (ROWS, "# only a comment\n", ["is empty"]),
    ],
)
def test_what_cannot_be_read_is_named_with_the_remedy(read, edges, labels, words) -> None:
    with pytest.raises(InputError) as error:
        read(edges, labels)
    for part in words:
        assert part in str(error.value)
