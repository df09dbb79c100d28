"""The partitions of a plan at 80 columns: what they keep, how even they are, and what makes those that are missing."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.plan.model import Plan
from harness.plan.partitions import PartitionReport, PartitionRequest, PlannedPartition
from harness.reports.terminal import plan_table


@pytest.fixture
def plan(make_plan, make_verdicts) -> Plan:
    return make_plan(make_verdicts())


def _made(method: str, parts: int, train: float = 1.55, **changes) -> PlannedPartition:
    fields = {
        "method": method, "parts": parts, "passes": 10 if method == "fennel" else None, "seed": 0, "edge_cut": 0.4624,
        "non_empty_parts": parts, "kept_edge_share": 0.5376, "kept_by_chance": 1e4, "kept_over_random": 34.4,
        "kept_sigmas": 300.0, "reachable_sigmas": None, "balance": {"nodes": 1.1, "edges": 22.294}, "seconds": 0.2671,
        "parts_sha256": "0" * 64,
    }  # fmt: skip
    report = PartitionReport(**(fields | changes))
    return PlannedPartition(PartitionRequest(method, parts, 10, 0), report, train)


def _missing(method: str, parts: int) -> PlannedPartition:
    return PlannedPartition(PartitionRequest(method, parts, 10, 0), None, None)


def lines_of(plan, partitions) -> list[str]:
    file = io.StringIO()
    plan_table(plan, Console(file=file, width=80), partitions)
    return file.getvalue().splitlines()


def test_each_made_partition_has_one_row_of_at_most_80_columns(plan) -> None:
    partitions = [
        _made("fennel", 64),
        _made("random", 64, edge_cut=0.9847, kept_edge_share=0.0153, kept_over_random=0.983, seconds=0.00727),
        _made("metis", 512, non_empty_parts=500, seconds=7205.0),
    ]
    lines = lines_of(plan, partitions)
    start = lines.index("Partitions (seed 0)")
    assert max(map(len, lines[start:])) <= 80
    assert lines[start + 1].split() == ["partition", "cut", "kept", "over", "nodes", "edges", "train", "empty", "time"]
    rows = [" ".join(line.split()) for line in lines[start + 2 : start + 5]]
    assert rows == [
        "fennel 64, 10 passes 46.2 % 53.8 % 34x 1.10 22.29 1.55 0 270 ms",
        "random 64 98.5 % 1.5 % 0.98x 1.10 22.29 1.55 0 7.3 ms",
        "metis 512 46.2 % 53.8 % 34x 1.10 22.29 1.55 12 2.0 h",
    ]
    assert "not made yet" not in " ".join(lines)


def test_missing_partitions_are_named_with_what_makes_them(plan) -> None:
    text = " ".join(lines_of(plan, [_made("metis", 64), _missing("fennel", 64), _missing("ldg", 64)]))
    assert f"fennel 64, 10 passes; ldg 64: not made yet; `harness prepare {plan.spec_path}` makes them." in text
    text = " ".join(lines_of(plan, [_missing("metis", 64)]))
    assert f"metis 64: not made yet; `harness prepare {plan.spec_path}` makes it." in text
    assert "kept" not in text


def test_a_plan_without_clusters_says_nothing_of_them(plan) -> None:
    assert "Partitions (seed" not in " ".join(lines_of(plan, []))
