"""Weights of edges and of nodes, seen apart from the sampler that made them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from harness.batches.observed.first_draws import FirstDraws
from harness.batches.observed.weights_held import weights_held
from harness.batches.sampling.numba_sampler import NeighborSampler

N = 2000


def _weights(kind: str) -> np.ndarray:
    random = np.random.default_rng(3)
    return {
        "spread": 10.0 ** random.uniform(-240, 240, N),
        "pareto": random.pareto(0.8, N) + 1e-3,
        "rarely light": np.where(random.random(N) < 0.1, 1e-8, 1.0),
        "some zero": random.random(N) * (random.random(N) < 0.7),
    }[kind]


def _looked_at(graph, weights: np.ndarray, fanout: tuple[int, ...], seed: int) -> dict:
    sampler = NeighborSampler(
        graph.indptr, graph.indices, fanout, "importance", seed, weights=weights, reweight=True, validate=False
    )
    draws = FirstDraws(graph, "importance", fanout, weights)
    for index in range(3):
        draws.count(sampler.sample(graph.train[index * 100 : (index + 1) * 100], 1, index))
    return draws.counters()["reweighting"]


@pytest.mark.parametrize("fanout", [(5, 3), (1, 1)])
@pytest.mark.parametrize("kind", ["spread", "pareto", "rarely light", "some zero"])
def test_honest_weights_rank_as_simulated_ones(skewed, make_graph, kind: str, fanout: tuple[int, ...]) -> None:
    for seed in range(5):
        found = _looked_at(make_graph(*skewed), _weights(kind), fanout, seed)
        assert found["weighted"] == found["rows"] > 100
        assert abs(found["ranks"]) < found["margin"]


def test_where_all_weights_are_equal_nothing_is_to_be_undone(skewed, make_graph) -> None:
    found = _looked_at(make_graph(*skewed), np.full(N, 3.0), (5, 3), 0)
    assert (found["rows"], found["mean"], found["ranks"]) == (0, None, 0.0)


def test_weights_are_hashed_as_float64_and_so_is_the_file(skewed, make_graph, tmp_path) -> None:
    graph, held = make_graph(*skewed), np.arange(N) + 1.0
    np.save(tmp_path / "w.npy", np.arange(1, N + 1, dtype=np.int16))
    found = weights_held(held, graph, tmp_path / "w.npy")
    assert found["sha256"] == found["file_sha256"] == hashlib.sha256(held.tobytes()).hexdigest()
    assert (found["are_degrees"], found["positive"], found["sum"]) == (False, N, N * (N + 1) / 2)
    (tmp_path / "w.npy").write_bytes(b"")
    assert weights_held(held, graph, tmp_path / "w.npy")["file_sha256"] is None
    assert "file_sha256" not in weights_held(held, graph, None)
    assert weights_held(np.bincount(graph.indices, minlength=N).astype(float), graph, None)["are_degrees"]
    assert weights_held(None, graph, None) is None
