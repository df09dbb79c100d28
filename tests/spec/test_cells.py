"""From a variant to its named cells."""

from __future__ import annotations

from typing import Any

import pytest

from harness.spec.cells import named_patches, value_name
from harness.spec.option_paths import Settings, is_option, option_paths, patched, suggest, tree_of
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Variant


def names(key: str, **variant: Any) -> list[str]:
    return [cell.name for cell in named_patches(key, Variant(**variant))]


def test_names_are_the_key_and_the_values_of_the_grid() -> None:
    assert names("cache", grid={"features.cache_ratio": [0.1, 0.3]}) == ["cache-0.1", "cache-0.3"]
    assert names("fanout", grid={"sampling.fanout": [[15, 10], [5, -1]]}) == ["fanout-15-10", "fanout-5-all"]
    assert names("precision", grid={"precision": ["fp16-linear"]}) == ["precision-fp16-linear"]
    assert names("cluster", set={"batching": "cluster"}, grid={"partition.method": ["metis"]}) == ["cluster-metis"]
    assert names("spmm", set={"aggregation": "spmm"}) == ["spmm"]


def test_grid_is_a_product_and_zip_is_parallel() -> None:
    cells = named_patches(
        "v",
        Variant(
            set={"batching": "cluster"},
            grid={"precision": ["fp16", "bf16"]},
            zip={"partition.parts": [8, 16], "partition.per_batch": [1, 2]},
        ),
    )
    assert [cell.name for cell in cells] == ["v-fp16-8-1", "v-fp16-16-2", "v-bf16-8-1", "v-bf16-16-2"]
    assert cells[1].patch == {
        "batching": "cluster",
        "precision": "fp16",
        "partition.parts": 16,
        "partition.per_batch": 2,
    }


@pytest.mark.parametrize(
    ("value", "name"),
    [(True, "true"), (None, "none"), (1.0, "1"), (1, "1"), (1e-5, "1e-05"), (0.30, "0.3"), ((5, 5), "5-5")],
)
def test_values_in_names(value: object, name: str) -> None:
    assert value_name("training.lr", value) == name


def test_every_option_is_addressed_by_a_dotted_path() -> None:
    assert {"batching", "sampling.fanout", "precision", "model.class", "model.hidden", "training.lr"} <= set(
        option_paths()
    )
    assert is_option("model.args.width")
    assert not any(
        is_option(path) for path in ("sampling", "model", "model.args.", "model.class_path", "seeds.looks", "")
    )


def test_a_wrong_path_finds_its_option() -> None:
    assert suggest("sampling.fanuot") == "did you mean `sampling.fanout`?"
    assert suggest("hidden") == "did you mean `model.hidden`?"
    assert suggest("feature.cache_ratio") == "did you mean `features.cache_ratio`?"
    assert suggest("training.learning_rate_of_the_moon") == ""


def test_a_patch_leaves_the_baseline_and_its_own_values_alone() -> None:
    sections = tree_of(Settings(Model(class_path="m:N", args={"deep": {"list": [1]}}), Training(), Options()))
    mine = [7]
    one = patched(sections, {"model.args.deep.list": mine})
    one["model"]["args"]["deep"]["list"].append(8)
    one["options"]["sampling"]["method"] = "fixed"
    assert mine == [7]
    assert sections["model"]["args"] == {"deep": {"list": [1]}}
    assert sections["options"]["sampling"]["method"] == "uniform"
