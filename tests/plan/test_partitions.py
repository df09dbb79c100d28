"""The partitions that a plan's cells need: which, where they lie, and what is known of them before anything runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.graphs import cached_partition
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.plan import partitions as module
from harness.plan.model import Plan
from harness.plan.partitions import PartitionRequest, partition_requests, planned_partitions
from harness.spec.errors import InputError

PlanOf = Callable[..., Plan]

SPEC = """\
version: 1
name: s
dataset: {source: synthetic, nodes: 400, mean_degree: 8, classes: 4, features: 4, homophily: 0.8}
model: {conv: sage, layers: 2}
seeds: {first: 7}
baseline: {partition: {parts: 8, per_batch: 2}}
variants:
  metis:  {set: {batching: cluster}}
  more:   {set: {batching: cluster}, grid: {partition.per_batch: [4, 8]}}
  others: {set: {batching: cluster}, grid: {partition.method: [random, fennel]}}
  quick:  {set: {batching: cluster, partition.method: fennel, partition.passes: 1}}
  small:  {set: {batching: cluster, partition.parts: 4}}
"""
MADE = [
    PartitionRequest("metis", 8, 1, 7),
    PartitionRequest("random", 8, 1, 7),
    PartitionRequest("fennel", 8, 10, 7),
    PartitionRequest("fennel", 8, 1, 7),
    PartitionRequest("metis", 4, 1, 7),
]


def _prepared(plan: Plan) -> Path:
    return prepare(plan.dataset.dataset, plan.dataset.dataset_id, ".")


def test_each_partition_of_the_first_seed_is_there_once(plan_of: PlanOf) -> None:
    """Parts a batch do not change the parts, and passes count for fennel alone."""
    plan = plan_of(SPEC)
    assert partition_requests(plan) == MADE
    assert [request.label for request in MADE] == [
        *["metis 8", "random 8", "fennel 8, 10 passes", "fennel 8, 1 pass", "metis 4"]
    ]


def test_a_spec_without_clusters_needs_none(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of("variants: {p: {set: {precision: bf16}}}\n")
    assert partition_requests(plan) == planned_partitions(plan, tmp_path) == []


def test_nothing_is_known_before_the_graph_and_then_before_the_partition(plan_of: PlanOf, cache: Path) -> None:
    plan = plan_of(SPEC)
    assert [p.report for p in planned_partitions(plan, cache)] == [None] * 5
    _prepared(plan)
    assert [p.report for p in planned_partitions(plan, cache)] == [None] * 5
    assert [p.request for p in planned_partitions(plan, cache)] == MADE


@pytest.mark.parametrize("request_", MADE, ids=lambda r: r.label)
def test_the_plan_finds_what_a_run_made(plan_of: PlanOf, cache: Path, request_: PartitionRequest) -> None:
    plan = plan_of(SPEC)
    graph = open_graph(_prepared(plan))
    asked = (request_.parts, request_.method, request_.seed)
    _, run = cached_partition(graph, *asked, cache / "partitions", request_.passes)
    found = {p.request: p for p in planned_partitions(plan, cache)}
    assert [p.request for p in found.values() if p.report is not None] == [request_]
    report, train = found[request_].report, found[request_].train
    assert report is not None
    assert report.model_dump() | {"cached": False, "balance": report.balance | {"train": train}} == run
    cached_partition(graph, request_.parts, request_.method, 8, cache / "partitions", request_.passes)
    assert sum(p.report is not None for p in planned_partitions(plan, cache)) == 1  # another seed's is not ours


def test_damaged_files_are_named(plan_of: PlanOf, cache: Path) -> None:
    plan = plan_of(SPEC)
    cached_partition(open_graph(_prepared(plan)), 8, "metis", 7, cache / "partitions")
    for kind in ("npz", "json"):
        (path,) = (cache / "partitions").glob(f"*.{kind}")
        path.write_bytes(path.read_bytes()[:40])
        with pytest.raises(InputError, match=rf"{path.name}.*cannot be read.*delete it"):
            planned_partitions(plan, cache)


@pytest.mark.parametrize(
    "changed",
    [
        lambda part: part[:-1],
        lambda part: part - 1,
        lambda part: part + 10**6,
        lambda part: part.astype(np.float64),
        lambda part: part.astype(str),
        lambda part: part[::-1],
    ],
    ids=["short", "negative", "too large", "float", "text", "reversed"],
)
def test_parts_that_cannot_be_right_are_named(
    plan_of: PlanOf, cache: Path, changed: Callable[[np.ndarray], np.ndarray]
) -> None:
    plan = plan_of(SPEC)
    cached_partition(open_graph(_prepared(plan)), 8, "metis", 7, cache / "partitions")
    (path,) = (cache / "partitions").glob("*.npz")
    np.savez(path, part=changed(np.load(path)["part"]))
    with pytest.raises(InputError, match=rf"{path.name}.*cannot be read.*delete it"):
        planned_partitions(plan, cache)


def test_a_bare_array_under_the_name_of_the_parts_is_named(plan_of: PlanOf, cache: Path) -> None:
    plan = plan_of(SPEC)
    part, _ = cached_partition(open_graph(_prepared(plan)), 8, "metis", 7, cache / "partitions")
    (path,) = (cache / "partitions").glob("*.npz")
    with path.open("wb") as file:
        np.save(file, part)
    with pytest.raises(InputError, match=rf"{path.name}.*a bare array, not an \.npz.*delete it"):
        planned_partitions(plan, cache)


def test_training_nodes_that_cannot_be_read_are_named(plan_of: PlanOf, cache: Path) -> None:
    plan = plan_of(SPEC)
    folder = _prepared(plan)
    cached_partition(open_graph(folder), 8, "metis", 7, cache / "partitions")
    path = folder / "train.npy"
    for nodes in (np.array([0, 400]), np.array([-1]), np.array([0.5]), np.array([[1, 2]])):
        path.unlink()  # others may have it open
        np.save(path, nodes)
        with pytest.raises(InputError, match=r"train\.npy.*cannot be read.*delete the folder.*harness prepare"):
            planned_partitions(plan, cache)
    path.unlink()
    with pytest.raises(InputError, match=r"train\.npy.*No such file.*delete the folder.*harness prepare"):
        planned_partitions(plan, cache)


def test_a_graph_of_an_earlier_version_has_no_partitions_yet(plan_of: PlanOf, cache: Path) -> None:
    plan = plan_of(SPEC)
    folder = _prepared(plan)
    cached_partition(open_graph(folder), 8, "metis", 7, cache / "partitions")
    meta = json.loads((folder / "graph.json").read_text())
    del meta["structure"]
    (folder / "graph.json").write_text(json.dumps(meta))
    assert [p.report for p in planned_partitions(plan, cache)] == [None] * 5


def test_the_name_in_the_cache_depends_on_all_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def name(*request: object, structure: str = "s") -> str:
        return PartitionRequest(*request).path(structure, Path()).name  # type: ignore[arg-type]

    names = {name("fennel", 8, 10, 0), name("fennel", 8, 9, 0), name("fennel", 9, 10, 0), name("fennel", 8, 10, 1)}
    names |= {name("metis", 8, 10, 0), name("ldg", 8, 10, 0), name("fennel", 8, 10, 0, structure="t")}
    assert len(names) == 7
    assert name("metis", 8, 9, 0) == name("metis", 8, 10, 0)
    before = name("metis", 8, 1, 0), name("ldg", 8, 1, 0)
    monkeypatch.setattr(module, "version", lambda _: "2999.1")
    assert name("metis", 8, 1, 0) != before[0]
    assert name("ldg", 8, 1, 0) == before[1]  # pymetis has no part in it


def test_balance_is_the_largest_part_over_the_mean() -> None:
    part = np.array([0, 0, 0, 1, 2, 2])
    assert module.train_balance(part, np.array([0, 1, 3]), 3) == 2.0
    assert module.train_balance(part, np.array([0, 1]), 4) == 4.0  # an empty part counts
    assert module.train_balance(part, np.zeros(0, int), 3) == 1.0


def test_reading_partitions_imports_no_engine() -> None:
    program = (
        "import sys, harness.plan.partitions; print(sorted({'torch', 'numba', 'scipy', 'pymetis'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
