"""What a run ran on: versions, processor, accelerator. Read locally in about a millisecond; never the network."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.plan.cpu_flags import half_instructions
from harness.plan.machine import usable_cpus
from harness.runs.version import ENGINE_VERSION

_PACKAGES = {
    "harness": "harness",
    "torch": "torch",
    "pyg": "torch-geometric",
    "numba": "numba",
    "numpy": "numpy",
    "scipy": "scipy",
    "pymetis": "pymetis",
}


def environment(device: str = "cpu") -> dict[str, Any]:
    """Versions, machine and threads of this process.

    Args:
        device: ``cpu`` or ``cuda:<i>``; for CUDA the device's name, memory, capability and driver libraries too.

    Returns:
        JSON values only; a version is None where the package is not installed.
    """
    import torch  # here, so that the record's readers can import this module without it

    found: dict[str, Any] = {name: _version(package) for name, package in _PACKAGES.items()}
    found |= {
        "engine": ENGINE_VERSION,
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "cores_granted": len(usable_cpus()),
        "memory_bytes": _memory_bytes(),
        "threads": torch.get_num_threads(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
        "kernels_kept": os.environ.get("ONEDNN_PRIMITIVE_CACHE_CAPACITY"),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "half_instructions": _half_instructions(),
        "device": device,
        "cuda": torch.version.cuda,
    }
    if device.startswith("cuda"):
        found |= _cuda(device)
    return found


@cache
def cpu_model() -> str:
    """The processor's name, as the kernel tells it; the platform's word where it does not."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@cache
def _half_instructions() -> list[str] | None:
    """Half precisions that the processor multiplies by itself; None where the system does not tell."""
    found = half_instructions()
    return None if found is None else sorted(found)


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _cuda(device: str) -> dict[str, Any]:
    import torch

    properties = torch.cuda.get_device_properties(torch.device(device))
    return {
        "device_name": properties.name,
        "device_memory_bytes": properties.total_memory,
        "device_capability": f"{properties.major}.{properties.minor}",
        "cudnn": torch.backends.cudnn.version(),
    }
