"""Counts of draws by other means than the sampler's, and the statistics that tell methods apart."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from harness.batches.observed.by_weight import draws_by_weight
from harness.batches.observed.first_draws import FirstDraws, positive_neighbours
from harness.batches.observed.rows import ranges
from harness.batches.observed.unlike_uniform import DistinctSources, SharedOrder, WeightRanks, margin, would_stand_out
from harness.batches.plans import batches_of
from harness.batches.sampling.numba_sampler import NeighborSampler
from harness.spec.options import Options, Training

METHODS = ["uniform", "fixed", "importance", "degree-stratified", "labor"]


@pytest.fixture
def graph(skewed, make_graph):
    return make_graph(*skewed)


def _counted(graph, method: str, fanout: list[int], tmp_path, weights: str = "degree", epochs: int = 1) -> dict:
    sampling = {"method": method, "fanout": fanout, "weights": weights}
    options = Options.model_validate({"sampling": sampling})
    batches = batches_of(graph, options, Training(batch_size=300), len(fanout), 0, spec_dir=tmp_path)
    for epoch in range(1, epochs + 1):
        list(batches.epoch(epoch))
    return batches.counters()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fanout", [[5, 3], [-1, 2], [1, -1]])
def test_what_is_due_is_drawn(graph, tmp_path, method: str, fanout: list[int]) -> None:
    found = _counted(graph, method, fanout, tmp_path)
    assert found["draws"]["drawn"] == found["draws"]["due"]
    assert min(found["draws"]["due"]) > 0


@pytest.mark.parametrize("fanout", [[5, 3], [-1, -1]])
def test_neighbours_of_no_weight_are_not_due(graph, tmp_path, fanout: list[int]) -> None:
    weights = np.random.default_rng(0).random(2000) * (np.arange(2000) % 3 > 0)
    np.save(tmp_path / "w.npy", weights)
    found = _counted(graph, "importance", fanout, tmp_path, "w.npy")
    assert found["draws"]["drawn"] == found["draws"]["due"]
    assert found["draws"]["due"][0] < _counted(graph, "uniform", fanout, tmp_path)["draws"]["due"][0]
    assert found["sampling_weights"]["positive"] == np.count_nonzero(weights)


def test_one_epoch_is_looked_at(graph, tmp_path) -> None:
    one, three = (_counted(graph, "uniform", [5, 3], tmp_path, epochs=n) for n in (1, 3))
    for key in ("draws", "weight_ranks", "distinct_sources", "seeds_once"):
        assert one[key] == three[key]


def test_positive_neighbours_by_brute_force(skewed, monkeypatch) -> None:
    indptr, indices = skewed
    # less than a hub has, more than most rows have
    monkeypatch.setattr("harness.batches.observed.first_draws._EDGES_AT_ONCE", 1000)
    weights = (np.arange(2000) % 4 > 0).astype(np.float64)
    expected = [int((weights[indices[indptr[v] : indptr[v + 1]]] > 0).sum()) for v in range(2000)]
    assert positive_neighbours(indptr, indices, weights).tolist() == expected
    assert positive_neighbours(indptr, indices, weights + 1.0) is None
    assert positive_neighbours(indptr, indices, None) is None


# --- statistics ----------------------------------------------------------------------------------------------------


def test_ranges_one_after_the_other() -> None:
    assert ranges(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]


def test_simulated_draws_are_those_of_the_sampler(make_csr) -> None:
    """Rows of one heavy and two light neighbours: how often each is drawn, and the key that is not."""
    rows, heavy = 4000, 20.0
    row, weight = np.repeat(np.arange(rows), 3), np.tile([heavy, 1.0, 1.0], rows)
    taken, threshold = next(draws_by_weight(weight, row, np.full(rows, 1), 1))
    assert (np.bincount(row, taken) == 1).all()
    # the light ones' smaller key has density 2 (1 - t), the heavy one's is uniform below 1 / heavy
    expected = 1 - 1 / heavy + 1 / (3 * heavy**2)
    assert taken[::3].mean() == pytest.approx(expected, abs=5 * (expected * (1 - expected) / rows) ** 0.5)
    assert (threshold[~taken[::3]] <= 1 / heavy).all()
    nodes = 4 * rows
    indptr, indices = make_csr(nodes, np.arange(rows, nodes), row)
    by_node = np.concatenate([np.ones(rows), weight])
    sampler = NeighborSampler(indptr, indices, [1], "importance", 0, weights=by_node)
    drawn = sampler.sample(np.arange(rows)).edges()[0]
    assert (by_node[drawn] == heavy).mean() == pytest.approx(expected, abs=5 * (expected / heavy / rows) ** 0.5)


def test_mean_and_spread_of_ranks_are_those_of_all_samples(make_csr, make_graph) -> None:
    """One node with 6 neighbours of degrees 0 to 5: over all 15 samples of 2."""
    source = np.concatenate([np.arange(1, 7), [7] * 15])
    target = np.concatenate([[0] * 6, np.repeat(np.arange(1, 7), np.arange(6))])
    graph = make_graph(*make_csr(8, source, target))
    found = []
    for pair in combinations(range(1, 7), 2):
        ranks = WeightRanks(graph, None)
        ranks.look(np.array([0]), np.array([2]), np.array(pair))
        found.append(ranks.counters())
    values = np.array([f["found"] for f in found])
    assert values.mean() == pytest.approx(found[0]["uniform"], abs=1e-12)
    assert found[0]["margin"] > 6 * values.std()
    assert values.max() == found[-1]["found"] == pytest.approx((5 + 6 - 7) / 6)


def test_distinct_sources_of_independent_rows(make_csr, make_graph) -> None:
    """Two nodes with the same 4 neighbours: over all pairs of samples of 2."""
    graph = make_graph(*make_csr(6, np.tile(np.arange(2, 6), 2), np.repeat([0, 1], 4)))
    values = []
    for one in combinations(range(2, 6), 2):
        for two in combinations(range(2, 6), 2):
            statistic, order = DistinctSources(graph), SharedOrder(graph)
            for looking in (statistic, order):
                looking.look(np.array([0, 1]), np.array([2, 2]), np.array([*one, *two]))
            found, shared = statistic.counters(), order.counters()
            values.append(found["found"])
            both = len(set(one) & set(two))
            # with one in common, it comes before the one that neither drew, and of the other two each drew its own
            assert shared == {2: {"agreed": 4, "contradicted": 0}, 1: {"agreed": 1, "contradicted": 1}}.get(
                both, {"agreed": 0, "contradicted": 4}
            )
    assert np.mean(values) == pytest.approx(found["uniform"]) == 3.0
    assert found["margin"] > 6 * np.std(values)


def test_a_margin_is_passed_once_in_1e9() -> None:
    """Poisson's tail, that of the rarest terms, against the margin; and many terms against the normal's."""
    for mean in (0.01, 0.1, 1.0, 10.0, 100.0):
        above = int(mean + margin(mean, 1.0))  # more than this passes it
        tail = sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(above + 1, above + 200))
        assert tail < 5e-10
    assert margin(1.0, 0.0) == pytest.approx(6.545, abs=1e-3)


def _tree(make_csr, departments: int, leaves: int):
    """A root over departments over leaves, both ways."""
    middle = np.arange(1, 1 + departments)
    ends = np.arange(1 + departments, 1 + departments * (leaves + 1))
    down = np.concatenate([np.zeros(departments, np.int64), np.repeat(middle, leaves)])
    up = np.concatenate([middle, ends])
    n = 1 + departments * (leaves + 1)
    return make_csr(n, np.concatenate([down, up]), np.concatenate([up, down])), ends


def _complete(make_csr, nodes: int):
    source, target = np.nonzero(~np.eye(nodes, dtype=bool))
    return make_csr(nodes, source, target), np.arange(nodes // 2)


def _ring(make_csr, nodes: int, degree: int):
    target = np.repeat(np.arange(nodes), degree)
    return make_csr(nodes, (target + np.tile(np.arange(1, degree + 1), nodes)) % nodes, target), np.arange(nodes)


@pytest.mark.parametrize(
    ("shape", "size", "fanout"),
    [
        (_tree, (10, 300), [1, 1]),
        (_tree, (3, 400), [2, 2]),
        (_tree, (1, 200), [10, 5]),  # a star
        (_complete, (19,), [10]),
        (_ring, (60, 8), [3, 7]),
    ],
)
def test_honest_draws_are_within_the_margins_on_skewed_graphs(make_csr, make_graph, shape, size, fanout) -> None:
    (indptr, indices), train = shape(make_csr, *size)
    graph = make_graph(indptr, indices, train=train[:200])
    for seed in range(150):
        sampler = NeighborSampler(indptr, indices, fanout, "uniform", seed)
        draws = FirstDraws(graph, "uniform", tuple(fanout), None)
        for index, seeds in enumerate(np.array_split(graph.train, 6)):
            draws.count(sampler.sample(seeds, 1, index))
        found = draws.counters()
        assert abs(found["weight_ranks"]["found"]) <= found["weight_ranks"]["margin"]
        distinct = found["distinct_sources"]
        assert distinct["uniform"] - distinct["found"] < distinct["margin"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_each_method_looks_like_itself(graph, method: str, seed: int) -> None:
    sampler = NeighborSampler(graph.indptr, graph.indices, [5, 3], method, seed)
    weights = np.bincount(graph.indices, minlength=2000).astype(float) if method == "importance" else None
    draws = FirstDraws(graph, method, (5, 3), weights)
    for index in range(4):
        draws.count(sampler.sample(graph.train[index * 250 : (index + 1) * 250], 1, index))
    found = draws.counters()
    ranks, distinct = found["weight_ranks"], found["distinct_sources"]
    assert (ranks is None) == (method == "labor")
    assert (distinct is None) == (method == "importance")
    if method == "importance":
        assert would_stand_out(ranks)
        assert ranks["found"] == pytest.approx(ranks["expected"], abs=ranks["expected_margin"] / 2)
    elif method == "labor":
        assert distinct["found"] < distinct["uniform"] - distinct["margin"]
        assert found["shared_order"]["agreed"] > 1000
        assert found["shared_order"]["contradicted"] == 0
    else:
        assert abs(ranks["found"]) < ranks["margin"]
        assert distinct["found"] == pytest.approx(distinct["uniform"], abs=distinct["margin"])
