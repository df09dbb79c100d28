"""Answers of the probe, as machines of all kinds would give them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.plan.machine import Machine

KERNELS = {
    f"{half}{kind}": None for half in ("bf16", "fp16") for kind in ("", "-linear", "+spmm", "+segment", "+dense")
}
LIBRARIES = {"pymetis": "2025.2", "ogb": "1.3.6", "pyg_lib": None, "torch_sparse": None, "torch_scatter": None}


@pytest.fixture
def machine() -> Callable[..., Machine]:
    def make(**changes: object) -> Machine:
        answer = {
            "torch": "2.13.0",
            "pyg": "2.8.1",
            "cuda": False,
            "kernels": {"cpu": KERNELS},
            "libraries": LIBRARIES,
            **changes,
        }
        return Machine(**answer)

    return make
