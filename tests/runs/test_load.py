"""What others take of the machine is seen, and what we take ourselves is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import namedtuple

import pytest

from harness.runs import load
from harness.runs.load import OtherLoad, too_loaded, wait_for_quiet

_endless = "import time; end = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


def measured(seconds: float) -> float:
    window = OtherLoad()
    time.sleep(seconds)
    return window.read()


def test_a_competing_process_is_seen():
    """One that is no descendant of this process: its starter has ended."""
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL, start_new_session=True); print(p.pid)"
    )
    starter = subprocess.run(
        [sys.executable, "-c", code, _endless], capture_output=True, text=True, check=True, timeout=30
    )
    pid = int(starter.stdout)
    try:
        assert measured(1.5) > 0.4
    finally:
        os.kill(pid, 9)


Cpu = namedtuple("Cpu", "user nice system idle steal")


@pytest.fixture
def clock(monkeypatch):
    """Two CPUs, our share and the time, as the test sets them."""
    state = {"at": 0.0, "own": 0.0, "cpus": [Cpu(0, 0, 0, 0, 0), Cpu(0, 0, 0, 0, 0)]}
    monkeypatch.setattr(load.time, "monotonic", lambda: state["at"])
    monkeypatch.setattr(load, "_own_seconds", lambda: state["own"])
    monkeypatch.setattr(load.psutil, "cpu_times", lambda percpu: state["cpus"])
    monkeypatch.setattr(load, "usable_cpus", lambda: [0, 1])
    return state


def test_load_is_busy_time_less_our_own_over_the_clock(clock):
    window = OtherLoad()
    clock.update(at=10.0, own=12.0, cpus=[Cpu(8, 0, 2, 0, 0), Cpu(3, 1, 1, 5, 0)])
    assert window.read() == pytest.approx(0.3)


def test_stolen_time_is_others_and_idle_time_is_nobodys(clock):
    window = OtherLoad()
    clock.update(at=10.0, own=0.0, cpus=[Cpu(0, 0, 0, 5, 5), Cpu(0, 0, 0, 10, 0)])
    assert window.read() == pytest.approx(0.5)


def test_cpus_that_we_may_not_use_do_not_count(clock, monkeypatch):
    monkeypatch.setattr(load, "usable_cpus", lambda: [1])
    window = OtherLoad()
    clock.update(at=10.0, cpus=[Cpu(10, 0, 0, 0, 0), Cpu(1, 0, 0, 9, 0)])
    assert window.read() == pytest.approx(0.1)


def test_own_processes_are_not_others():
    """A child of ours that keeps a CPU busy adds its whole time to our own, as long as it lives and after."""
    before = load._own_seconds()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    after = load._own_seconds()
    assert after - before > 0.45
    alive = subprocess.Popen([sys.executable, "-c", _endless])
    try:
        until = time.monotonic() + 30
        while load._own_seconds() - after < 0.1 and time.monotonic() < until:
            time.sleep(0.1)
        assert load._own_seconds() - after > 0.1
    finally:
        alive.kill()
        alive.wait()


def test_a_quarter_of_a_cpu_is_too_much_where_all_are_timed_and_more_is_allowed_beside_spare_ones(monkeypatch):
    monkeypatch.setattr(load, "usable_cpus", lambda: [0, 1])
    assert not too_loaded(0.2, threads=2)
    assert too_loaded(0.3, threads=2)
    monkeypatch.setattr(load, "usable_cpus", lambda: list(range(64)))
    assert not too_loaded(3.0, threads=8)
    assert too_loaded(10.0, threads=8)


def test_waiting_for_quiet_ends_with_the_load_or_with_patience(clock, monkeypatch):
    busy = iter([1.0, 1.0, 0.0])

    def sleep(seconds):
        share = next(busy)
        clock["at"] += seconds
        clock["cpus"] = [c._replace(user=c.user + share * seconds) for c in clock["cpus"]]

    monkeypatch.setattr(load.time, "sleep", sleep)
    said = []
    assert wait_for_quiet(2, said.append, patience_s=60.0) == 0.0
    assert said == ["waiting for a quiet machine: others keep 2.0 CPUs busy"]
    busy = iter([1.0] * 10)
    assert wait_for_quiet(2, said.append, patience_s=2.0) == pytest.approx(2.0)
