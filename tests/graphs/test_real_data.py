"""The real graphs have the counts of their public descriptions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.data

PLANETOID = {"source": "pyg", "name": "Planetoid/Cora"}
CASES = [
    (PLANETOID, 2_708, 10_556, 1_433, 7, (140, 500, 1000)),
    ({"source": "pyg", "name": "Planetoid/CiteSeer"}, 3_327, 9_104, 3_703, 6, (120, 500, 1000)),
    ({"source": "pyg", "name": "Amazon/Photo"}, 7_650, 238_162, 745, 8, None),
    ({"source": "pyg", "name": "Amazon/Computers"}, 13_752, 491_722, 767, 10, None),
    ({"source": "pyg", "name": "Coauthor/CS"}, 18_333, 163_788, 6_805, 15, None),
    ({"source": "files", "path": "debian12_deps.npz", "undirected": True}, 63_436, 633_458, 1_024, 58, None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].get("name") or case[0]["path"])
def test_counts(case, opened, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section, nodes, edges, features, classes, split = case
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    graph = opened(**section)
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert (graph.num_features, graph.num_classes) == (features, classes)
    assert not graph.meta.directed
    sizes = (graph.meta.train_nodes, graph.meta.val_nodes, graph.meta.test_nodes)
    if split:
        assert (sizes, graph.meta.split) == (split, "public")
    else:
        assert graph.meta.split == "random"
        assert sizes == (round(0.6 * nodes), round(0.8 * nodes) - round(0.6 * nodes), nodes - round(0.8 * nodes))
    if section.get("path") == "debian12_deps.npz":
        assert graph.meta.max_in_degree == 21_814  # its hub


def test_the_same_graph_from_the_package_and_from_a_file_has_one_fingerprint(
    opened, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    shipped = opened(source="builtin", name="wordnet")
    assert (shipped.num_nodes, shipped.num_edges, shipped.num_classes) == (117_659, 367_578, 45)
    assert opened(source="files", path="wordnet30.npz", undirected=True).meta.fingerprint == shipped.meta.fingerprint


def test_a_read_only_data_folder_is_left_as_it_was(opened, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    before = sorted(str(path) for path in real_data.rglob("*"))
    opened(**PLANETOID)
    assert sorted(str(path) for path in real_data.rglob("*")) == before
