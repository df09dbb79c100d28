"""How many rows fit."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
import torch

from harness.batches.features import cache_size as sizes
from harness.batches.features.cache_size import CacheSize, NothingCached, cache_size, free_bytes

CPU = torch.device("cpu")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and cgroups")


@pytest.mark.parametrize(
    ("ratio", "size", "free", "nodes"),
    [
        (0.25, None, None, 25),
        (1.0, None, None, 100),
        (0.005, None, None, None),  # rounds to 0
        (0.0, 40, None, 1),
        (0.0, 39, None, None),
        (0.0, 119, None, 2),
        (0.0, 10**9, None, 100),  # never above the table
        (0.0, "auto", 800, 10),
        (0.0, "auto", 10**9, 100),
        (0.0, "auto", 79, None),
    ],
)
def test_rows_of_forty_bytes_of_a_hundred_nodes(ratio, size, free, nodes) -> None:
    if nodes is None:
        with pytest.raises(NothingCached):
            cache_size(100, 40, ratio, size, free)
    else:
        assert cache_size(100, 40, ratio, size, free) == CacheSize(nodes, free)


def test_the_least_size_is_named() -> None:
    with pytest.raises(NothingCached, match=r"cache_ratio 0\.001 of 100 nodes caches none; use at least 0\.01"):
        cache_size(100, 40, 0.001, None)
    with pytest.raises(NothingCached, match="cache_bytes 39 holds no row of 40 bytes; use at least 40"):
        cache_size(100, 40, 0.0, 39)
    with pytest.raises(NothingCached, match="caches none: 79 bytes are free; a row takes 40, twice that must be free"):
        cache_size(100, 40, 0.0, "auto", 79)


def test_what_is_free_is_at_most_what_the_machine_has() -> None:
    import psutil

    assert 0 < free_bytes(CPU) <= psutil.virtual_memory().total


@linux
def test_a_data_limit_is_what_is_free() -> None:
    """In a process of its own, whose limit leaves 64 MB."""
    code = (
        "import resource, torch\n"
        "from pathlib import Path\n"
        "from harness.batches.features.cache_size import free_bytes, available_memory\n"
        "status = Path('/proc/self/status').read_text().splitlines()\n"
        "present = next(int(l.split()[1]) * 1024 for l in status if l.startswith('VmData:'))\n"
        "hard = resource.getrlimit(resource.RLIMIT_DATA)[1]\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (present + 64 * 2**20, hard))\n"
        "print(free_bytes(torch.device('cpu')), available_memory())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    free, of_files = map(int, done.stdout.split())
    assert 48 * 2**20 < free <= 64 * 2**20
    assert of_files > free  # pages of files are not data


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY, reason="the process is limited"
)
def test_without_a_data_limit_none_is_seen() -> None:
    assert sizes._left_of_data_limit() is None


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 5\ninactive_file 100\n"}, [400]),
        ({"memory.max": "max", "memory.current": "700"}, []),
        (
            {
                "memory.limit_in_bytes": "1000",
                "memory.usage_in_bytes": "700",
                "memory.stat": "inactive_file 1\ntotal_inactive_file 200\n",
            },
            [500],
        ),
        ({}, []),
    ],
)
def test_a_cgroups_limit_less_what_it_cannot_drop(tmp_path, monkeypatch, files, left) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sizes, "folders", lambda controller: [tmp_path])
    assert sizes._left_in_cgroups() == left


def test_the_tightest_limit_counts(monkeypatch) -> None:
    monkeypatch.setattr(sizes, "_left_in_cgroups", lambda: [5000, 3000])
    monkeypatch.setattr(sizes, "_left_of_data_limit", lambda: 4000)
    assert free_bytes(CPU) == sizes.available_memory() == 3000
    monkeypatch.setattr(sizes, "_left_of_data_limit", lambda: -20)
    assert free_bytes(CPU) == 0
