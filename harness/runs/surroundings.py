"""What the machine did beside a timed block: others' load, time stolen or withheld, and the processors' clock rate.

Everything here is read from the operating system and nothing from the run, so that a block is repeated for what was
done to it and never for what it measured. What cannot be read is None, and disturbs nothing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import psutil

from harness.plan.cgroups import folders
from harness.plan.machine import usable_cpus
from harness.runs.load import OtherLoad, too_loaded

STEAL_ALLOWED = 0.02  # share of the CPUs' time that a hypervisor may give to other machines on the host
THROTTLED_ALLOWED = 0.01  # share of the time in which a quota of the control group may hold us back
RATE_ALLOWED = 0.05  # by which the clock rates of an arm's two processes may differ
SAMPLE_S = 0.5  # between two readings of the clock rate
_CPUS = Path("/sys/devices/system/cpu")
_WITHHELD = {"throttled_usec": 1e-6, "throttled_time": 1e-9}  # of cgroup v2 and of v1, in seconds


@dataclass(frozen=True)
class Surroundings:
    """Of one block.

    Attributes:
        other_load: CPUs that other processes kept busy, on average, stolen time included.
        steal_share: of the time of our CPUs, what a hypervisor gave to others; None where the system does not say.
        throttled_share: of the time on the clock, what processes of our control groups waited for their quota, added
            up over CPUs; None without such a group.
        rates_mhz: clock rate of each process of the block, in order: the median over half seconds of the fastest of our
            CPUs, since those that idle slow down. None for a process that was too short, or where no rate can be read
            (a virtual machine shows its nominal rate in /proc/cpuinfo, which never changes and is not read here).
    """

    other_load: float
    steal_share: float | None = None
    throttled_share: float | None = None
    rates_mhz: Sequence[float | None] = ()


class Watch:
    """What happens on the machine from now on.

    Args:
        stolen, withheld: seconds so far; ``rate`` MHz now; each None where it cannot be read.
    """

    def __init__(
        self,
        stolen: Callable[[], float | None] | None = None,
        withheld: Callable[[], float | None] | None = None,
        rate: Callable[[], float | None] | None = None,
    ) -> None:
        self._stolen, self._withheld, self._rate = stolen or stolen_s, withheld or withheld_s, rate or fastest_mhz
        self._rates: list[float | None] = []
        self._load = OtherLoad()
        self._before = self._now()

    @contextmanager
    def process(self) -> Iterator[None]:
        """The clock rate is sampled while a process of the block runs, in a thread that sleeps nearly all the time."""
        samples = _Samples(self._rate)
        with samples.taken():
            yield
        self._rates.append(statistics.median(samples.mhz) if samples.mhz else None)

    def read(self) -> Surroundings:
        """What happened since the beginning."""
        others, now = self._load.read(), self._now()
        seconds = now[0] - self._before[0]
        stolen, withheld = (_share(b, a, seconds) for b, a in zip(self._before[1:], now[1:], strict=True))
        return Surroundings(
            other_load=others,
            steal_share=None if stolen is None else stolen / len(usable_cpus()),
            throttled_share=withheld,
            rates_mhz=tuple(self._rates),
        )

    def _now(self) -> tuple[float, float | None, float | None]:
        return time.monotonic(), self._stolen(), self._withheld()


@dataclass
class _Samples:
    rate: Callable[[], float | None]
    mhz: list[float] = field(default_factory=list)

    @contextmanager
    def taken(self) -> Iterator[None]:
        if self.rate() is None:
            yield  # no thread where there is nothing to read
            return
        ended = Event()
        thread = Thread(target=self._until, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _until(self, ended: Event) -> None:
        while not ended.wait(SAMPLE_S):
            found = self.rate()
            if found is not None:
                self.mhz.append(found)


def disturbances(found: Surroundings, arms: Sequence[str], threads: int) -> list[str]:
    """What makes a block worth repeating, in words; nothing where it was left alone.

    Clock rates are compared within an arm: what a variant's own instructions do to the clock is the variant's.

    Args:
        arms: whose process each of ``found.rates_mhz`` is of.
        threads: of the timed processes.
    """
    words = []
    if too_loaded(found.other_load, threads):
        words.append(f"others kept {found.other_load:.1f} CPUs busy")
    if found.steal_share is not None and found.steal_share > STEAL_ALLOWED:
        words.append(f"the hypervisor gave {100 * found.steal_share:.0f} % of the CPUs' time to others")
    if found.throttled_share is not None and found.throttled_share > THROTTLED_ALLOWED:
        words.append(f"the CPU quota held it back for {100 * found.throttled_share:.0f} % of the time")
    for arm in dict.fromkeys(arms):
        rates = [mhz for a, mhz in zip(arms, found.rates_mhz, strict=False) if a == arm and mhz is not None]
        if rates and max(rates) > (1.0 + RATE_ALLOWED) * min(rates):
            words.append(f"the {arm} ran at {min(rates):,.0f} and at {max(rates):,.0f} MHz")
    return words


def stolen_s() -> float | None:
    """Seconds that a hypervisor has taken from the CPUs that we may use; None where the system does not count them."""
    times = psutil.cpu_times(percpu=True)
    ours = [times[i] for i in usable_cpus() if i < len(times)] or times
    if not all(hasattr(cpu, "steal") for cpu in ours):
        return None
    return float(sum(cpu.steal for cpu in ours))


def withheld_s() -> float | None:
    """Seconds that this process's control groups, and all above them, have waited for a quota; None without a count."""
    found = [_withheld_in(folder / "cpu.stat") for folder in dict.fromkeys(folders("cpu"))]
    counted = [seconds for seconds in found if seconds is not None]
    return sum(counted) if counted else None


def _withheld_in(path: Path) -> float | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, count = line.partition(" ")
        if name in _WITHHELD and count.isdigit():
            return int(count) * _WITHHELD[name]
    return None


def fastest_mhz() -> float | None:
    """The highest present clock rate of the CPUs that we may use; None where the kernel's cpufreq does not tell."""
    rates = []
    for cpu in usable_cpus():
        try:
            rates.append(int((_CPUS / f"cpu{cpu}" / "cpufreq" / "scaling_cur_freq").read_text()))
        except (OSError, ValueError):
            continue
    return max(rates) / 1000 if rates else None  # the kernel tells kHz


def _share(before: float | None, after: float | None, seconds: float) -> float | None:
    if before is None or after is None or seconds <= 0.0:
        return None
    return max(0.0, after - before) / seconds
