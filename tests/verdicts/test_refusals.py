"""Result files of real runs, changed in one place: each difference is refused by name, with what makes it go away.

The files are what two cores made of `specs/debian.yaml`; nothing in them is made up but what a test changes.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.commands.results import read_results
from harness.plan.model import Plan
from harness.records.files import read_model
from harness.verdicts.analyze import analyze
from harness.verdicts.model import ComparisonVerdict

REAL = Path(__file__).parent / "real" / "debian"
ZEROS = "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REAL, tmp_path / "debian"))


def changed(folder: Path, file: str, place: str, value: Any) -> None:
    """Set one value of a file; dots lead to it."""
    path = folder / f"{file}.json"
    content = json.loads(path.read_text())
    *keys, last = place.split(".")
    inner = content
    for key in keys:
        inner = inner[int(key) if isinstance(inner, list) else key]
    assert inner[last] != value
    inner[last] = value
    path.write_text(json.dumps(content))


def verdict_of(folder: Path, variant: str) -> ComparisonVerdict:
    plan = read_model(folder / "plan.json", Plan)
    (found,) = [c for c in analyze(plan, *read_results(folder, plan)).comparisons if c.variant == variant]
    return found


def again(option: str, names: str) -> str:
    made = "they are made again" if "," in names else "it is made again"
    return f"; run `harness retry debian --{option} {names}`, and {made}"


@pytest.mark.parametrize("variant", ["fanout-5-5", "cache", "cluster-metis"])
def test_as_they_are_nothing_is_refused(folder: Path, variant: str) -> None:
    assert "not comparable" not in verdict_of(folder, variant).reason


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("threads", 2, "threads of `fanout-5-5` is 2, of `baseline` 1"),
        ("device", "cuda NVIDIA H200", "device of `fanout-5-5` is cuda NVIDIA H200, of `baseline` cpu"),
        ("environment.torch", "2.12.0", "torch of `fanout-5-5` is 2.12.0, of `baseline` 2.13.0+cpu"),
        ("environment.pyg", "2.6.1", "torch-geometric of `fanout-5-5` is 2.6.1, of `baseline` 2.8.1"),
        ("environment.numpy", "1.26.4", "numpy of `fanout-5-5` is 1.26.4, of `baseline` {numpy}"),
        ("environment.engine", 2, "engine of `fanout-5-5` is 2, of `baseline` 3"),
        ("data.builder_version", 4, "builder version of `fanout-5-5` is 4, of `baseline` 5"),
        (
            "counters.float32_matmul_precision",
            "high",
            "precision of float32 products of `fanout-5-5` is high, of `baseline` ",
        ),
    ],
)
def test_quality_runs_of_variant_and_reference(folder: Path, place: str, value: Any, words: str) -> None:
    baseline = json.loads((folder / "variants" / "baseline.json").read_text())
    # Every run says where it differs from the file's environment: change what all of them had.
    changed(folder, "variants/fanout-5-5", place, value)
    found = verdict_of(folder, "fanout-5-5")
    assert found.verdict == "inconclusive"
    assert found.reason.startswith("not comparable: " + words.format(**baseline["environment"]))
    assert found.reason.endswith(again("variant", "fanout-5-5,baseline"))
    assert "not comparable" not in verdict_of(folder, "cache").reason


def test_pymetis_where_it_cuts_the_graph(folder: Path) -> None:
    for name in ("cluster-metis", "fanout-5-5"):
        changed(folder, f"variants/{name}", "environment.pymetis", "2023.1")
    assert "pymetis of `cluster-metis` is 2023.1, of `baseline` " in verdict_of(folder, "cluster-metis").reason
    assert "not comparable" not in verdict_of(folder, "fanout-5-5").reason


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("splits", "the splits differ, 000000000000 against {}; graph, features and labels are the same"),
        ("features", "the features differ, 000000000000 against {}; graph, labels and splits are the same"),
        ("graph", "the graph differs, 000000000000 against {}; features, labels and splits are the same"),
        ("labels", "the labels differ, 000000000000 against {}; graph, features and splits are the same"),
    ],
)
@pytest.mark.parametrize(
    ("file", "who", "remedy"),
    [
        ("variants/fanout-5-5", "`fanout-5-5` and `baseline`", again("variant", "fanout-5-5,baseline")),
        ("timing/fanout-5-5", "the timing and the quality runs", again("variant", "fanout-5-5")),
        ("timing/control", "`fanout-5-5` and the control", again("timing", "fanout-5-5,control")),
    ],
)
def test_changed_data_is_refused_by_its_part(
    folder: Path, file: str, who: str, remedy: str, part: str, words: str
) -> None:
    was = json.loads((folder / f"{file}.json").read_text())["data"]["parts"][part]
    changed(folder, file, "fingerprint", ZEROS)  # the joint one follows from its parts
    changed(folder, file, "data.fingerprint", ZEROS)
    changed(folder, file, f"data.parts.{part}", ZEROS)
    found = verdict_of(folder, "fanout-5-5")
    said = words.format(was[:12])
    if file == "timing/control":  # here the changed file is named second
        said = said.replace(f"000000000000 against {was[:12]}", f"{was[:12]} against 000000000000")
    assert found.reason == f"not comparable: {who} are of different data: {said}{remedy}"
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize(("arm", "name"), [("runs", "fanout-5-5"), ("reference_runs", "baseline")])
@pytest.mark.parametrize(
    ("key", "value", "what"),
    [("torch", "2.12.0", "torch"), ("numpy", "1.26.4", "numpy"), ("threads", 4, "threads"), ("engine", 2, "engine")],
)
def test_seeds_of_one_arm(folder: Path, arm: str, name: str, key: str, value: Any, what: str) -> None:
    changed(folder, "variants/fanout-5-5", f"{arm}.1.environment", {key: value})
    found = verdict_of(folder, "fanout-5-5")
    assert found.verdict == "inconclusive"
    words = f"{what} of seed 1 of `{name}` is {value}, of the first run of `fanout-5-5` "
    assert found.reason.startswith(f"not comparable: {words}")
    assert found.reason.endswith(again("variant", "fanout-5-5" if name == "fanout-5-5" else "fanout-5-5,baseline"))


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("environment.torch", "2.12.0", "torch of the timing is 2.12.0, of the quality runs 2.13.0+cpu"),
        ("environment.engine", 2, "engine of the timing is 2, of the quality runs 3"),
        ("device", "cuda NVIDIA H200", "device of the timing is cuda NVIDIA H200, of the quality runs cpu"),
    ],
)
def test_timing_and_quality_runs(folder: Path, place: str, value: Any, words: str) -> None:
    changed(folder, "timing/fanout-5-5", place, value)
    found = verdict_of(folder, "fanout-5-5")
    assert (found.verdict, found.reason) == ("inconclusive", f"not comparable: {words}{again('variant', 'fanout-5-5')}")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("threads", 7, "threads of `fanout-5-5` is {threads}, of the control 7"),
        ("timing_version", 1, "timing version of `fanout-5-5` is {timing_version}, of the control 1"),
        ("environment.cpu", "a 486", "processor of `fanout-5-5` is {cpu}, of the control a 486"),
        ("environment.numba", "0.60", "numba of `fanout-5-5` is {numba}, of the control 0.60"),
        ("environment.torch", "2.12.0", "torch of `fanout-5-5` is {torch}, of the control 2.12.0"),
    ],
)
def test_timing_and_control(folder: Path, place: str, value: Any, words: str) -> None:
    timing = json.loads((folder / "timing" / "fanout-5-5.json").read_text())
    changed(folder, "timing/control", place, value)
    found = verdict_of(folder, "fanout-5-5")
    said = words.format(**(timing["environment"] | {key: timing[key] for key in ("threads", "timing_version")}))
    assert (found.verdict, found.reason) == (
        "inconclusive",
        f"not comparable: {said}{again('timing', 'fanout-5-5,control')}",
    )


@pytest.mark.parametrize(("position", "whose"), [(0, "baseline"), (2, "cache")])
def test_the_kernels_page_cache_against_reading_row_by_row(folder: Path, position: int, whose: str) -> None:
    """Between the arms and within one; these features lay in memory, so that each process is first said to read."""
    for process in range(4):
        changed(folder, "timing/cache", f"blocks.0.processes.{process}.disk_reads", "read-ahead")
    assert "not comparable" not in verdict_of(folder, "cache").reason
    changed(folder, "timing/cache", f"blocks.0.processes.{position}.disk_reads", "row-by-row")
    found = verdict_of(folder, "cache")
    assert found.verdict == "inconclusive"
    assert f"of `{whose}`" in found.reason
    for way in ("row by row", "through the kernel's page cache"):
        assert way in found.reason
    assert found.reason.endswith(again("timing", "cache").replace("; run", "; free some memory, then run"))
