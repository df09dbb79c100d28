"""Fennel and LDG place every node where their papers say, and come as close to METIS as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs import edge_cut, partition
from harness.graphs.partitioning.streaming import load_cap
from harness.graphs.partitioning.undirected import undirected

from .plain_graphs import Csr, block_model, communities, csr


@pytest.fixture(scope="module")
def blocks() -> Csr:
    """50,000 nodes in 100 communities, mean degree 14, four edges of five inside."""
    return block_model(50_000, 100, 14, 0.8, seed=0)


def written_out(graph: Csr, parts: int, method: str, seed: int, passes: int = 1) -> np.ndarray:
    """The methods as their papers state them: the score of every part, one after the other."""
    simple = undirected(*graph)
    n, m = simple.num_nodes, simple.num_edges
    neighbours = [set(simple.indices[simple.indptr[v] : simple.indptr[v + 1]].tolist()) for v in range(n)]
    members: list[set[int]] = [set() for _ in range(parts)]
    cap = max(-(-n // parts), int(1.1 * n / parts)) if method == "fennel" else -(-n // parts)
    alpha = m * parts**0.5 / n**1.5
    for number in range(passes):
        rise = (4.0 ** (1 / max(passes - 1, 1))) ** number
        for v in np.random.default_rng(seed).permutation(n):
            for part in members:
                part.discard(int(v))

            def score(i: int, v: int = v, rise: float = rise) -> tuple[float, int, int]:
                inside, load = len(neighbours[v] & members[i]), len(members[i])
                room = inside * (1 - load / cap) if method == "ldg" else inside - alpha * 1.5 * load**0.5 * rise
                return room, -load, -i

            members[max((i for i in range(parts) if len(members[i]) < cap), key=score)].add(int(v))
    return np.array([next(i for i in range(parts) if v in members[i]) for v in range(n)])


@settings(max_examples=60)
@given(
    n=st.integers(3, 40),
    edges=st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=160),
    parts=st.integers(2, 12),
    seed=st.integers(0, 5),
    passes=st.integers(1, 4),
)
def test_every_node_goes_where_the_formula_says(
    n: int, edges: list[tuple[int, int]], parts: int, seed: int, passes: int
) -> None:
    graph = csr(n, [(a % n, b % n) for a, b in edges])
    parts = min(parts, n - 1)
    assert np.array_equal(partition(*graph, parts, "ldg", seed), written_out(graph, parts, "ldg", seed))
    found = partition(*graph, parts, "fennel", seed, passes)
    assert np.array_equal(found, written_out(graph, parts, "fennel", seed, passes))


def test_ten_passes_of_fennel_come_close_to_metis(blocks: Csr) -> None:
    cut = {method: edge_cut(*blocks, partition(*blocks, 32, method)) for method in ("metis", "fennel")}
    assert cut["fennel"] <= 1.15 * cut["metis"]


def test_more_passes_of_fennel_cut_less(blocks: Csr) -> None:
    cuts = [edge_cut(*blocks, partition(*blocks, 32, "fennel", passes=passes)) for passes in (1, 3, 10)]
    assert cuts[0] > 1.5 * cuts[1] > 1.5 * cuts[2]


def test_ldg_keeps_what_random_parts_do_not(blocks: Csr) -> None:
    """Without the tie rule it would be no better: most nodes come before any of their neighbours."""
    cut = {method: edge_cut(*blocks, partition(*blocks, 32, method)) for method in ("ldg", "random")}
    assert cut["ldg"] <= cut["random"] - 0.15


@pytest.mark.parametrize(("method", "limit"), [("fennel", 1.1), ("ldg", 1.0)])
@pytest.mark.parametrize("parts", [2, 7, 32, 1_000])
def test_no_part_exceeds_its_limit(blocks: Csr, method: str, limit: float, parts: int) -> None:
    largest = np.bincount(partition(*blocks, parts, method, passes=3)).max()
    assert largest <= load_cap(method, 50_000, parts) == max(-(-50_000 // parts), int(limit * 50_000 / parts + 1e-9))


def test_the_limit_binds_where_everything_hangs_together() -> None:
    """A clique and many isolated nodes: by neighbours alone the clique would be one part."""
    clique = [(a, b) for a in range(60) for b in range(60) if a != b]
    for method, most in (("fennel", 27), ("ldg", 25)):
        assert np.bincount(partition(*csr(100, clique), 4, method)).max() <= most


def test_a_pass_leaves_its_input_alone() -> None:
    graph = communities(4, 50)
    before = [array.copy() for array in graph]
    for array in graph:
        array.setflags(write=False)
    for method in ("fennel", "ldg"):
        partition(*graph, 8, method)
    assert all(np.array_equal(array, was) for array, was in zip(graph, before, strict=True))
