"""A store of float16: rows rounded once, moved in half the bytes, and handed out in float32."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches.features.half import bits, widen
from harness.batches.features.store import FeatureStore
from harness.graphs.half_features import half_copy
from tests.batches.test_features import CPU, DEVICES, F, N, batches, cache_of, same_bits


@pytest.fixture
def x(tmp_path) -> np.ndarray:
    rows = np.random.default_rng(0).standard_normal((N, F)).astype(np.float32)
    rows[3, 2], rows[4, 1], rows[5, 0] = 1e-9, -0.0, 3e-6  # lost, kept with its sign, subnormal in float16
    np.save(tmp_path / "x.npy", rows)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


@pytest.fixture(scope="module")
def score() -> np.ndarray:
    return np.bincount(np.random.default_rng(1).zipf(1.5, 4000) % N, minlength=N)


def _store(x: np.ndarray, home: str, device: str = "cpu", **named) -> FeatureStore:
    half = half_copy(Path(x.filename).parent, x) if home == "disk" else True
    return FeatureStore(x, home=home, device=torch.device(device), half=half, **named)


def test_all_numbers_of_float16_are_widened_exactly():
    """Subnormal ones, both zeros, infinities and NaN too."""
    half = np.arange(2**16, dtype=np.uint16).reshape(64, 1024)
    out = np.empty(half.shape, np.float32)
    widen(half, out)
    expected = half.view(np.float16).astype(np.float32)
    numbers = ~np.isnan(expected)
    assert np.array_equal(out.view(np.uint32)[numbers], expected.view(np.uint32)[numbers])
    assert np.isnan(out[~numbers]).all()
    assert bits(out) is out


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("home", ["host", "disk"])
@pytest.mark.parametrize("count", [0, 1, 150, N])
def test_rows_are_rounded_and_moved_in_half_the_bytes(x, score, home, count, device):
    stores = [
        _store(x, home, device, cache=cache_of(score, count)),
        FeatureStore(x, home=home, device=torch.device(device), cache=cache_of(score, count)),
    ]
    rounded = np.asarray(x).astype(np.float16).astype(np.float32)
    for nodes in batches():
        rows = stores[0].fetch(nodes)
        stores[1].fetch(nodes)
        assert rows.dtype == torch.float32
        assert rows.device.type == device
        assert same_bits(rows, rounded[nodes])
    half, whole = (store.counters() for store in stores)
    assert (half["feature_dtype"], whole["feature_dtype"]) == ("float16", "float32")
    assert half["home"] == home
    assert half["features_underflowed"] == 1
    assert "features_underflowed" not in whole
    for key in ("feature_row_bytes", "fetched_bytes", "cache_bytes"):
        assert 2 * half[key] == whole[key]
    for key in ("cache_hits", "cache_requests"):
        assert half[key] == whole[key]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("home", ["host", "disk", "device"])
def test_all_rows_at_once(x, home, device):
    store = _store(x, home, device)
    everything = store.all()
    assert same_bits(everything, np.asarray(x).astype(np.float16).astype(np.float32))
    assert store.all() is everything
    found = store.counters()
    assert found["feature_dtype"] == "float16"
    assert found["fetched_bytes"] == (0 if found["home"] == "device" else 2 * N * F)


def test_threads_share_no_buffer(x, score):
    store = _store(x, "host", cache=cache_of(score, 100), spare=2)
    rounded = np.asarray(x).astype(np.float16).astype(np.float32)

    def fetch(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        drawn = [rng.permutation(N)[: rng.integers(1, 90)] for _ in range(100)]
        return all(same_bits(store.fetch(nodes), rounded[nodes]) for nodes in drawn)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fetch, range(4)))


def test_a_copy_larger_than_memory_is_read_row_by_row(x, monkeypatch):
    """Of half the size: it may fit where the features do not."""
    for room, by in ((x.nbytes // 2, "read-ahead"), (x.nbytes // 2 - 1, "row-by-row")):
        monkeypatch.setattr("harness.batches.features.store.available_memory", lambda room=room: room)
        store = _store(x, "disk")
        assert same_bits(store.fetch(np.arange(N)), np.asarray(x).astype(np.float16).astype(np.float32))
        assert store.counters()["disk_reads"] == by


def test_a_disk_without_its_copy_is_refused(x):
    for home, half in (("disk", True), ("host", half_copy(Path(x.filename).parent, x))):
        with pytest.raises(ValueError, match="is what home: disk reads"):
            FeatureStore(x, home=home, device=CPU, half=half)
