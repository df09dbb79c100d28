"""What other processes take of the machine: read before and during a timed block.

One competing process with two threads slowed an epoch seven-fold on two cores (OpenMP's barriers wait for the slowest
thread), so a block is repeated when the machine was loaded. It is never repeated for what it measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil

from harness.plan.machine import usable_cpus
from harness.runs.parent import check_parent

ALLOWED = 0.25  # CPUs that others may keep busy, on average
ALLOWED_PER_SPARE_CPU = 0.1  # and this much more for each CPU that the timed processes leave free
PATIENCE_S = 30.0


class OtherLoad:
    """CPUs kept busy by anything but this process and its descendants, since the last `start`.

    The busy time of the CPUs this process may use (time stolen by a hypervisor included), less the CPU time of this
    process tree, over the time on the clock. Threads of a core outside the affinity mask are not seen.
    """

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin a new window."""
        self._at, self._busy, self._own = _now()

    def read(self) -> float:
        """Mean number of CPUs that others kept busy in this window, at least 0."""
        at, busy, own = _now()
        seconds = at - self._at
        return max(0.0, ((busy - self._busy) - (own - self._own)) / seconds) if seconds > 0 else 0.0


def too_loaded(others: float, threads: int) -> bool:
    """Whether a block timed beside this load (CPUs busy for others) is worth repeating."""
    spare = max(0, len(usable_cpus()) - threads)
    return others > ALLOWED + ALLOWED_PER_SPARE_CPU * spare


def wait_for_quiet(
    threads: int, say: Callable[[str], None], patience_s: float = PATIENCE_S, window_s: float = 0.5
) -> float:
    """Wait until others leave the machine alone, or patience runs out.

    Returns:
        The load of the last window, CPUs.
    """
    load, until, said = OtherLoad(), time.monotonic() + patience_s, False
    while True:
        time.sleep(window_s)
        check_parent()
        others = load.read()
        if not too_loaded(others, threads) or time.monotonic() >= until:
            return others
        if not said:
            say(f"waiting for a quiet machine: others keep {others:.1f} CPUs busy")
            said = True
        load.start()


def _now() -> tuple[float, float, float]:
    """Clock, busy seconds of our CPUs, CPU seconds of this process tree."""
    return time.monotonic(), _busy_seconds(), _own_seconds()


def _busy_seconds() -> float:
    times = psutil.cpu_times(percpu=True)
    ours = [times[i] for i in usable_cpus() if i < len(times)] or times
    # `guest` is counted within `user`; idle and iowait are the time when a process of ours could have run.
    counted = ("user", "nice", "system", "irq", "softirq", "steal")
    return float(sum(getattr(cpu, name, 0.0) for cpu in ours for name in counted))


def _own_seconds() -> float:
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue  # it ended between the two calls; its parent counts it then
        total += times.user + times.system + times.children_user + times.children_system
    return total
