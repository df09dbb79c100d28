"""What may be compared."""

from __future__ import annotations

from typing import Any

import pytest

from harness.records.data_version import DataParts, DataVersion
from harness.verdicts.comparable import (
    Remedy,
    arms_difference,
    data_difference,
    disk_reads_difference,
    quality_difference,
    seeds_difference,
    timing_difference,
)
from tests.verdicts.results import ENVIRONMENT, quality_of, timing_of

OLD, NEW = ENVIRONMENT | {"engine": "1"}, ENVIRONMENT | {"engine": "2"}
REMEDY = Remedy("mine")
AGAIN = "run `harness retry mine --variant v,baseline`, and they are made again"


def version_of(fingerprint: str, builder: int = 5, **parts: str) -> DataVersion:
    same = {"graph": "g" * 64, "features": "f" * 64, "labels": "l" * 64, "splits": "s" * 64}
    return DataVersion(builder_version=builder, fingerprint=fingerprint, parts=DataParts(**(same | parts)))


def test_results_of_another_engine_are_not_compared() -> None:
    quality, timing = quality_of("v", environment=NEW), timing_of("v", environment=NEW)
    found = quality_difference(quality, quality_of("baseline", environment=OLD), REMEDY)
    assert found == f"not comparable: engine of `v` is 2, of `baseline` 1; {AGAIN}"
    found = timing_difference(timing, timing_of("control", environment=OLD), REMEDY)
    again = "run `harness retry mine --timing v,control`, and they are made again"
    assert found == f"not comparable: engine of `v` is 2, of the control 1; {again}"
    found = arms_difference(timing, quality_of("v", environment=OLD), REMEDY)
    again = "run `harness retry mine --variant v`, and it is made again"
    assert found == f"not comparable: engine of the timing is 2, of the quality runs 1; {again}"


@pytest.mark.parametrize("other", [NEW, ENVIRONMENT])
def test_the_same_engine_or_none_recorded_is_no_difference(other: dict[str, str]) -> None:
    reference = quality_of("baseline", environment=other)
    assert quality_difference(quality_of("v", environment=NEW), reference, REMEDY) is None
    assert timing_difference(timing_of("v", environment=NEW), timing_of("control", environment=other), REMEDY) is None


@pytest.mark.parametrize(
    ("key", "what"),
    [("torch", "torch"), ("pyg", "torch-geometric"), ("numpy", "numpy"), ("cuda", "CUDA"), ("cudnn", "cuDNN")],
)
def test_libraries_that_compute_are_named(key: str, what: str) -> None:
    quality = quality_of("v", environment=ENVIRONMENT | {key: "2.9"})
    found = quality_difference(quality, quality_of("baseline", environment=ENVIRONMENT | {key: "2.8"}), REMEDY)
    assert found == f"not comparable: {what} of `v` is 2.9, of `baseline` 2.8; {AGAIN}"


def test_pymetis_counts_where_it_cuts() -> None:
    quality = quality_of("v", environment=ENVIRONMENT | {"pymetis": "2025.2"})
    reference = quality_of("baseline", environment=ENVIRONMENT | {"pymetis": "2023.1"})
    assert quality_difference(quality, reference, REMEDY) is None
    found = quality_difference(quality, reference, REMEDY, cut_by_metis=True)
    assert found is not None
    assert found.startswith("not comparable: pymetis of `v` is 2025.2, of `baseline` 2023.1; ")


def test_several_differences_are_counted() -> None:
    quality = quality_of("v", threads=2, environment=ENVIRONMENT | {"torch": "2.14", "numpy": "3"})
    reference = quality_of("baseline", environment=ENVIRONMENT | {"numpy": "2"})
    found = quality_difference(quality, reference, REMEDY)
    assert found == f"not comparable: threads of `v` is 2, of `baseline` 1 (torch and numpy differ too); {AGAIN}"


def test_the_precision_of_products_is_compared() -> None:
    quality = quality_of("v", counters={"float32_matmul_precision": "high"})
    reference = quality_of("baseline", counters={"float32_matmul_precision": "highest"})
    found = quality_difference(quality, reference, REMEDY)
    assert found == f"not comparable: precision of float32 products of `v` is high, of `baseline` highest; {AGAIN}"


@pytest.mark.parametrize(("arm", "name"), [("runs", "v"), ("reference_runs", "baseline")])
def test_a_seed_made_under_another_version_is_named(arm: str, name: str) -> None:
    result = quality_of("v", environment=ENVIRONMENT | {"numpy": "2.0"})
    runs = [*getattr(result, arm)]
    runs[3] = runs[3].model_copy(update={"environment": {"numpy": "2.4", "python": "3.13"}})
    found = seeds_difference(result.model_copy(update={arm: runs}), REMEDY)
    assert found is not None
    assert f"numpy of seed 3 of `{name}` is 2.4, of the first run of `v` 2.0; run `harness retry mine" in found
    runs[3] = runs[3].model_copy(update={"environment": {"python": "3.13"}})
    assert seeds_difference(result.model_copy(update={arm: runs}), REMEDY) is None


def test_which_part_of_the_data_differs_is_said() -> None:
    one, other = version_of("a", splits="1" * 64), version_of("b", splits="2" * 64)
    assert data_difference(("a", "b"), (one, other)) == (
        "the splits differ, 111111111111 against 222222222222; graph, features and labels are the same"
    )
    assert data_difference(("a", "a"), (one, one)) == ""
    assert data_difference(("a", "b"), (one, None)) == "the data fingerprints differ, a against b"
    other = version_of("b", builder=6, graph="1" * 64, features="2" * 64)
    assert data_difference(("a", "b"), (version_of("a"), other)) == (
        "the graph and features differ, gggggggggggg against 111111111111 and ffffffffffff against 222222222222; "
        "labels and splits are the same; builder version 5 against 6"
    )


def test_other_data_between_all_that_is_compared() -> None:
    one: dict[str, Any] = {"fingerprint": "a", "data": version_of("a")}
    other: dict[str, Any] = {"fingerprint": "b", "data": version_of("b", features="2" * 64)}
    assert quality_difference(quality_of("v", **one), quality_of("baseline", **other), REMEDY) == (
        "not comparable: `v` and `baseline` are of different data: the features differ, ffffffffffff against "
        f"222222222222; graph, labels and splits are the same; {AGAIN}"
    )
    found = timing_difference(timing_of("v", **one), timing_of("control", **other), REMEDY)
    assert found is not None
    assert "`v` and the control are of different data: the features differ" in found
    found = arms_difference(timing_of("v", **one), quality_of("v", **other), REMEDY)
    assert found is not None
    assert "the timing and the quality runs are of different data: the features differ" in found


def test_another_builder_of_equal_arrays_is_named() -> None:
    one = quality_of("v", data=version_of("f", builder=6))
    found = quality_difference(one, quality_of("baseline", data=version_of("f")), REMEDY)
    assert found == f"not comparable: builder version of `v` is 6, of `baseline` 5; {AGAIN}"


def test_features_read_in_two_ways_are_two_timings() -> None:
    timing = timing_of("v")

    def reading(*ways: str | None) -> Any:
        (first, *blocks) = timing.blocks
        processes = [p.model_copy(update={"disk_reads": w}) for p, w in zip(first.processes, ways, strict=True)]
        return timing.model_copy(update={"blocks": [first.model_copy(update={"processes": processes}), *blocks]})

    ahead, by_row = "read-ahead", "row-by-row"
    assert disk_reads_difference(reading(ahead, ahead, ahead, ahead), REMEDY) is None
    assert disk_reads_difference(reading(None, ahead, ahead, None), REMEDY) is None  # the home is what the variant sets
    assert disk_reads_difference(reading(ahead, by_row, by_row, ahead), REMEDY) == (
        "not comparable: a timed process of `baseline` read features from the disk through the kernel's page cache, "
        "one of `v` row by row; free some memory, then run `harness retry mine --timing v`, and it is made again"
    )
    assert disk_reads_difference(reading(None, ahead, by_row, None), REMEDY) is not None  # within one arm


def test_timings_of_another_way_of_timing_are_not_compared() -> None:
    """One that was written before the way had a version has the first."""
    found = timing_difference(timing_of("v", timing_version=2), timing_of("control"), REMEDY)
    assert found is not None
    assert "timing version of `v` is 2, of the control 1" in found
    assert timing_difference(timing_of("v", timing_version=2), timing_of("c", timing_version=2), REMEDY) is None
