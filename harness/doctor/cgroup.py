"""Limits that a container or a batch system sets: less than the machine has, and not shown by its totals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.plan.cgroups import folders

UNLIMITED = 2**60  # cgroup v1 writes a number near 2**63 for none


@dataclass(frozen=True)
class Limits:
    """Of this process's control groups, the tightest of all above it; None for none.

    Attributes:
        memory_bytes: most memory.
        used_bytes: what the group with that limit holds now.
        cpus: CPU time per time on the clock.
    """

    memory_bytes: int | None = None
    used_bytes: int | None = None
    cpus: float | None = None


def cgroup_limits(own: Path | None = None, mount: Path | None = None) -> Limits:
    """Read them (cgroup v2 and v1); all None where there is none. Arguments as in `harness.plan.cgroups`."""
    memory: list[tuple[int, int | None]] = []
    for folder in folders("memory", own, mount):
        memory += _memory(folder / "memory.max", folder / "memory.current")
        memory += _memory(folder / "memory.limit_in_bytes", folder / "memory.usage_in_bytes")
    cpus: list[float] = []
    for folder in folders("cpu", own, mount):
        cpus += _share(*_words(folder / "cpu.max")[:2])
        cpus += _share(*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us"))
    tightest, used = min(memory, default=(None, None), key=lambda pair: pair[0])
    return Limits(tightest, used, min(cpus, default=None))


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _memory(limit: Path, usage: Path) -> list[tuple[int, int | None]]:
    words, used = _words(limit), _words(usage)
    if not words or not words[0].isdigit() or int(words[0]) >= UNLIMITED:
        return []
    return [(int(words[0]), int(used[0]) if used and used[0].isdigit() else None)]


def _share(*words: str) -> list[float]:
    quota, period = words if len(words) == 2 else ("", "")
    return [int(quota) / int(period)] if quota.isdigit() and period.isdigit() and int(period) > 0 else []
