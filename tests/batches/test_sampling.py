"""Facts about neighbour sampling without replacement: what holds for every method, and uniformity."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.batches import NeighborSampler
from harness.batches.batch import Batch
from harness.batches.observed.due import neighbours_due
from harness.batches.sampling.methods import METHODS
from harness.batches.sampling.torch_sampler import TorchNeighborSampler
from harness.spec.options import Sampling

Csr = tuple[np.ndarray, np.ndarray]


def star(degree: int) -> Csr:
    """Node 0 receives from nodes 1 .. degree, and nothing else does."""
    indptr = np.zeros(degree + 2, np.int64)
    indptr[1:] = degree
    return indptr, np.arange(1, degree + 1, dtype=np.int32)


def equal(a: Batch, b: Batch) -> bool:
    arrays = [(a.nodes, b.nodes), (a.targets, b.targets)]
    for p, q in zip(a.blocks, b.blocks, strict=True):
        arrays += [(p.indptr, q.indptr), (p.indices, q.indices), (p.in_degree, q.in_degree)]
        arrays += [(p.src_degree, q.src_degree), (np.array([p.num_src]), np.array([q.num_src]))]
        arrays += [tuple(np.array([-1]) if b.src_self_loops is None else b.src_self_loops for b in (p, q))]
        arrays += [tuple(np.array([-1]) if b.edge_weight is None else b.edge_weight for b in (p, q))]
    same = all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in arrays)
    return same and (a.epoch, a.index, a.stats) == (b.epoch, b.index, b.stats)


EVERY_METHOD = pytest.mark.parametrize(("method", "reweight"), [*((m, False) for m in METHODS), ("importance", True)])


@st.composite
def odd_graphs(draw: st.DrawFn) -> Csr:
    """Up to 40 nodes and 250 edges: isolated nodes, hubs, self-loops and repeated edges come often."""
    n, edges, rng = draw(st.integers(1, 40)), draw(st.integers(0, 250)), np.random.default_rng(draw(st.integers(0)))
    source, target = rng.integers(0, n, (2, edges))
    target[rng.random(edges) < draw(st.sampled_from([0.0, 0.5]))] = rng.integers(0, n)
    order = np.argsort(target, kind="stable")
    return np.append(0, np.cumsum(np.bincount(target, minlength=n))), source[order].astype(np.int32)


@st.composite
def settings_of(draw: st.DrawFn, method: str, reweight: bool, num_nodes: int) -> dict[str, Any]:
    """Any seed, and for importance sampling weights that are wildly unequal, or 0, or the default."""
    seed = draw(st.integers(-(2**70), 2**70))
    weights = None
    if method == "importance" and draw(st.booleans()):
        some = [0.0, 1e-250, 1e-3, 1.0, 1.0, 1 / 3, 7.0, 1e6, 1e250]
        weights = np.random.default_rng(seed % 2**64).choice(some, num_nodes)
    return {"method": method, "seed": seed, "reweight": reweight, "weights": weights}


fanouts = st.lists(st.one_of(st.integers(1, 6), st.just(-1), st.just(70)), min_size=1, max_size=3)


# Uniformity


@pytest.mark.parametrize(("degree", "fanout", "draws"), [(3, 1, 9000), (4, 2, 9000), (20, 5, 9000), (40_000, 25, 8000)])
@pytest.mark.parametrize("varied", ["epoch", "batch"])
def test_every_neighbour_is_equally_likely(degree: int, fanout: int, draws: int, varied: str) -> None:
    sampler = NeighborSampler(*star(degree), [fanout], seed=3)
    hub = np.array([0])
    found = np.concatenate([sampler.sample(hub, **{varied: i}).nodes[1:] for i in range(draws)]) - 1
    assert len(found) == draws * fanout
    bins = min(degree, 200)
    counts = np.bincount(found * bins // degree, minlength=bins)
    expected = draws * fanout / bins
    statistic = ((counts - expected) ** 2 / expected).sum()
    if bins == degree:  # counts of a sample without replacement vary less, by (d - k) / (d - 1)
        statistic *= (degree - 1) / (degree - fanout)
    assert stats.chi2.sf(statistic, bins - 1) > 0.001
    assert counts[[0, -1]] == pytest.approx(expected, rel=0.25)  # first and last neighbour are not special


def test_every_pair_of_neighbours_is_equally_likely() -> None:
    sampler = NeighborSampler(*star(5), [2], seed=1)
    found = Counter(tuple(sorted(sampler.sample(np.array([0]), epoch=e).nodes[1:])) for e in range(8000))
    pairs = list(combinations(range(1, 6), 2))
    assert stats.chisquare([found[p] for p in pairs]).pvalue > 0.001


def test_large_fanout_is_uniform_too() -> None:
    sampler = NeighborSampler(*star(90), [60], seed=5)
    found = np.concatenate([sampler.sample(np.array([0]), epoch=e).nodes[1:] for e in range(3000)]) - 1
    counts = np.bincount(found, minlength=90)
    statistic = ((counts - 2000) ** 2 / 2000).sum() * 89 / 30
    assert stats.chi2.sf(statistic, 89) > 0.001


def test_draws_of_two_nodes_of_two_epochs_and_of_two_seeds_are_unrelated() -> None:
    n = 3000  # each receives from three others
    indices = ((np.arange(n)[:, None] + np.array([1, 2, 3])) % n).astype(np.int32).ravel()
    indptr = np.arange(0, 3 * n + 1, 3)

    def choices(seed: int, epoch: int) -> np.ndarray:
        source, target = NeighborSampler(indptr, indices, [1], seed=seed).sample(np.arange(n), epoch).edges()
        return (source - target) % n - 1

    base = choices(0, 0)
    for other in (np.roll(base, 1), choices(0, 1), choices(1, 0)):
        table = np.zeros((3, 3))
        np.add.at(table, (base, other), 1)
        assert stats.chi2_contingency(table).pvalue > 0.001


# Structure


@EVERY_METHOD
@settings(max_examples=60)
@given(graph=odd_graphs(), fanout=fanouts, data=st.data())
def test_hops_and_blocks(method: str, reweight: bool, graph: Csr, fanout: list[int], data: st.DataObject) -> None:
    indptr, indices = graph
    n = len(indptr) - 1
    seeds = np.array(data.draw(st.permutations(range(n)))[: data.draw(st.integers(0, n))], dtype=np.int64)
    asked = data.draw(settings_of(method, reweight, n))
    batch = NeighborSampler(indptr, indices, fanout, **asked).sample(seeds, epoch=2, batch=5)

    assert batch.nodes.dtype == np.int64
    assert np.array_equal(batch.nodes[: len(seeds)], seeds)
    assert len(np.unique(batch.nodes)) == len(batch.nodes)
    assert np.array_equal(batch.targets, np.arange(len(seeds)))
    assert len(batch.blocks) == len(fanout)
    assert batch.blocks[-1].num_dst == len(seeds)
    assert batch.blocks[0].num_src == len(batch.nodes)
    for earlier, later in zip(batch.blocks[:-1], batch.blocks[1:], strict=True):
        assert earlier.num_dst == later.num_src  # each layer's destinations are the next layer's sources
        assert np.array_equal(earlier.indptr[: later.num_dst + 1], later.indptr)  # and the later block is a prefix
        assert np.array_equal(earlier.indices[: later.num_edges], later.indices)
    degree = np.diff(indptr)[batch.nodes]
    loops = np.array([np.count_nonzero(indices[indptr[v] : indptr[v + 1]] == v) for v in range(n)], dtype=np.int64)
    for block in batch.blocks:
        if loops.any():
            assert np.array_equal(block.src_self_loops, loops[batch.nodes[: block.num_src]])
        else:
            assert block.src_self_loops is None
        assert block.indptr[-1] == len(block.indices)
        assert np.array_equal(block.in_degree, degree[: block.num_dst])
        assert np.array_equal(block.src_degree, degree[: block.num_src])
        assert not len(block.indices) or block.indices.max() < block.num_src
        if reweight:
            assert block.edge_weight.dtype == np.float32
            assert block.edge_weight.shape == block.indices.shape
        else:
            assert block.edge_weight is None

    can_be_drawn = degree
    if asked["weights"] is not None:
        positive = asked["weights"][indices] > 0
        can_be_drawn = np.array([positive[indptr[v] : indptr[v + 1]].sum() for v in batch.nodes], dtype=np.int64)
        assert (asked["weights"][batch.edges()[0]] > 0).all()
    first = 0
    for hop, k in enumerate(fanout):  # hop h's edges end in the nodes that hop h-1 found
        block = batch.blocks[len(fanout) - 1 - hop]
        drawn = np.diff(block.indptr)
        assert np.array_equal(drawn[first:], neighbours_due(method, can_be_drawn[first : block.num_dst], k))
        sources = block.indices[block.indptr[first] :]
        new = sources[sources >= block.num_dst]  # new nodes are numbered as they are found
        assert list(dict.fromkeys(new)) == list(range(block.num_dst, block.num_src))
        assert batch.stats[f"hop{hop + 1}_rows"] == block.num_dst - first
        assert batch.stats[f"hop{hop + 1}_edges"] == len(sources)
        assert batch.stats[f"hop{hop + 1}_new_nodes"] == block.num_src - block.num_dst
        first = block.num_dst


@EVERY_METHOD
@settings(max_examples=40)
@given(graph=odd_graphs(), fanout=fanouts, data=st.data())
def test_edges_are_the_graphs_and_no_position_comes_twice(
    method: str, reweight: bool, graph: Csr, fanout: list[int], data: st.DataObject
) -> None:
    indptr, indices = graph
    asked = data.draw(settings_of(method, reweight, len(indptr) - 1))
    batch = NeighborSampler(indptr, indices, fanout, **asked).sample(np.arange(0, len(indptr) - 1, 3))
    drawn = Counter(map(tuple, batch.edges().T.tolist()))
    target = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    there = Counter(zip(indices.tolist(), target.tolist(), strict=True))
    assert all(there[edge] >= times for edge, times in drawn.items())
    assert batch.num_edges == sum(drawn.values()) == batch.stats["edges"]


def test_repeated_edges_are_positions_of_the_list() -> None:
    indptr, indices = np.array([0, 6, 6, 6]), np.array([1, 1, 1, 1, 1, 2])  # 5 of 6 positions are node 1
    sampler = NeighborSampler(indptr, indices, [1])
    ones = sum(int(sampler.sample(np.array([0]), epoch=e).nodes[1] == 1) for e in range(3000))
    assert stats.binomtest(ones, 3000, 5 / 6).pvalue > 0.001


def test_all_neighbours_are_taken_in_order(skewed: Csr) -> None:
    indptr, indices = skewed
    batch = NeighborSampler(indptr, indices, [-1]).sample(np.arange(2000))
    assert np.array_equal(batch.blocks[0].indptr, indptr)
    assert np.array_equal(batch.blocks[0].indices, indices)


# The same batch whatever the circumstances


@EVERY_METHOD
@settings(max_examples=100)
@given(graph=odd_graphs(), fanout=fanouts, epoch=st.integers(0, 10**6), data=st.data())
def test_equals_the_torch_oracle(
    method: str, reweight: bool, graph: Csr, fanout: list[int], epoch: int, data: st.DataObject
) -> None:
    seeds = np.arange(len(graph[0]) - 1)[::-2]
    asked = data.draw(settings_of(method, reweight, len(graph[0]) - 1))
    ours = NeighborSampler(*graph, fanout, **asked).sample(seeds, epoch, 4)
    assert equal(ours, TorchNeighborSampler(*graph, fanout, **asked).sample(seeds, epoch, 4))


@EVERY_METHOD
@pytest.mark.parametrize("fanout", [[15, 10, 5], [1, 60], [-1, 3], [200, -1]])
def test_equals_the_torch_oracle_on_a_large_graph(skewed: Csr, method: str, reweight: bool, fanout: list[int]) -> None:
    seeds = np.random.default_rng(0).permutation(2000)[:300]
    asked = {"method": method, "seed": 9, "reweight": reweight}
    ours = NeighborSampler(*skewed, fanout, **asked).sample(seeds, 1, 2)
    assert equal(ours, TorchNeighborSampler(*skewed, fanout, **asked).sample(seeds, 1, 2))


@pytest.mark.parametrize("threads", [1, 2, 4])
@EVERY_METHOD
def test_threads_and_order_of_calls_change_nothing(skewed: Csr, threads: int, method: str, reweight: bool) -> None:
    def sampler() -> NeighborSampler:
        return NeighborSampler(*skewed, [5, 5], method, seed=2, reweight=reweight)

    seeds = np.random.default_rng(1).permutation(2000).reshape(20, 100)
    calls = [(e, b) for e in range(2) for b in range(20)]
    fresh = {(e, b): sampler().sample(seeds[b], e, b) for e, b in calls}
    shared = sampler()
    shuffled = [calls[i] for i in np.random.default_rng(threads).permutation(len(calls))]
    with ThreadPoolExecutor(threads) as pool:
        batches = list(pool.map(lambda at: shared.sample(seeds[at[1]], *at), shuffled))
    assert all(equal(batch, fresh[at]) for at, batch in zip(shuffled, batches, strict=True))


def test_index_width_and_memory_maps_change_nothing(skewed: Csr, tmp_path) -> None:
    indptr, indices = skewed
    np.save(tmp_path / "indices.npy", indices.astype(np.int64))
    mapped = np.load(tmp_path / "indices.npy", mmap_mode="r")
    seeds = np.arange(50, dtype=np.int32)
    assert equal(
        NeighborSampler(indptr, indices, [4, 4]).sample(seeds), NeighborSampler(indptr, mapped, [4, 4]).sample(seeds)
    )


def test_epochs_batches_hops_and_seeds_draw_differently_unless_fixed(skewed: Csr) -> None:
    nodes = np.arange(200)

    def edges(method: str, seed: int = 0, epoch: int = 0, batch: int = 0) -> np.ndarray:
        return NeighborSampler(*skewed, [5, 5], method, seed).sample(nodes, epoch, batch).edges()

    for method in set(METHODS) - {"fixed"}:
        for change in ({"seed": 1}, {"epoch": 1}, {"batch": 1}):
            assert not np.array_equal(edges(method), edges(method, **change))
    assert np.array_equal(edges("fixed"), edges("fixed", epoch=1, batch=1))
    assert not np.array_equal(edges("fixed"), edges("fixed", seed=1))


def test_fixed_gives_a_node_the_same_sample_in_every_batch(skewed: Csr) -> None:
    sampler = NeighborSampler(*skewed, [3], "fixed", seed=4)

    def sources(seeds: list[int], **at: int) -> list[int]:
        source, target = sampler.sample(np.array(seeds), **at).edges()
        return source[target == 7].tolist()

    assert sources([7], epoch=0) == sources([1, 2, 7, 9], epoch=8, batch=3)


def test_memory_is_flat_over_fifty_epochs(skewed: Csr) -> None:
    sampler = NeighborSampler(*skewed, [10, 10])
    order = np.arange(2000).reshape(4, 500)

    def epochs(first: int, last: int) -> int:
        for epoch in range(first, last):
            for b in range(4):
                sampler.sample(order[b], epoch, b)
        with open(f"/proc/{os.getpid()}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

    before = epochs(0, 5)
    assert epochs(5, 55) - before < 4096  # kB; one epoch's batches are 1.5 MB


# Mistakes


@pytest.mark.parametrize("sampler", [NeighborSampler, TorchNeighborSampler])
def test_mistakes_are_named(sampler, skewed: Csr) -> None:
    indptr, indices = skewed
    with pytest.raises(ValueError, match="no sampling method 'random'; use one of uniform, fixed, importance"):
        sampler(indptr, indices, [5], "random")
    for extra in ({"weights": np.ones(2000)}, {"reweight": True}):
        with pytest.raises(ValueError, match="belong to the method importance; labor does not look at them"):
            sampler(indptr, indices, [5], "labor", **extra)
    for fanout in ([], [0], [5, -2]):
        with pytest.raises(ValueError, match="fanout must be positive"):
            sampler(indptr, indices, fanout)
    with pytest.raises(ValueError, match=r"indices must lie in 0\.\.1999; got 0\.\.2000"):
        sampler(indptr, np.append(indices[:-1], 2000), [5])
    with pytest.raises(ValueError, match="indptr must rise"):
        sampler(indptr[:1000], indices, [5])
    ours = sampler(indptr, indices, [5])
    with pytest.raises(ValueError, match="seeds must be distinct"):
        ours.sample(np.array([3, 4, 3]))
    for seeds in ([-1], [2000]):
        with pytest.raises(ValueError, match="seeds must lie in"):
            ours.sample(np.array(seeds))
    with pytest.raises(ValueError, match="one-dimensional"):
        ours.sample(np.zeros((2, 2), np.int64))
    assert ours.sample(np.array([3])).nodes[0] == 3  # and goes on afterwards


def test_methods_are_those_of_the_spec() -> None:
    assert set(METHODS) == set(get_args(Sampling.model_fields["method"].annotation))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sampler", [NeighborSampler, TorchNeighborSampler])
def test_no_seeds_and_no_nodes(sampler, method: str) -> None:
    empty = sampler(np.zeros(1, np.int64), np.zeros(0, np.int32), [3, 2], method).sample(np.zeros(0, np.int64))
    assert (len(empty.nodes), empty.num_edges, empty.edges().shape) == (0, 0, (2, 0))
    isolated = sampler(np.zeros(4, np.int64), np.zeros(0, np.int32), [3, 2], method).sample(np.array([2, 0]))
    assert isolated.nodes.tolist() == [2, 0]
    assert [b.num_edges for b in isolated.blocks] == [0, 0]


def test_samples_where_no_folder_takes_the_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import CompileResultCacheImpl

    from harness.graphs.compiled import compiled

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert compiled(lambda a: a + 1)(2) == 3
