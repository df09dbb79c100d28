"""NVIDIA's driver and its cards, as the kernel and nvidia-smi tell them."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.doctor.child import answer_of

SMI_LIMIT_S = 20.0
_QUERY = "name,memory.total,memory.used,utilization.gpu"


@dataclass(frozen=True)
class Card:
    """One GPU; memory in MiB, utilisation in percent (None where the card does not say)."""

    name: str
    memory_mib: int
    used_mib: int
    busy_percent: int | None


@dataclass(frozen=True)
class Driver:
    """The driver, where there is a sign of one.

    Attributes:
        version: e.g. ``570.86.15``; empty where it is not known.
        cuda: the newest CUDA that it can do, e.g. ``12.8``; empty where it is not known.
        fault: why nvidia-smi gave no answer; empty where it did or is not there.
    """

    version: str
    cuda: str
    cards: tuple[Card, ...]
    fault: str


def read_driver(kernel: Path = Path("/proc/driver/nvidia/version")) -> Driver | None:
    """The driver; None without a sign of one."""
    try:
        version = driver_version(kernel.read_text())
    except OSError:
        version = None
    if shutil.which("nvidia-smi") is None:
        return None if version is None else Driver(version, "", (), "")
    listed = answer_of(["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"], SMI_LIMIT_S)
    if listed.fault:
        return Driver(version or "", "", (), listed.fault)
    head = answer_of(["nvidia-smi"], SMI_LIMIT_S).output
    return Driver(version or driver_version(head) or "", newest_cuda(head), cards(listed.output), "")


def driver_version(text: str) -> str | None:
    """From ``/proc/driver/nvidia/version`` or the head of nvidia-smi's table."""
    found = re.search(r"(?:Driver Version:|Module(?: for \S+)?)\s+(\d+\.\d+(?:\.\d+)?)", text)
    return found.group(1) if found else None


def newest_cuda(head: str) -> str:
    """From the head of nvidia-smi's table: the newest CUDA that the driver can do."""
    found = re.search(r"CUDA Version:\s+(\d+\.\d+)", head)
    return found.group(1) if found else ""


def cards(listed: str) -> tuple[Card, ...]:
    """From nvidia-smi's CSV; a figure that a card does not give (``[N/A]``) is 0, or None for its utilisation."""
    rows = [[word.strip() for word in line.rsplit(",", 3)] for line in listed.splitlines()]
    return tuple(
        Card(name, _number(total) or 0, _number(used) or 0, _number(busy))
        for name, total, used, busy in (row for row in rows if len(row) == 4)
    )


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else None
