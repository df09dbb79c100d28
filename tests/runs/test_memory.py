"""Peak memory counts what the training holds: not file pages, not what was freed before the window."""

from __future__ import annotations

import json
import mmap
import subprocess
import sys

import numpy as np
import pytest
import torch

from harness.runs import memory
from harness.runs.memory import PeakMemory

MB = 2**20

needs_proc = pytest.mark.skipif(
    memory._method(torch.device("cpu")) != "vmhwm-anonymous", reason="the kernel's high-water mark cannot be reset here"
)


def _hold(megabytes: int) -> None:
    """Have and give back so much memory, outside malloc, so that it surely goes back."""
    with mmap.mmap(-1, megabytes * MB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        for at in range(0, megabytes * MB, mmap.PAGESIZE):
            block[at] = 1


@needs_proc
def test_the_peak_counts_though_it_was_given_back():
    peak = PeakMemory(torch.device("cpu"))
    with peak.window():
        _hold(64)
    found = peak.read()
    assert found.kind == "rss"
    assert found.base_bytes > 10 * MB
    assert 60 * MB < found.peak_bytes < 80 * MB


@needs_proc
def test_a_peak_outside_the_windows_does_not_count():
    peak = PeakMemory(torch.device("cpu"))
    _hold(96)
    with peak.window():
        _hold(16)
    _hold(96)
    assert peak.read().peak_bytes < 40 * MB


@needs_proc
def test_the_largest_window_counts_unless_it_is_dropped():
    peak = PeakMemory(torch.device("cpu"))
    with peak.window():
        _hold(96)
    with peak.window():
        _hold(16)
    assert peak.read().peak_bytes > 90 * MB
    peak.keep(1)
    assert peak.read().peak_bytes < 40 * MB


@needs_proc
def test_pages_of_a_memory_map_are_not_the_trainings_need(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((64, MB // 8)))
    peak = PeakMemory(torch.device("cpu"))
    with peak.window():
        mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
        assert mapped.sum() == 64 * MB / 8
    assert peak.read().peak_bytes < 20 * MB


@needs_proc
def test_a_copy_of_a_memory_map_is(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((64, MB // 8)))
    peak = PeakMemory(torch.device("cpu"))
    with peak.window():
        copied = np.load(tmp_path / "x.npy")
    assert copied.nbytes == 64 * MB
    assert 60 * MB < peak.read().peak_bytes < 90 * MB


def test_a_system_without_proc_is_named(tmp_path, monkeypatch):
    """The fallback runs, and says that it is another measure."""
    monkeypatch.setattr(memory, "_CLEAR_REFS", tmp_path / "missing" / "clear_refs")
    peak = PeakMemory(torch.device("cpu"))
    with peak.window():
        pass
    assert peak.method == "ru_maxrss"
    assert peak.read().kind == "rss"
    assert peak.read().base_bytes > 10 * MB


def test_cuda_names_allocated_and_reserved(monkeypatch):
    """Each window starts with a reset; the larger of two windows counts."""
    resets, allocated, reserved = [], [100, 50], [300, 300]
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", resets.append)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda _: allocated.pop(0))
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda _: reserved.pop(0))
    device = torch.device("cuda:0")
    peak = PeakMemory(device)
    for _ in range(2):
        with peak.window():
            pass
    assert resets == [device, device]
    found = peak.read()
    assert (found.kind, found.peak_bytes, found.reserved_bytes) == ("cuda_allocated", 100, 300)


def test_environment_needs_no_network_and_is_json():
    """Asked in a process whose sockets fail."""
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "import json\n"
        "from harness.runs.environment import environment\n"
        "print(json.dumps(environment('cpu')))"
    )
    found = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert found["torch"].startswith(torch.__version__.split("+")[0])
    assert found["cores_granted"] <= found["cores"]
    assert found["cpu"]
