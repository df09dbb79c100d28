"""Versions that enter plans and ids, so that results of another engine, builder or library are never taken for ours."""

from __future__ import annotations

from harness.plan.machine import Machine
from harness.plan.model import Cell

ENGINE_VERSION = 3  # raise it when the same request would give other accuracies, times or peaks
TIMING_VERSION = 2  # raise it when the same processes would give other ratios: another rule of what is timed, or kept
TABLES_VERSION = 2  # raise it when the same tables of edges and labels would give other rows
BUILDER_VERSION = 5  # raise it when the same source would give other arrays, or another graph.json


def versions_of(machine: Machine) -> dict[str, str]:
    """What a plan's results depend on beside its options: engine, way of timing, and computing libraries."""
    return {
        "engine": str(ENGINE_VERSION),
        "timing": str(TIMING_VERSION),
        "torch": machine.torch,
        "torch-geometric": machine.pyg,
        "pymetis": machine.libraries.get("pymetis") or "",
    }


def versions_for(versions: dict[str, str], *cells: Cell | None) -> dict[str, str]:
    """Those that matter to these cells: pymetis only where one of them is cut by METIS."""
    cut = any(cell is not None and uses_metis(cell) for cell in cells)
    return {name: version for name, version in versions.items() if cut or name != "pymetis"}


def uses_metis(cell: Cell) -> bool:
    """Whether the cell's batches are parts made by METIS."""
    return cell.options.batching == "cluster" and cell.options.partition.method == "metis"
