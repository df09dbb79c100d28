"""How many rows a cache of features holds: a share of the nodes, a number of bytes, or what is free."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil
import torch

from harness.plan.capabilities import caches_nothing
from harness.plan.cgroups import folders

AUTO_SHARE = 2  # `auto` takes one part in so many of what is free: the model's part of the training has to fit too


class NothingCached(ValueError):
    """A cache was asked for that is too small to hold a single row; the message has the least size."""


@dataclass(frozen=True)
class CacheSize:
    """How many rows, and what `auto` saw.

    Attributes:
        nodes: rows in the cache, at least 1 and at most the table's.
        free_bytes: of the fast home, less what the slow home will take there; None unless `auto`.
    """

    nodes: int
    free_bytes: int | None = None


def cache_size(
    num_nodes: int, row_bytes: int, ratio: float, size: int | Literal["auto"] | None, free_bytes: int | None = None
) -> CacheSize:
    """Rows of a cache.

    Args:
        num_nodes: rows of the table.
        row_bytes: bytes of a row.
        ratio: share of the nodes, rounded to a whole number; has no effect where ``size`` is given.
        size: bytes, or ``auto`` for half of ``free_bytes``.
        free_bytes: needed for ``auto``.

    Raises:
        NothingCached: not one row fits.
    """
    if size == "auto":
        if free_bytes is None:
            raise ValueError("cache_bytes auto needs the free bytes")
        nodes = rows_of(free_bytes // AUTO_SHARE, row_bytes, num_nodes)
        if not nodes:
            needed = f"a row takes {row_bytes}, twice that must be free"
            raise NothingCached(f"cache_bytes auto caches none: {free_bytes} bytes are free; {needed}")
        return CacheSize(nodes, free_bytes)
    if (reason := caches_nothing(num_nodes, row_bytes, ratio, size)) is not None:
        raise NothingCached(reason)
    return CacheSize(round(ratio * num_nodes) if size is None else rows_of(size, row_bytes, num_nodes))


def rows_of(size: int, row_bytes: int, num_nodes: int) -> int:
    """Whole rows in so many bytes, at most the table's."""
    return max(0, min(num_nodes, size // max(1, row_bytes)))


def free_bytes(device: torch.device) -> int:
    """Bytes that this process can still have on the device.

    CUDA: as the driver says. CPU: the machine's available memory, or what the process's ``RLIMIT_DATA`` or its
    cgroup leave, if that is less.
    """
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    left = [int(psutil.virtual_memory().available), _left_of_data_limit(), *_left_in_cgroups()]
    return max(0, min(room for room in left if room is not None))


def available_memory() -> int:
    """Bytes of files that can stay in memory: a data limit is not about them, a cgroup's is."""
    left = [int(psutil.virtual_memory().available), *_left_in_cgroups()]
    return max(0, min(left))


def _left_of_data_limit() -> int | None:
    """What ``RLIMIT_DATA`` leaves, in the kernel's count of private writable memory; None where there is no limit."""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None  # no Linux, where the limit is about the heap alone
    present = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:")), None)
    return None if present is None else limit - present


def _left_in_cgroups() -> list[int]:
    """What each limited cgroup above this process leaves; pages of files that it can drop count as free."""
    left = []
    for folder in folders("memory"):
        limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.current", folder / "memory.usage_in_bytes")
        if limit is not None and used is not None:
            left.append(limit - used + _inactive_file(folder))
    return left


def _number(*files: Path) -> int | None:
    """What the first readable file says; None where none is, or it says ``max``."""
    for file in files:
        try:
            text = file.read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else None
    return None


def _inactive_file(folder: Path) -> int:
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    found = dict(line.split(" ", 1) for line in lines if " " in line)
    return int(found.get("total_inactive_file", found.get("inactive_file", "0")))
