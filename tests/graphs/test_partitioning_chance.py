"""What random parts keep is computed exactly; what partitioners keep is far above it, where there is something."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from harness.graphs import cached_partition, partition
from harness.graphs.partitioning.chance import kept_by_chance
from harness.graphs.partitioning.undirected import undirected

from .plain_graphs import Csr, block_model, communities, csr, graph_of

METHODS = ["metis", "fennel", "ldg"]
PATH_AND_HUB = csr(7, [(0, 1), (0, 2), (0, 3), (0, 4), (4, 5), (5, 6)])
COMPLETE = csr(40, [(a, b) for a in range(40) for b in range(40) if a != b])
STAR = csr(400, [(0, v) for v in range(1, 400)])


def kept(graph: Csr, part: np.ndarray) -> int:
    simple = undirected(*graph)
    return int(np.sum(part[np.repeat(np.arange(len(part)), np.diff(simple.indptr))] == part[simple.indices])) // 2


@pytest.mark.parametrize("sizes", [[4, 3], [3, 2, 2], [5, 1, 1], [2, 2, 2, 1], [7]])
def test_mean_and_deviation_are_those_of_all_permutations(sizes: list[int]) -> None:
    dealt = np.repeat(np.arange(len(sizes)), sizes)
    counts = [kept(PATH_AND_HUB, np.array(order)) for order in set(permutations(dealt.tolist()))]
    chance = kept_by_chance(np.diff(undirected(*PATH_AND_HUB).indptr), np.array(sizes))
    assert chance.mean == pytest.approx(np.mean(counts))
    assert chance.sd == pytest.approx(np.std(counts), abs=1e-9)


def test_random_parts_lie_about_chance(tmp_path: Path) -> None:
    graph = graph_of(*block_model(3_000, 10, 12, 0.9, seed=1))
    sigmas = [cached_partition(graph, 12, "random", seed, tmp_path)[1]["kept_sigmas"] for seed in range(40)]
    assert abs(np.mean(sigmas)) < 4 / 40**0.5
    assert 0.5 < np.std(sigmas) < 1.6


@pytest.mark.parametrize("method", METHODS)
def test_communities_are_kept_far_above_chance(tmp_path: Path, method: str) -> None:
    graph = graph_of(*communities(8, 60))
    part, report = cached_partition(graph, 8, method, 0, tmp_path)
    expected = (np.bincount(part) * (np.bincount(part) - 1)).sum() / (480 * 479)
    assert report["kept_over_random"] == pytest.approx(
        kept((graph.indptr, graph.indices), part) / undirected(graph.indptr, graph.indices).num_edges / expected
    )
    assert report["kept_over_random"] > 2
    assert report["kept_sigmas"] > 20
    assert report["reachable_sigmas"] is None  # nobody has to ask whether there was something to keep


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", [COMPLETE, STAR, csr(50, [])], ids=["complete", "star", "no edges"])
def test_where_any_parts_are_as_good_the_report_says_so(tmp_path: Path, method: str, graph: Csr) -> None:
    report = cached_partition(graph_of(*graph), 4, method, 0, tmp_path)[1]
    assert abs(report["kept_sigmas"]) < 4
    assert report["reachable_sigmas"] < 4
    assert report["kept_over_random"] == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("parts", [1, 7, 9])
def test_one_part_and_a_part_a_node_are_chance(tmp_path: Path, method: str, parts: int) -> None:
    report = cached_partition(graph_of(*PATH_AND_HUB), parts, method, 0, tmp_path)[1]
    assert report["kept_sigmas"] == report["reachable_sigmas"] == 0.0
    assert report["kept_over_random"] == 1.0


def test_a_tiny_part_of_a_real_difference_is_seen() -> None:
    """A third of the nodes in their communities, the others anywhere: still no chance."""
    graph = block_model(3_000, 10, 12, 0.9, seed=1)
    part, dealt = partition(*graph, 10, "metis"), partition(*graph, 10, "random")
    mixed = np.where(np.arange(3_000) < 1_000, part, dealt)
    chance = kept_by_chance(np.diff(graph[0]), np.bincount(mixed))
    assert chance.sigmas(kept(graph, mixed)) > 10
    assert abs(chance.sigmas(kept(graph, np.random.default_rng(0).permutation(mixed)))) < 4
