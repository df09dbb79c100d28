"""Features from their homes: equal bits, exact counts."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.features.cache_policy import Scores, highest
from harness.batches.features.disk_rows import DiskRows
from harness.batches.features.store import FeatureStore

N, F = 500, 7
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
CPU = torch.device("cpu")
advised = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system takes no advice about files")


@pytest.fixture
def x(tmp_path) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((N, F)).astype(np.float32)
    rows[3, 2], rows[4, 1] = np.float32("nan"), -0.0
    np.save(tmp_path / "x.npy", rows)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


@pytest.fixture(scope="module")
def score() -> np.ndarray:
    return np.bincount(np.random.default_rng(1).zipf(1.5, 4000) % N, minlength=N)


def cache_of(score: np.ndarray, count: int):
    return highest(Scores("degree", score, int(score.sum()), None, 0.0), count) if count else None


def first_by(score: np.ndarray, count: int) -> set[int]:
    """The cached nodes, found independently."""
    return set(sorted(range(len(score)), key=lambda v: (-score[v], v))[:count])


def batches(seed: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.permutation(N)[:k] for k in (60, 1, 0, N, 33)]


def same_bits(rows: torch.Tensor, expected: np.ndarray) -> bool:
    found = rows.cpu().numpy()
    return found.shape == expected.shape and np.array_equal(found.view(np.int32), np.array(expected).view(np.int32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("home", ["host", "disk"])
@pytest.mark.parametrize("count", [0, 1, 5, 150, N - 1, N])  # 5: fewer nodes than in a batch
def test_rows_are_bit_equal_and_counts_are_exact(x, score, home: str, count: int, device: str) -> None:
    store = FeatureStore(x, home=home, device=torch.device(device), cache=cache_of(score, count))
    cached, requests, hits, fetches = first_by(score, count), 0, 0, np.zeros(N, int)
    for nodes in batches():
        rows = store.fetch(nodes)
        assert rows.dtype == torch.float32
        assert rows.device.type == device
        assert same_bits(rows, x[nodes])
        requests += len(nodes)
        hits += sum(int(v) in cached for v in nodes)
        fetches[nodes] += 1
    found = store.counters()
    assert found["cache_requests"] == requests
    assert found["cache_hits"] == hits
    assert found["fetched_bytes"] == (requests - hits) * F * 4
    assert (found["cache_nodes"], found["cache_bytes"]) == (count, count * F * 4)
    assert (found["home"], found["cache_ratio"], found["feature_device"]) == (home, count / N, device)
    assert found.get("disk_reads") == ("read-ahead" if home == "disk" else None)
    assert ("cache_fill_s" in found) == ("cache_policy" in found) == bool(count)
    if count:
        assert found["cache_recount"] == {"requests": requests, "hits": hits, "due": hits}
        assert found["cache_hits_optimal"] == sum(sorted(fetches)[-count:]) >= hits
        assert found["cache_fill_s"] > 0


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(1, 40), st.data())
def test_any_width_and_any_nodes(nodes: int, width: int, data) -> None:
    """Among them a width that changes from store to store, one node, and equal scores."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.standard_normal((nodes, width)).astype(np.float32)
    score = rng.integers(0, 4, nodes)
    count = data.draw(st.integers(0, nodes))
    store, cached = FeatureStore(x, home="host", device=CPU, cache=cache_of(score, count)), first_by(score, count)
    for _ in range(3):
        wanted = rng.permutation(nodes)[: data.draw(st.integers(0, nodes))]
        before = store.counters()["cache_hits"]
        assert same_bits(store.fetch(wanted), x[wanted])
        assert store.counters()["cache_hits"] - before == len(cached & set(wanted.tolist()))


def test_rows_really_come_from_their_homes(x, score) -> None:
    """Poisoned rows in the fast home show in exactly the cached nodes."""
    store = FeatureStore(x, home="disk", device=CPU, cache=cache_of(score, 100))
    store._fast.fill_(99.0)
    from_fast = (store.fetch(np.arange(N)) == 99.0).all(1).numpy()
    assert set(np.flatnonzero(from_fast)) == first_by(score, 100)


def test_the_way_to_another_device_gives_the_same(x, score) -> None:
    for count in (0, 150, N):
        store = FeatureStore(x, home="host", device=CPU, cache=cache_of(score, count))
        for nodes in batches():
            (direct, hits), (moved, moved_hits) = store._fetch_on_host(nodes), store._fetch_to_device(nodes)
            assert same_bits(moved, direct.numpy())
            assert hits == moved_hits


@pytest.mark.parametrize("device", DEVICES)
def test_all_rows_on_the_device(x, device: str) -> None:
    """On the CPU the device's memory is the host's, and the record says so."""
    store = FeatureStore(x, home="device", device=torch.device(device))
    for nodes in batches():
        rows = store.fetch(nodes)
        assert rows.device.type == device
        assert same_bits(rows, x[nodes])
    found, moved = store.counters(), sum(map(len, batches())) * F * 4
    assert found["home"] == ("host" if device == "cpu" else "device")
    assert found["fetched_bytes"] == (moved if device == "cpu" else 0)
    assert same_bits(store.all(), x)


def test_rows_of_the_device_do_not_pass_through_the_host(x) -> None:
    """What a CUDA device's own rows are looked up by, run on the CPU."""
    store = FeatureStore(x, home="host", device=CPU)
    store._whole = torch.from_numpy(np.array(x))
    for nodes in batches():
        assert same_bits(store._fetch_on_device(nodes), x[nodes])


@pytest.mark.parametrize("home", ["host", "disk", "device"])
def test_all_rows_are_brought_and_counted_once(x, score, home: str) -> None:
    cache = None if home == "device" else cache_of(score, 50)
    store = FeatureStore(x, home=home, device=CPU, cache=cache)
    assert same_bits(store.all(), x)
    assert store.all() is store.all()
    assert (store.counters()["cache_requests"], store.counters()["cache_hits"]) == (N, 50 if cache else 0)


def test_nodes_are_counted_until_time_is(x, score) -> None:
    """Afterwards only sums are, and nothing of the size of the graph is held for it."""
    store = FeatureStore(x, home="host", device=CPU, cache=cache_of(score, 50))
    for nodes in batches():
        store.fetch(nodes)
    before = store.counters()
    store.stop_counting_nodes()
    assert store.counters() == before
    assert (store._counts._fetches, len(store._counts._due)) == (None, 0)
    for nodes in batches(3):
        store.fetch(nodes)
    after, keys = store.counters(), ("cache_recount", "cache_hits_optimal")
    assert [after[key] for key in keys] == [before[key] for key in keys]
    assert after["cache_requests"] == sum(map(len, batches() + batches(3)))
    cached = first_by(score, 50)
    assert after["cache_hits"] == sum(int(v) in cached for nodes in batches() + batches(3) for v in nodes)
    FeatureStore(x, home="host", device=CPU).stop_counting_nodes()  # nothing to stop without a cache


def test_the_scores_do_not_outlive_the_filling(x, score) -> None:
    cache = cache_of(score.copy(), 50)
    scores = weakref.ref(cache.scores.score)
    store = FeatureStore(x, home="host", device=CPU, cache=cache)
    del cache
    gc.collect()
    assert scores() is None
    assert store.counters()["cache_score"] == {"sum": 4000, "due": 4000}


@pytest.mark.parametrize("right", [True, False])
def test_nodes_cached_by_degree_are_held_to_the_edges(x, right: bool) -> None:
    """Also where the scores are a permutation of the degrees, whose sum is right."""
    sources = (np.random.default_rng(5).zipf(1.5, 4000) % N).astype(np.int32)
    degree = np.bincount(sources, minlength=N)
    score = degree if right else np.random.default_rng(6).permutation(degree)
    store = FeatureStore(x, home="host", device=CPU, cache=cache_of(score, 50), sources=sources)
    assert store.counters()["cached_by_degree"] == len(first_by(degree, 50) & first_by(score, 50))
    assert (store.counters()["cached_by_degree"] == 50) == right


def test_fetched_rows_are_the_callers_own(x, score) -> None:
    for count in (0, N):
        store = FeatureStore(x, home="host", device=CPU, cache=cache_of(score, count))
        store.fetch(np.arange(10)).zero_()
        assert same_bits(store.fetch(np.arange(10)), x[:10])


def test_a_batch_that_is_kept_never_changes(x, score) -> None:
    """Nor does a view of it, or the array of a tensor that is gone, while later batches are fetched."""
    store = FeatureStore(x, home="disk", device=CPU, cache=cache_of(score, 50), spare=2)
    kept = [(nodes, store.fetch(nodes)[3:].T) for nodes in batches(5)]
    arrays = [(nodes, store.fetch(nodes).numpy()[1:]) for nodes in batches(6)]
    for nodes in batches(7) * 3:
        store.fetch(nodes).fill_(-1.0)
    assert all(same_bits(view.T, x[nodes][3:]) for nodes, view in kept)
    assert all(same_bits(torch.from_numpy(array), x[nodes][1:]) for nodes, array in arrays)


@pytest.mark.parametrize("home", ["host", "disk"])
def test_threads_lose_no_count_and_mix_no_rows(x, score, home: str) -> None:
    store = FeatureStore(x, home=home, device=CPU, cache=cache_of(score, 150), spare=2)
    gate = threading.Barrier(4)

    def fetch_many(thread: int) -> tuple[int, np.ndarray]:
        rng, cached, hits, fetches = np.random.default_rng(thread), first_by(score, 150), 0, np.zeros(N, int)
        gate.wait()
        for _ in range(200):
            nodes = rng.permutation(N)[: rng.integers(1, 90)]
            assert same_bits(store.fetch(nodes), x[nodes])
            hits += len(cached & set(nodes.tolist()))
            fetches[nodes] += 1
        return hits, fetches

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fetch_many, range(4)))
    fetches = np.sum([f for _, f in found], axis=0)
    counters = store.counters()
    assert counters["cache_requests"] == fetches.sum()
    assert counters["cache_hits"] == sum(hits for hits, _ in found)
    assert counters["cache_recount"]["due"] == counters["cache_hits"]
    assert counters["cache_hits_optimal"] == sum(sorted(fetches)[-150:])


@advised
@pytest.mark.parametrize("width", [1, 7, 1500])
def test_a_file_larger_than_memory_is_read_row_by_row(tmp_path, width: int) -> None:
    """Rows that share a page, lie in one, and stretch over two."""
    rows = np.random.default_rng(0).standard_normal((400, width)).astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    disk = DiskRows(x, fits=False)
    assert disk.by_row
    for nodes in (np.arange(400), np.array([399, 0, 7]), np.zeros(0, np.int64)):
        disk.expect(nodes)
        assert np.array_equal(disk.rows[nodes], rows[nodes])
    assert not DiskRows(x, fits=True).by_row
    assert not DiskRows(x[10:], fits=False).by_row  # a part of a map does not know where it lies in the file
    assert not DiskRows(rows, fits=False).by_row


@advised
def test_a_store_over_a_file_larger_than_memory(x, score, monkeypatch) -> None:
    monkeypatch.setattr("harness.batches.features.store.available_memory", lambda: x.nbytes - 1)
    store = FeatureStore(x, home="disk", device=CPU, cache=cache_of(score, 100))
    assert store._disk.by_row
    for nodes in batches():
        assert same_bits(store.fetch(nodes), x[nodes])
    assert (store.counters()["home"], store.counters()["disk_reads"]) == ("disk", "row-by-row")


def test_mistakes_are_named(x, score) -> None:
    good = {"home": "host", "device": CPU, "cache": cache_of(score, 5)}
    for change, message in [
        ({"home": "gpu"}, "home must be host, disk or device"),
        ({"home": "device"}, "a cache beside it has no effect"),
        ({"cache": cache_of(score[:-1], 5)}, "the cache is for 499 nodes, the features have 500"),
        ({"spare": 0}, "spare must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            FeatureStore(x, **{**good, **change})
    with pytest.raises(ValueError, match="float32 matrix; got float64"):
        FeatureStore(np.zeros((N, F)), **good)
    with pytest.raises(ValueError, match=r"nodes must lie in 0\.\.499"):
        FeatureStore(x, **good).fetch(np.array([500]))
