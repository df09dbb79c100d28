"""What disturbs a block is read from the system and judged by declared limits."""

from __future__ import annotations

import time
from collections import namedtuple

import pytest

from harness.plan import cgroups
from harness.runs import surroundings
from harness.runs.surroundings import Surroundings, Watch, disturbances, fastest_mhz, stolen_s, withheld_s

ARMS = ("reference", "variant", "variant", "reference")


@pytest.fixture
def two_cpus(monkeypatch):
    """Two CPUs, and a clock that the test sets; nobody else computes."""
    clock = {"at": 0.0}
    monkeypatch.setattr(surroundings, "usable_cpus", lambda: [0, 1])
    monkeypatch.setattr(surroundings, "too_loaded", lambda load, threads: load > 0.25)
    monkeypatch.setattr(surroundings.time, "monotonic", lambda: clock["at"])
    monkeypatch.setattr(surroundings.OtherLoad, "read", lambda self: 0.125)
    return clock


def test_shares_are_of_the_block_alone(two_cpus):
    """10 s on two CPUs: 1 s stolen of 20, 0.3 s withheld in 10; what was before does not count."""
    stolen, withheld = iter([100.0, 101.0]), iter([7.0, 7.3])
    watch = Watch(lambda: next(stolen), lambda: next(withheld), lambda: None)
    two_cpus["at"] = 10.0
    found = watch.read()
    assert (found.other_load, found.rates_mhz) == (0.125, ())
    assert found.steal_share == pytest.approx(0.05)
    assert found.throttled_share == pytest.approx(0.03)


def test_what_cannot_be_read_is_none_and_disturbs_nothing(two_cpus):
    watch = Watch(lambda: None, lambda: None, lambda: None)
    with watch.process():
        pass
    two_cpus["at"] = 1.0
    found = watch.read()
    assert found == Surroundings(0.125, None, None, (None,))
    assert disturbances(found, ARMS, threads=2) == []


def test_a_process_has_the_median_of_its_rates_and_a_short_one_none(monkeypatch):
    """No sample within half a second: an idle CPU between two processes says nothing of either."""
    monkeypatch.setattr(surroundings, "SAMPLE_S", 0.001)
    rates = iter([800.0, 3000.0, 3100.0, 800.0])
    watch = Watch(lambda: None, lambda: None, lambda: next(rates, 3000.0))
    with watch.process():
        time.sleep(0.1)
    monkeypatch.setattr(surroundings, "SAMPLE_S", 60.0)
    with watch.process():
        pass
    assert watch.read().rates_mhz == (3000.0, None)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Surroundings(0.2, 0.02, 0.01, (3000.0, 2000.0, 2000.0, 3000.0)), []),  # at the limits; arms may differ
        (Surroundings(1.0), ["others kept 1.0 CPUs busy"]),
        (Surroundings(0.0, 0.021), ["the hypervisor gave 2 % of the CPUs' time to others"]),
        (Surroundings(0.0, None, 0.011), ["the CPU quota held it back for 1 % of the time"]),
        (Surroundings(0.0, None, None, (3000.0, 3000.0, 3000.0, 2860.0)), []),
        (
            Surroundings(0.0, None, None, (3000.0, 3000.0, 3000.0, 2850.0)),
            ["the reference ran at 2,850 and at 3,000 MHz"],
        ),
        (Surroundings(0.0, None, None, (3000.0, None, 2000.0, 3000.0)), []),
    ],
)
def test_limits_and_words(two_cpus, found, words):
    assert disturbances(found, ARMS, threads=2) == words


def test_stolen_time_is_that_of_our_cpus(two_cpus, monkeypatch):
    cpu = namedtuple("cpu", "user steal")
    monkeypatch.setattr(surroundings.psutil, "cpu_times", lambda percpu: [cpu(9, 1.5), cpu(9, 2.0), cpu(9, 64.0)])
    assert stolen_s() == 3.5
    bare = namedtuple("bare", "user")
    monkeypatch.setattr(surroundings.psutil, "cpu_times", lambda percpu: [bare(9), bare(9)])
    assert stolen_s() is None


@pytest.mark.parametrize(
    ("controllers", "text"),
    [("", "nr_throttled 3\nthrottled_usec 1500000\n"), ("cpu", "nr_throttled 3\nthrottled_time 1500000000\n")],
)
def test_what_a_quota_withholds_is_read_from_both_versions_of_control_groups(tmp_path, monkeypatch, controllers, text):
    """The own group and those above it: a job's quota may be its slice's."""
    root = tmp_path / "cgroup" / controllers
    (root / "slice" / "job").mkdir(parents=True)
    (tmp_path / "own").write_text(f"0:{controllers}:/slice/job\n")
    monkeypatch.setattr(cgroups, "OWN", tmp_path / "own")
    monkeypatch.setattr(cgroups, "MOUNT", tmp_path / "cgroup")
    assert withheld_s() is None
    (root / "slice" / "job" / "cpu.stat").write_text("nr_throttled 0\n")
    assert withheld_s() is None
    (root / "slice" / "cpu.stat").write_text(text)
    assert withheld_s() == pytest.approx(1.5)


def test_the_rate_is_that_of_the_fastest_of_our_cpus(tmp_path, monkeypatch):
    monkeypatch.setattr(surroundings, "_CPUS", tmp_path)
    monkeypatch.setattr(surroundings, "usable_cpus", lambda: [0, 1])
    assert fastest_mhz() is None
    for cpu, khz in ((0, 800_000), (1, 3_400_000), (2, 5_000_000)):
        (tmp_path / f"cpu{cpu}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}" / "cpufreq" / "scaling_cur_freq").write_text(f"{khz}\n")
    assert fastest_mhz() == 3400.0


def test_this_system_can_be_read():
    watch = Watch()
    with watch.process():
        time.sleep(0.01)
    found = watch.read()
    assert found.other_load >= 0.0
    assert len(found.rates_mhz) == 1
