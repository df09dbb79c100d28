"""Who has which device: a GPU is lent to one job at a time, and one timing job has the machine.

Snakemake's ``resources: gpu`` counts GPUs but gives out no ids, so two jobs would both take number 0. Here a job takes
a file lock on an id and sees only that GPU. The kernel frees a lock when its owner dies, however it dies. Locks are per
machine and user, in the system's temporary folder: the work may lie on a disk that several machines share.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from harness.plan.machine import probe
from harness.runs.parent import check_parent, wait_for_lock
from harness.spec.errors import InputError, Problem
from harness.spec.places import cache_root

Say = Callable[[str], None]


@dataclass(frozen=True)
class Device:
    """Where children compute.

    Attributes:
        name: what torch calls it in the child: ``cpu``, or ``cuda:0``, the only GPU that the child sees.
        kind: what it is, for run ids: ``cpu``, or e.g. ``cuda NVIDIA H200``.
        visible: ``CUDA_VISIBLE_DEVICES`` of the child.
    """

    name: str
    kind: str
    visible: str


@dataclass(frozen=True)
class Gpu:
    """One GPU: an id that ``CUDA_VISIBLE_DEVICES`` understands, and the model's name."""

    id: str
    name: str


CPU = Device("cpu", "cpu", "")


@contextmanager
def lease_device(wanted: Literal["auto", "cpu", "cuda"], say: Say) -> Iterator[Device]:
    """Hold the device that a plan asks for; waits while all GPUs are lent.

    Args:
        wanted: ``auto`` is a GPU where torch can use one, else the CPU.
        say: called once with a line if there is a wait.

    Raises:
        InputError: ``cuda`` where torch can use none.
    """
    gpus = [] if wanted == "cpu" else find_gpus()
    if not gpus:
        if wanted == "cuda":
            raise InputError(Problem("device", _why_no_gpu(), path="device"))
        yield CPU
        return
    with lease_one([gpu.id for gpu in gpus], say) as leased:
        name = next(gpu.name for gpu in gpus if gpu.id == leased)
        yield Device("cuda:0", f"cuda {name}", leased)


@contextmanager
def lease_one(ids: list[str], say: Say, poll_s: float = 0.5) -> Iterator[str]:
    """Hold one of the ids, whichever is free first; no one else on this machine holds it meanwhile."""
    locks = [FileLock(machine_locks() / f"gpu-{_file_safe(name)}.lock") for name in ids]
    said = False
    while True:
        for name, lock in zip(ids, locks, strict=True):
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            try:
                yield name
            finally:
                lock.release()
            return
        if not said:
            say(f"waiting for a GPU: other jobs use {'the only one' if len(ids) == 1 else f'all {len(ids)}'}")
            said = True
        check_parent()
        time.sleep(poll_s)


@contextmanager
def alone_on_machine(say: Say) -> Iterator[None]:
    """Hold the machine for timing; waits while another timing job of this user has it."""
    lock = FileLock(machine_locks() / "timing.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say("waiting for the machine: another timing job has it")
        wait_for_lock(lock, poll_s=0.2)
    try:
        yield
    finally:
        lock.release()


def machine_locks() -> Path:
    """The folder of this user's locks on this machine."""
    folder = Path(tempfile.gettempdir()) / f"harness-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def find_gpus() -> list[Gpu]:
    """The GPUs that torch can use here, without touching one in this process; empty where there is none.

    Ids come from ``CUDA_VISIBLE_DEVICES`` where it is set, else they are the driver's UUIDs: numbers mean different
    cards to the driver and to CUDA, which sorts by speed.
    """
    if not driver_present():
        return []
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is not None and allowed.strip() in ("", "-1"):
        return []
    machine = probe(cache_root())
    if not machine.cuda:
        return []
    listed = _driver_list()
    if allowed is None:
        return listed or [Gpu("0", machine.device_name)]
    names = {gpu.id: gpu.name for gpu in listed}
    ids = [name.strip() for name in allowed.split(",") if name.strip()]
    return [Gpu(name, names.get(name, machine.device_name)) for name in ids]


def driver_present() -> bool:
    paths = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # NVIDIA, AMD, WSL
    return any(Path(p).exists() for p in paths) or shutil.which("nvidia-smi") is not None


def _driver_list() -> list[Gpu]:
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return []
    pairs = [line.split(",", 1) for line in answer.stdout.splitlines() if "," in line] if answer.returncode == 0 else []
    return [Gpu(uuid.strip(), name.strip()) for uuid, name in pairs]


def _why_no_gpu() -> str:
    if not driver_present():
        return "`cuda` asks for a GPU and this machine has no driver for one; write `device: auto` or `device: cpu`"
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is not None and allowed.strip() in ("", "-1"):
        return f"`cuda` asks for a GPU and CUDA_VISIBLE_DEVICES={allowed!r} hides them all; unset it, or write `cpu`"
    return "`cuda` asks for a GPU and this build of torch can use none; install a CUDA build of torch, or write `cpu`"


def _file_safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
