"""What torch and PyG can do here, printed as one line of JSON: the planner runs this in a subprocess."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from importlib import metadata

from harness.plan.machine import Machine

# Imported where it is safe; ogb is only looked up, since importing it starts a thread that asks the network.
IMPORTED = {
    "pymetis": "pymetis",
    "pyg_lib": "pyg-lib",
    "torch_sparse": "torch-sparse",
    "torch_scatter": "torch-scatter",
}


def _attempt(check: Callable[[], None]) -> str | None:
    """None where the check ran through, else the first line of what was raised."""
    try:
        check()
    except Exception as error:  # any failure is an answer: this device cannot do it
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
    return None


def _kernels(device: str) -> dict[str, str | None]:
    """Tiny forward and backward passes of what each precision needs, with and without half aggregation."""
    import torch

    from harness.models.adjacency import Csr
    from harness.models.spmm import multiply

    indptr = torch.tensor([0, 2, 2, 3], device=device)
    indices = torch.tensor([0, 2, 1], device=device)
    target = torch.tensor([0, 0, 2], device=device)

    def linear(dtype: torch.dtype) -> torch.Tensor:
        layer = torch.nn.Linear(4, 8).to(device)
        x = torch.ones(3, 4, device=device)
        with torch.autocast(device, dtype=dtype):
            return layer(x)

    def finish(out: torch.Tensor, dtype: torch.dtype) -> None:
        loss = out.float().sum()
        if not torch.isfinite(loss):
            raise FloatingPointError("the result is not finite")
        if dtype is torch.float16:
            loss = torch.amp.GradScaler(device, init_scale=2.0).scale(loss)
        loss.backward()

    def linear_alone(dtype: torch.dtype) -> None:
        finish(linear(dtype), dtype)

    def scatter(dtype: torch.dtype) -> None:
        messages = linear(dtype).to(dtype)[indices]
        finish(messages.new_zeros(3, 8).index_add(0, target, messages), dtype)

    def product(matrix: Csr, dtype: torch.dtype) -> None:
        # the engine's own: backward it multiplies by a transpose made beforehand, with the same kernel
        out = multiply(matrix, linear(dtype).detach().to(dtype))
        if not torch.isfinite(out).all():
            raise FloatingPointError("the result is not finite")

    def spmm(dtype: torch.dtype) -> None:
        product(Csr(indptr, indices, torch.ones(3, device=device, dtype=dtype), 3), dtype)

    def segment(dtype: torch.dtype) -> None:
        product(Csr(indptr, torch.arange(3, device=device), None, 3), dtype)  # of the edges in their order

    def dense(dtype: torch.dtype) -> None:
        padded = linear(dtype).to(dtype)[torch.zeros(3, 2, dtype=torch.int64, device=device)]
        empty = torch.tensor([[False, False], [True, True], [False, True]], device=device).unsqueeze(-1)
        finish(padded.masked_fill_(empty, 0.0).sum(dim=1), dtype)

    answers: dict[str, str | None] = {}
    for name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        answers[f"{name}-linear"] = _attempt(lambda dtype=dtype: linear_alone(dtype))
        answers[name] = _attempt(lambda dtype=dtype: scatter(dtype))
        answers[f"{name}+spmm"] = _attempt(lambda dtype=dtype: spmm(dtype))
        answers[f"{name}+segment"] = _attempt(lambda dtype=dtype: segment(dtype))
        answers[f"{name}+dense"] = _attempt(lambda dtype=dtype: dense(dtype))
    return answers


def _libraries() -> tuple[dict[str, str | None], dict[str, str]]:
    """Versions of what can be imported, and what was raised by what cannot."""
    versions: dict[str, str | None] = {}
    faults: dict[str, str] = {}
    for module, distribution in IMPORTED.items():
        broken = _attempt(lambda module=module: importlib.import_module(module))
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
