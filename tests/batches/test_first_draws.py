"""Counts of draws by other means than the sampler's, and the statistics that tell methods apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from harness.batches.observed.first_draws import FirstDraws, positive_neighbours
from harness.batches.observed.resampled import resampled
from harness.batches.observed.unlike_uniform import (
    DistinctSources,
    SharedOrder,
    WeightRanks,
    inclusion,
    ranges,
    would_stand_out,
)
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


def test_inclusion_adds_up_to_the_count_and_follows_the_weight() -> None:
    weight = np.array([1.0, 2.0, 4.0, 8.0, 1e-9, 1.0, 1e9])
    row, count = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([2, 1])
    share = inclusion(weight, row, count)
    assert np.bincount(row, share) == pytest.approx(count, rel=1e-3)
    assert (np.diff(share[:4]) > 0).all()
    assert share[4:] == pytest.approx([0, 0, 1], abs=1e-2)


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
    assert values.std() == pytest.approx(found[0]["sd"])
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
    assert np.std(values) <= found["sd"]


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
        assert ranks["found"] == pytest.approx(ranks["expected"], abs=6 * ranks["expected_sd"])
    elif method == "labor":
        assert distinct["found"] < distinct["uniform"] - 6 * distinct["sd"]
        assert found["shared_order"]["agreed"] > 1000
        assert found["shared_order"]["contradicted"] == 0
    else:
        assert abs(ranks["found"]) < 5 * ranks["sd"]
        assert distinct["found"] == pytest.approx(distinct["uniform"], abs=5 * distinct["sd"])


@pytest.mark.parametrize("method", METHODS)
def test_another_epoch_draws_anew_but_for_fixed(make_csr, make_graph, method: str) -> None:
    n, degree = 400, 12
    target = np.repeat(np.arange(n), degree)
    graph = make_graph(*make_csr(n, (target + np.tile(np.arange(1, degree + 1), n) * 7) % n, target))
    weights = np.ones(n) if method == "importance" else None
    first = FirstDraws(graph, method, (3, 2), weights)
    sampler = NeighborSampler(graph.indptr, graph.indices, [3, 2], method, 0, weights=weights)
    found = resampled(graph, sampler, graph.train, first, weights)
    assert found["equal"] == (method == "fixed")
    assert found["choices"] > (4 if method == "labor" else 32)


def test_certain_draws_are_no_choice(make_csr, make_graph) -> None:
    """Weights that leave nothing to chance: two epochs may well agree, and that is no fault."""
    n, degree = 200, 6
    target = np.repeat(np.arange(n), degree)
    graph = make_graph(*make_csr(n, (target + np.tile(np.arange(1, degree + 1), n)) % n, target))
    weights = 10.0 ** (-20.0 * (np.arange(n) % 7))
    first = FirstDraws(graph, "importance", (1,), weights)
    sampler = NeighborSampler(graph.indptr, graph.indices, [1], "importance", 0, weights=weights)
    assert resampled(graph, sampler, graph.train, first, weights) == {"choices": 0, "equal": True}
