"""The choices of a first spec: pure functions of sizes, labels and device."""

from __future__ import annotations

from typing import Any

import pytest

from harness.drafts.choose_data import data_entries
from harness.drafts.choose_training import baseline_block, model_entry, training_entry
from harness.drafts.choose_variants import variants_block
from harness.drafts.parts import Block


def _values(block: Block) -> dict[str, Any]:
    return {entry.key: entry.value for entry in block.entries if not entry.offered}


def test_a_small_graph_is_trained_whole_and_a_large_one_in_mini_batches(sight_of) -> None:
    small, large = sight_of(2_708, 10_556), sight_of(117_659, 367_578)
    assert _values(baseline_block(small))["batching"] == "full"
    assert _values(baseline_block(large))["batching"] == "neighbor"
    assert (model_entry(small).value["conv"], model_entry(large).value["conv"]) == ("gcn", "sage")
    assert _values(baseline_block(sight_of(117_659, 367_578, "cuda")))["batching"] == "full"
    assert _values(baseline_block(sight_of(5_000, 20_000_000)))["batching"] == "neighbor"  # few nodes, too many edges


def test_where_neighbours_are_of_other_classes_a_node_keeps_its_own_features_apart(sight_of) -> None:
    assert model_entry(sight_of(2_000, 9_000, homophily=0.2)).value["conv"] == "sage"


def test_steps_of_a_training(sight_of) -> None:
    """About 600 steps, 8 epochs at least: 69 steps an epoch make 9 epochs."""
    wordnet = sight_of(117_659, 367_578)
    assert (wordnet.batch_size, wordnet.steps, training_entry(wordnet).value["epochs"]) == (1024, 69, 9)
    assert training_entry(wordnet).value["eval_every"] == 2
    assert training_entry(sight_of(2_400_000, 10**8)).value["epochs"] == 8
    few = sight_of(1_000, 5_000_000)
    assert (few.batch_size, few.steps) == (64, 10)  # 600 training nodes


def test_parts_are_of_some_2000_nodes(sight_of) -> None:
    assert sight_of(117_659, 367_578).partition == {"method": "metis", "parts": 64, "per_batch": 4}
    assert sight_of(2_449_029, 123_718_280).partition == {"method": "metis", "parts": 1024, "per_batch": 4}
    assert sight_of(2_708, 10_556).partition == {"method": "metis", "parts": 8, "per_batch": 2}
    assert "partition" not in _values(baseline_block(sight_of(500, 2_000)))


def test_features_larger_than_half_the_memory_stay_on_disk(sight_of) -> None:
    assert _values(baseline_block(sight_of(3_000_000, 10**8, features=1_000)))["features"]["home"] == "disk"


def test_variants_follow_graph_and_device(sight_of, machine) -> None:
    large = variants_block(sight_of(117_659, 367_578), machine(), set(), False, threads=2)
    assert list(_values(large)) == ["fanout", "cache", "cluster", "aggregate", "checkpoint"]
    assert [entry.key for entry in large.entries if entry.offered] == ["precision"]
    gpu = variants_block(sight_of(1_500_000, 10**8, "cuda"), machine("cuda"), set(), False, threads=2)
    assert list(_values(gpu)) == ["fanout", "cache", "loader", "cluster", "precision", "aggregate", "checkpoint"]
    assert _values(gpu)["precision"] == {"grid": {"precision": ["bf16", "fp16-linear"]}}
    assert _values(gpu)["fanout"] == {"grid": {"sampling.fanout": [[10, 5, 5], [5, 5, 5]]}}
    tiny = variants_block(sight_of(500, 2_000), machine(), set(), False, threads=2)
    assert list(_values(tiny)) == ["neighbor", "aggregate", "checkpoint"]


@pytest.mark.parametrize(
    ("half", "asked", "values"),
    [(set(), False, None), ({"bf16"}, False, ["bf16"]), (set(), True, ["bf16", "fp16-linear"])],
)
def test_half_precision_on_a_cpu(sight_of, machine, half: set[str], asked: bool, values: list[str] | None) -> None:
    found = _values(variants_block(sight_of(5_000, 20_000), machine(), half, asked, threads=2))
    assert found.get("precision") == (None if values is None else {"grid": {"precision": values}})


def test_without_pymetis_parts_are_cut_by_fennel(sight_of, machine) -> None:
    lacking = machine().model_copy(update={"libraries": {"pymetis": None}})
    found = _values(variants_block(sight_of(5_000, 20_000), lacking, set(), False, threads=2))
    assert found["cluster"]["grid"] == {"partition.method": ["fennel", "random"]}


@pytest.mark.parametrize(
    ("seen", "section", "directed", "expected"),
    [
        ({}, {"source": "pyg"}, False, {"split": {"kind": "random", "train": 0.6, "val": 0.2, "seed": 0}}),
        ({"own_splits": 1}, {"source": "pyg"}, False, {"split": {"kind": "public"}}),
        ({"own_splits": 10}, {"source": "pyg"}, False, {"split": {"kind": "public", "index": 0}}),
        ({"own_splits": 1, "both_ways": 0.4}, {"source": "pyg"}, False, {"undirected": True}),
        ({"own_splits": 1}, {"source": "files"}, False, {"undirected": True}),
        ({"own_splits": 1, "one_way": True}, {"source": "files"}, False, {"split": {"kind": "public"}}),
        ({"own_splits": 1, "both_ways": 0.4}, {"source": "files"}, True, {"split": {"kind": "public"}}),
        ({"smallest_class": 5}, {"source": "pyg"}, False, {"split": {"kind": "stratified"}}),
        (
            {"missing": True, "uneven": True},
            {"source": "pyg"},
            False,
            {"transform": {"missing": "mean", "scale": "standard"}},
        ),
    ],
)
def test_direction_split_and_transform(sight_of, seen, section, directed, expected) -> None:
    entries = data_entries(section, sight_of(1_000, 4_000, **seen).seen, directed)
    found = {entry.key: entry.value for entry in entries if not entry.offered}
    for key, value in expected.items():
        wanted = value.items() if isinstance(value, dict) else None
        assert found[key] == value if wanted is None else wanted <= found[key].items()
    assert ("undirected" in found) == ("undirected" in expected)


def test_many_columns_are_offered_a_projection(sight_of) -> None:
    entries = data_entries({"source": "pyg"}, sight_of(1_000, 4_000, features=6_805).seen, False)
    assert [entry.value for entry in entries if entry.offered] == [{"pca": 256}]
