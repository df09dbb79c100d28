"""CSR building agrees with the plain definition of a graph."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.graphs.csr import Csr, build_csr, row_ranges
from harness.graphs.edge_facts import edge_facts

edge_lists = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=0, max_size=60)
    )
)


def edges_of(csr: Csr) -> list[tuple[int, int]]:
    """(source, target) of every edge."""
    return [(int(u), v) for v in range(csr.num_nodes) for u in csr.indices[csr.indptr[v] : csr.indptr[v + 1]]]


def arrays_of(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@given(edge_lists)
@settings(max_examples=60)
def test_directed_keeps_every_edge_as_it_is(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = case
    csr = build_csr(*arrays_of(pairs), n)
    assert Counter(edges_of(csr)) == Counter(pairs)
    assert all((np.diff(csr.indices[a:b]) >= 0).all() for a, b in zip(csr.indptr[:-1], csr.indptr[1:], strict=True))
    assert (csr.indptr.dtype, csr.indices.dtype) == (np.int64, np.int32)


@given(edge_lists)
@settings(max_examples=60)
def test_undirected_is_the_union_with_the_reverse_each_once(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = case
    csr = build_csr(*arrays_of(pairs), n, undirected=True)
    assert sorted(edges_of(csr)) == sorted({(u, v) for u, v in pairs} | {(v, u) for u, v in pairs})
    assert not edge_facts(csr).directed
    assert edge_facts(csr).duplicate_edges == 0


@given(edge_lists)
@settings(max_examples=60)
def test_facts_count_what_they_say(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = case
    facts = edge_facts(build_csr(*arrays_of(pairs), n))
    counts = Counter(pairs)
    touched = {node for u, v in pairs if u != v for node in (u, v)}
    assert facts.self_loops == sum(u == v for u, v in pairs)
    assert facts.duplicate_edges == len(pairs) - len(counts)
    assert facts.isolated_nodes == n - len(touched)
    assert facts.directed == any(counts[u, v] != counts[v, u] for u, v in pairs)
    degrees = [(sum(v == node for _, v in pairs), sum(u == node for u, _ in pairs)) for node in range(n)]
    bins: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for pair in degrees:
        bins.setdefault((pair[0].bit_length(), pair[1].bit_length()), []).append(pair)
    assert sorted(facts.degrees) == sorted((len(b), sum(i for i, _ in b), sum(o for _, o in b)) for b in bins.values())
    assert facts.max_in_degree == max(Counter(v for _, v in pairs).values(), default=0)


def test_rows_receive() -> None:
    csr = build_csr(np.array([3, 1]), np.array([0, 0]), 4)
    assert csr.indices[csr.indptr[0] : csr.indptr[1]].tolist() == [1, 3]
    assert csr.indptr.tolist() == [0, 2, 2, 2, 2]


def test_ranges_cover_every_row_once_within_bounds():
    degree = np.array([3, 0, 9, 1, 1, 1, 0, 0, 20, 2])
    indptr = np.concatenate([[0], np.cumsum(degree)])
    ranges = list(row_ranges(indptr, most_edges=5, most_rows=4))
    assert [v for first, last in ranges for v in range(first, last)] == list(range(10))
    for first, last in ranges:
        assert last - first <= 4
        assert indptr[last] - indptr[first] <= 5 or last == first + 1
