"""torch's deterministic algorithms: switched for a run's own process, read back at its end, and where they are missing.

The samplers, the feature store and our compiled loops are deterministic without any of this (their draws are counters,
and no two threads add to one number); the option is about torch's operations.
"""

from __future__ import annotations

import os
from typing import Any

import torch

CUBLAS_WORKSPACES = (":4096:8", ":16:8")  # with one of these cuBLAS gives the same result on every call


def use_deterministic_algorithms(on: bool) -> None:
    """Switch torch to deterministic algorithms alone, or back to its default, in this process and all its threads.

    Called before CUDA is initialised, since cuBLAS reads its workspaces' size from the environment then. torch would
    also fill memory that it hands out uninitialised; that is left off: it is of use where something reads what nobody
    wrote, which is a fault and not an algorithm, and its passes over memory would be measured as determinism's price.
    """
    if on and os.environ.get("CUBLAS_WORKSPACE_CONFIG") not in CUBLAS_WORKSPACES:
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = CUBLAS_WORKSPACES[0]
    torch.use_deterministic_algorithms(on)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cudnn.deterministic = on
    torch.backends.cudnn.benchmark = False


def determinism_counters() -> dict[str, Any]:
    """torch's settings, as they are now; an operation that may only warn is not one that must be deterministic."""
    strict = not torch.is_deterministic_algorithms_warn_only_enabled()
    return {
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled() and strict,
        "cudnn_deterministic": torch.backends.cudnn.deterministic,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
    }


def has_no_deterministic_algorithm(error: RuntimeError) -> str | None:
    """torch's own words about an operation that it cannot do deterministically; None for any other error."""
    words = " ".join(str(error).split())
    if "use_deterministic_algorithms(True)" not in words:
        return None
    return words.split(" You can turn off determinism", 1)[0]
