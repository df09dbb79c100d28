"""A machine that can do everything, and plans from a few lines of YAML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.plan.expand import make_plan
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.spec.load import load_spec

HEAD = """\
version: 1
name: s
dataset: {source: builtin, name: wordnet, subset: verb}
model: {conv: sage, layers: 2}
"""
KERNELS = [p + a for p in ("bf16", "fp16") for a in ("", "+spmm", "+segment", "+dense", "-linear")]


@pytest.fixture
def machine() -> Machine:
    """A CPU on which every kernel works and all needed libraries are there."""
    return Machine(
        torch="2.13.0",
        pyg="2.8.1",
        cuda=False,
        kernels={"cpu": dict.fromkeys(KERNELS)},
        libraries={"pymetis": "2025.2", "ogb": "1.3.6", "pyg_lib": None, "torch_sparse": None, "torch_scatter": None},
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a spec: the text, after a head where it has none of its own."""

    def to_file(text: str, name: str = "spec.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text if "version:" in text else HEAD + text)
        return path

    return to_file


@pytest.fixture
def plan_of(write: Callable[[str], Path], machine: Machine) -> Callable[..., Plan]:
    """Loads and plans a spec's text, on the given machine or on one that can do everything."""

    def planned(text: str, on: Machine | None = None) -> Plan:
        path = write(text)
        return make_plan(load_spec(path), path, on or machine, cores=2)

    return planned
