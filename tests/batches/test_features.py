"""Features from two homes: equal bits, exact counts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from harness.batches.features import FeatureStore, source_degree

N, F = 500, 7
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture
def x(tmp_path) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((N, F)).astype(np.float32)
    rows[3, 2], rows[4, 1] = np.float32("nan"), -0.0
    np.save(tmp_path / "x.npy", rows)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


@pytest.fixture(scope="module")
def degree() -> np.ndarray:
    return source_degree(np.random.default_rng(1).zipf(1.5, 4000) % N, N)


def batches(seed: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.permutation(N)[:k] for k in (60, 1, 0, N, 33)]


def same_bits(rows: torch.Tensor, expected: np.ndarray) -> bool:
    found = rows.cpu().numpy()
    return found.shape == expected.shape and np.array_equal(found.view(np.int32), np.array(expected).view(np.int32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("home", ["host", "disk"])
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 0.9995, 1.0])  # 0.01: five nodes, fewer than in a batch
def test_rows_are_bit_equal_and_counts_are_exact(x, degree, home: str, ratio: float, device: str) -> None:
    store = FeatureStore(x, home=home, cache_ratio=ratio, device=torch.device(device), degree=degree)
    cached = set(sorted(range(N), key=lambda v: (-degree[v], v))[: round(ratio * N)])  # counted independently
    requests = hits = 0
    for nodes in batches():
        rows = store.fetch(nodes)
        assert rows.dtype == torch.float32
        assert rows.device.type == device
        assert same_bits(rows, x[nodes])
        requests += len(nodes)
        hits += sum(int(v) in cached for v in nodes)
    found = store.counters()
    assert found["cache_requests"] == requests
    assert found["cache_hits"] == hits
    assert found["fetched_bytes"] == (requests - hits) * F * 4
    assert found["cache_nodes"] == len(cached)
    assert (found["home"], found["cache_ratio"]) == (home, ratio)
    assert (found["cache_fill_s"] > 0) == bool(cached)


def test_rows_really_come_from_their_homes(x, degree) -> None:
    """Poisoned rows in the fast home show in exactly the cached nodes."""
    store = FeatureStore(x, home="disk", cache_ratio=0.2, device=torch.device("cpu"), degree=degree)
    store._fast.fill_(99.0)
    from_fast = (store.fetch(np.arange(N)) == 99.0).all(1).numpy()
    assert set(np.flatnonzero(from_fast)) == set(np.argsort(-degree, kind="stable")[:100])


def test_the_way_to_another_device_gives_the_same(x, degree) -> None:
    for ratio in (0.0, 0.3, 1.0):
        store = FeatureStore(x, home="host", cache_ratio=ratio, device=torch.device("cpu"), degree=degree)
        for nodes in batches():
            (direct, hits), (moved, moved_hits) = store._fetch_on_host(nodes), store._fetch_to_device(nodes)
            assert same_bits(moved, direct.numpy())
            assert hits == moved_hits


@pytest.mark.parametrize("home", ["host", "disk"])
def test_all_rows_are_brought_and_counted_once(x, degree, home: str) -> None:
    store = FeatureStore(x, home=home, cache_ratio=0.1, device=torch.device("cpu"), degree=degree)
    assert same_bits(store.all(), x)
    assert store.all() is store.all()
    assert (store.counters()["cache_requests"], store.counters()["cache_hits"]) == (N, 50)


def test_counters_start_anew(x, degree) -> None:
    store = FeatureStore(x, home="host", cache_ratio=0.1, device=torch.device("cpu"), degree=degree)
    store.fetch(np.arange(9))
    store.reset_counters()
    assert [store.counters()[k] for k in ("cache_requests", "cache_hits", "fetched_bytes")] == [0, 0, 0]


def test_fetched_rows_are_the_callers_own(x, degree) -> None:
    for ratio in (0.0, 1.0):
        store = FeatureStore(x, home="host", cache_ratio=ratio, device=torch.device("cpu"), degree=degree)
        store.fetch(np.arange(10)).zero_()
        assert same_bits(store.fetch(np.arange(10)), x[:10])


def test_threads_lose_no_count(x, degree) -> None:
    store = FeatureStore(x, home="host", cache_ratio=0.3, device=torch.device("cpu"), degree=degree)
    nodes = np.arange(50)
    gate = threading.Barrier(4)

    def fetch_many(_: int) -> None:
        gate.wait()
        for _ in range(500):
            store.fetch(nodes)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fetch_many, range(4)))
    assert store.counters()["cache_requests"] == 4 * 500 * 50


def test_source_degree_counts_sources() -> None:
    assert source_degree(np.array([2, 2, 0], np.int32), 4).tolist() == [1, 0, 2, 0]
    assert source_degree(np.zeros(0, np.int32), 3).tolist() == [0, 0, 0]


def test_mistakes_are_named(x, degree) -> None:
    good = {"home": "host", "cache_ratio": 0.1, "device": torch.device("cpu"), "degree": degree}
    for change, message in [
        ({"home": "gpu"}, "home must be host or disk"),
        ({"cache_ratio": 1.5}, "cache_ratio must lie in"),
        ({"degree": degree[:-1]}, "degree has 499 entries for 500 nodes"),
    ]:
        with pytest.raises(ValueError, match=message):
            FeatureStore(x, **{**good, **change})
    with pytest.raises(ValueError, match="float32 matrix; got float64"):
        FeatureStore(np.zeros((N, F)), **good)
    with pytest.raises(ValueError, match=r"nodes must lie in 0\.\.499"):
        FeatureStore(x, **good).fetch(np.array([500]))
