"""What the operating system gives to hold a process: its death with its parent, its memory limit, its sizes.

Linux has all of it. Elsewhere (macOS) each function says what it cannot do by what it returns, and the run goes on:
- no death signal: a child outlives a fork server that is killed with SIGKILL (not one whose supervisor is);
- no ``RLIMIT_DATA`` on memory maps: the memory limit is held by the supervisor's watch alone.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path

import psutil

from harness.plan.cgroups import groups

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> bool:
    """Have the kernel kill this process when its parent dies; False where the system cannot.

    Args:
        parent: the parent's pid, as the parent knows it: if it is gone already, this process ends here.
    """
    if not sys.platform.startswith("linux"):
        return False
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        return False
    if os.getppid() != parent:
        os._exit(1)
    return True


def limit_data(extra_bytes: int) -> bool:
    """Let this process add at most this much data to what it has; False where the system cannot.

    ``RLIMIT_DATA`` counts private writable memory, present VmData + ``extra_bytes`` here; unlike ``RLIMIT_AS`` it
    leaves out memory maps of files, i.e. the graph.
    """
    present = sizes().get("VmData")
    if present is None:
        return False
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = present + extra_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    return True


def lift_data_limit() -> None:
    """Undo `limit_data`, so that a failure for want of memory can still be written down."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def sizes(pid: int | None = None) -> dict[str, int]:
    """Sizes of a process, bytes, by the kernel's names (VmData, RssAnon, …); empty where there is no /proc or process.

    Args:
        pid: None for this process.
    """
    try:
        lines = Path(f"/proc/{pid or 'self'}/status").read_text().splitlines()
    except OSError:
        return {}
    words = (line.split() for line in lines)
    return {w[0].rstrip(":"): int(w[1]) * 1024 for w in words if len(w) == 3 and w[2] == "kB"}


def anonymous_bytes(pid: int) -> int | None:
    """Memory of a process that is no file's page (RssAnon; all that is resident without /proc); None if it is gone."""
    found = sizes(pid).get("RssAnon")
    if found is not None or Path("/proc/self/status").exists():
        return found
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None


def prefer_as_victim() -> None:
    """If the machine runs out of memory, let the kernel take this process before the supervisor and Snakemake."""
    try:
        Path("/proc/self/oom_score_adj").write_text("500")
    except OSError:
        return  # no /proc, or not allowed: the kernel chooses by size, which is this process too


def cgroup_oom_kills() -> int | None:
    """Processes that the kernel killed because this cgroup's memory was used up; None where it does not say."""
    for path in _oom_counters():
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, count = line.partition(" ")
            if name == "oom_kill" and count.isdigit():
                return int(count)
    return None


def _oom_counters() -> list[Path]:
    """Where cgroup v2 and v1 would count, the own group first, then the mount's root (a container's own view)."""
    names = ("memory.events", "memory.oom_control")
    return [folder / name for root, own in groups("memory") for folder in (own, root) for name in names]


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
