"""What torch can do on this machine, asked in a subprocess and cached by version."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from glob import glob
from importlib import metadata
from pathlib import Path

from pydantic import Field, ValidationError

from harness.records.files import write_atomically
from harness.spec.errors import InputError, Problem
from harness.spec.options import Frozen

PROBE_VERSION = 3  # raise it when the probe asks more
PROBE_TIMEOUT_S = 300
DISTRIBUTIONS = ("torch", "torch-geometric", "pymetis", "ogb", "numba", "pyg-lib", "torch-sparse", "torch-scatter")


class Machine(Frozen):
    """The probe's answer."""

    torch: str = Field(description="Version of torch.")
    pyg: str = Field(description="Version of torch_geometric.")
    cuda: bool = Field(description="A CUDA device can be used.")
    device_name: str = Field("", description="Name of the first CUDA device.")
    built_for: str = Field("", description="What torch is built for, e.g. `CUDA 12.8`; empty for the CPU.")
    cuda_fault: str = Field("", description="What torch said where it is built for a GPU and can use none.")
    kernels: dict[str, dict[str, str | None]] = Field(
        description="Device (cpu, cuda), then e.g. `fp16`, `fp16+spmm`: None where it works, else what torch said."
    )
    libraries: dict[str, str | None] = Field(
        description="pymetis, ogb, pyg_lib, torch_sparse, torch_scatter: version, or None where it cannot be imported."
    )
    faults: dict[str, str] = Field(default={}, description="Library: what was raised where it could not be imported.")

    def device(self, wish: str) -> str:
        """The kind of device that `auto`, `cpu` or `cuda` means here."""
        return ("cuda" if self.cuda else "cpu") if wish == "auto" else wish


def usable_cpus() -> list[int]:
    """CPUs this process may use, by number: its affinity mask where the system has one (Linux), else all."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def probe_key() -> str:
    """Hash of what the answer depends on: interpreter, versions of the libraries, host and visible devices."""
    facts = [
        PROBE_VERSION,
        sys.executable,
        platform.node(),
        os.environ.get("CUDA_VISIBLE_DEVICES"),
        sorted(glob("/dev/nvidia[0-9]*")),
        [_version(name) for name in DISTRIBUTIONS],
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:20]


def probe(cache_dir: Path) -> Machine:
    """The machine's abilities, from ``<cache_dir>/probe-<key>.json`` or a fresh subprocess (some seconds).

    Raises:
        InputError: torch or torch_geometric cannot be imported, or the probe crashed or hung.
    """
    path = Path(cache_dir) / f"probe-{probe_key()}.json"
    try:
        return Machine.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        pass  # no answer yet, or one that another version wrote
    machine = ask()
    keep(machine, cache_dir)
    return machine


def keep(machine: Machine, cache_dir: Path) -> None:
    """Write an answer where `probe` looks for it.

    Raises:
        InputError: the folder cannot be written.
    """
    path = Path(cache_dir) / f"probe-{probe_key()}.json"
    try:
        write_atomically(path, machine.model_dump_json(indent=2) + "\n")
    except InputError as error:
        why = error.problems[0].message
        message = f"the machine's probe {why}; or set HARNESS_CACHE to a folder that can be written"
        raise InputError(Problem(file=str(cache_dir), message=message)) from None


def ask() -> Machine:
    """A fresh subprocess's answer.

    Raises:
        InputError: torch or torch_geometric cannot be imported, or the probe crashed or hung.
    """
    command = [sys.executable, "-m", "harness.runs.probe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise _failed(f"no answer within {PROBE_TIMEOUT_S} s") from None
    if done.returncode != 0:
        last = [line for line in done.stderr.strip().splitlines() if line.strip()]
        raise _failed(f"exit code {done.returncode}: {last[-1] if last else 'no message'}")
    try:
        return Machine.model_validate_json(done.stdout.strip().splitlines()[-1])
    except (ValidationError, IndexError):
        raise _failed(f"its answer cannot be read: {done.stdout[-200:]!r}") from None


def _failed(reason: str) -> InputError:
    message = (
        f"what torch can do here could not be found out ({reason}); "
        "try `python -c 'import torch, torch_geometric'` with this interpreter, and install what is missing"
    )
    return InputError(Problem(file=sys.executable, message=message))
