"""The Snakemake that started this job: when it is gone nobody waits for what the job would make, and it ends.

Snakemake killed by SIGKILL ends no job of its own, so every job looks for it while it waits or computes.
"""

from __future__ import annotations

import os
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

GLANCE_S = 1.0  # between looks at whether Snakemake is still there


def _snakemake_above() -> int | None:
    """Pid of the Snakemake that started this process by `exec`, None if it was started otherwise."""
    try:
        parent = psutil.Process(os.getppid())
        return parent.pid if any(Path(word).name == "snakemake" for word in parent.cmdline()[:4]) else None
    except psutil.Error:
        return None


_SNAKEMAKE = _snakemake_above()  # at import: it may be gone before the first run starts


def check_parent() -> None:
    """End this process when the Snakemake that started it is gone.

    Raises:
        SystemExit: it is.
    """
    if _SNAKEMAKE is not None and os.getppid() != _SNAKEMAKE:
        raise SystemExit("the Snakemake that started this job has ended; stopped")


def wait_for_lock(lock: FileLock, poll_s: float) -> None:
    """Take a lock that another process holds, as soon as it is free.

    Raises:
        SystemExit: as `check_parent`.
    """
    while True:
        check_parent()
        try:
            lock.acquire(timeout=GLANCE_S, poll_interval=poll_s)
        except Timeout:
            continue
        return
