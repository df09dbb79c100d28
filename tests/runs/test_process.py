"""What holds a process, on Linux and where there is less; what an exception amounts to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from harness.plan import cgroups
from harness.runs import process, supervisor
from harness.runs.failure import failure_of
from harness.runs.process import anonymous_bytes, cgroup_oom_kills, die_with_parent, limit_data, signal_name, sizes
from harness.runs.request import Diverged, Unsupported
from harness.spec.errors import InputError, Problem

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


@linux
def test_anonymous_memory_counts_what_a_process_writes_and_no_file_it_maps(tmp_path):
    before = anonymous_bytes(os.getpid())
    file = tmp_path / "map"
    file.write_bytes(bytes(50 * 10**6))
    mapped = np.memmap(file, mode="r")
    assert int(mapped.sum()) == 0
    assert anonymous_bytes(os.getpid()) - before < 25 * 10**6
    written = np.ones(50 * 10**6, np.uint8)
    assert anonymous_bytes(os.getpid()) - before > 40 * 10**6
    assert written[0] == 1


@linux
def test_a_data_limit_leaves_memory_maps_out_and_can_be_lifted(tmp_path):
    (tmp_path / "map").write_bytes(bytes(80 * 10**6))
    code = f"""
import numpy as np
from harness.runs.process import lift_data_limit, limit_data
assert limit_data(40 * 10**6)
assert len(np.memmap({str(tmp_path / "map")!r}, mode="r")) == 80 * 10**6
try:
    bytearray(80 * 10**6)
except MemoryError:
    lift_data_limit()
    print(len(bytearray(80 * 10**6)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "80000000\n"


def test_sizes_of_a_process_that_is_gone_are_empty():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert sizes(ended.pid) == {}
    assert anonymous_bytes(ended.pid) is None


def test_a_system_without_these_says_so_and_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(process, "Path", lambda *parts: tmp_path / "no" / "proc")
    monkeypatch.setattr(cgroups, "OWN", tmp_path / "no" / "proc")
    assert die_with_parent(os.getppid()) is False
    assert sizes() == {}
    assert limit_data(10**6) is False
    assert anonymous_bytes(os.getpid()) > 10**6  # all that is resident, by psutil
    assert cgroup_oom_kills() is None
    process.prefer_as_victim()


@pytest.mark.parametrize(
    "counter",
    ["low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0\n", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"],
)
def test_a_control_groups_kills_are_counted_in_both_versions(tmp_path, monkeypatch, counter):
    (tmp_path / "events").write_text(counter)
    monkeypatch.setattr(process, "_oom_counters", lambda: [tmp_path / "missing", tmp_path / "events"])
    assert cgroup_oom_kills() == 2


def test_a_kill_is_oom_only_where_the_control_group_says_so(tmp_path):
    log = tmp_path / "log"
    log.write_text("RuntimeError: can't allocate memory\n")  # of a run that went on
    assert supervisor._how_it_died(-signal.SIGKILL, log, new_oom_kills=1)["status"] == "oom"
    assert supervisor._how_it_died(-signal.SIGKILL, log, new_oom_kills=0)["status"] == "killed"
    assert supervisor._how_it_died(-signal.SIGABRT, tmp_path / "none", new_oom_kills=0)["status"] == "killed"


def test_signals_have_names():
    assert signal_name(9) == "SIGKILL"
    assert signal_name(200) == "signal 200"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (MemoryError(), "oom", "MemoryError:"),
        (MemoryError("Unable to allocate 8 GiB for an array"), "oom", "MemoryError: Unable to allocate"),
        (RuntimeError("[enforce fail at x.cpp] DefaultCPUAllocator: can't allocate memory: you tried"), "oom", ""),
        (RuntimeError("CUDA error: out of memory"), "oom", ""),
        (OSError(12, "Cannot allocate memory"), "oom", ""),
        (RuntimeError("out of range of the memory format"), "error", "RuntimeError: out of range"),
        (KeyError("x"), "error", "KeyError: 'x'"),
        (SystemExit(3), "error", "SystemExit: 3"),
        (Diverged("the loss is nan"), "diverged", "the loss is nan"),
        (Unsupported("no kernel"), "unsupported", "no kernel"),
        (InputError(Problem("a.py", "no class Net")), "error", "InputError: a.py: no class Net"),
        (ValueError("given:\n  twice\n  more"), "error", "ValueError: given: twice"),
    ],
)
def test_an_exception_is_a_status_and_one_line(error, status, message):
    failure = failure_of(error)
    assert failure.status == status
    assert failure.message.startswith(message)
    assert "\n" not in failure.message


def test_a_long_message_is_cut():
    assert len(failure_of(ValueError("x" * 5000)).message) == 400
