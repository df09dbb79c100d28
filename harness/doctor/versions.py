"""Versions of what computes, held to the ranges that the package asks for."""

from __future__ import annotations

import platform
import re
import sys
from importlib import metadata

from packaging.requirements import Requirement

from harness import __version__
from harness.doctor.finding import Finding, note, ok, problem
from harness.plan.version import BUILDER_VERSION, ENGINE_VERSION

COMPUTE = ("torch", "torch-geometric", "numba", "numpy", "scipy")
# Without these nothing trains; without others a source of data, METIS, the grid or the page is missing.
NEEDED = (*COMPUTE, "pydantic", "filelock", "psutil")


def versions() -> list[Finding]:
    """Of Python, the harness and its libraries."""
    python = platform.python_version()
    found = {name: installed(name) for name in COMPUTE}
    return [
        ok(f"Python {python} ({sys.executable})", python=python),
        ok(
            f"harness {__version__}, engine {ENGINE_VERSION}, builder {BUILDER_VERSION}",
            harness=__version__,
            engine=ENGINE_VERSION,
            builder=BUILDER_VERSION,
        ),
        ok(", ".join(f"{name} {version}" for name, version in found.items() if version), **found),
        *within_ranges(),
    ]


def installed(distribution: str) -> str | None:
    """Its version; None where it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def within_ranges() -> list[Finding]:
    """What is missing or outside of the ranges of pyproject.toml."""
    try:
        wanted = [Requirement(line) for line in metadata.requires("harness") or []]
    except metadata.PackageNotFoundError:
        text = "the harness is not installed, so that its libraries' versions cannot be held to its ranges"
        return [note(text, "pip install -e . -c constraints.txt")]
    wanted = [r for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})]
    faults = [fault for requirement in wanted if (fault := _fault(requirement)) is not None]
    return faults or [ok(f"all {len(wanted)} libraries are within the ranges that the harness asks for")]


def _fault(requirement: Requirement) -> Finding | None:
    version = installed(requirement.name)
    remedy = f"pip install '{requirement.name}{requirement.specifier}'"
    if version is None:
        return problem(f"{requirement.name} is not installed", remedy, fatal=_name(requirement.name) in NEEDED)
    if not requirement.specifier.contains(version, prereleases=True):
        return problem(f"{requirement.name} is {version}, but {requirement.specifier} is needed", remedy)
    return None


def _name(distribution: str) -> str:
    """As PyPI compares names."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
