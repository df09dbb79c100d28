"""What torch and PyG can do here, printed as one line of JSON: the planner runs this in a subprocess."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import metadata

from harness.plan.machine import Machine

# Imported where it is safe; ogb is only looked up, since importing it starts a thread that asks the network.
IMPORTED = {
    "pymetis": "pymetis",
    "pyg_lib": "pyg-lib",
    "torch_sparse": "torch-sparse",
    "torch_scatter": "torch-scatter",
}


def _attempt(check: Callable[[], object]) -> str | None:
    """None where the check ran through, else the first line of what was raised."""
    try:
        check()
    except Exception as error:  # any failure is an answer: this device cannot do it
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
    return None


def _kernels(device: str) -> dict[str, str | None]:
    """What each precision needs, with and without half aggregation."""
    import torch

    from harness.runs.half_kernels import CHECKS

    return {
        f"{name}{suffix}": _attempt(partial(check, device, dtype))
        for name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16))
        for suffix, check in CHECKS.items()
    }


def _libraries() -> tuple[dict[str, str | None], dict[str, str]]:
    """Versions of what can be imported, and what was raised by what cannot."""
    versions: dict[str, str | None] = {}
    faults: dict[str, str] = {}
    for module, distribution in IMPORTED.items():
        broken = _attempt(partial(importlib.import_module, module))
        versions[module] = None if broken else _distribution(distribution) or "unknown"
        if broken:
            faults[module] = broken
    versions["ogb"] = _distribution("ogb")
    return versions, faults


def _distribution(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _built_for() -> str:
    """What torch's wheel computes on beside the CPU."""
    import torch

    if torch.version.cuda:
        return f"CUDA {torch.version.cuda}"
    return f"ROCm {torch.version.hip}" if torch.version.hip else ""


def ask() -> Machine:
    """Try everything in this process."""
    import torch
    import torch_geometric

    torch.set_num_threads(1)
    cuda = torch.cuda.is_available()
    built_for = _built_for()
    libraries, faults = _libraries()
    return Machine(
        torch=torch.__version__,
        pyg=torch_geometric.__version__,
        cuda=cuda,
        device_name=torch.cuda.get_device_name(0) if cuda else "",
        kernels={device: _kernels(device) for device in (("cpu", "cuda") if cuda else ("cpu",))},
        built_for=built_for,
        cuda_fault=(_attempt(torch.cuda.init) or "") if built_for and not cuda else "",
        libraries=libraries,
        faults=faults,
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(ask().model_dump_json() + "\n")
