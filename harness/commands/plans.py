"""A spec's file to the plan that it expands to here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.plan.model import Plan


def plan_of(path: Path) -> Plan:
    """Of what the spec says and what this machine can do.

    Raises:
        InputError: the spec has mistakes; it names them all.
    """
    from harness.plan.expand import make_plan
    from harness.plan.machine import probe
    from harness.spec.load import load_spec

    return make_plan(load_spec(path), path, probe(cache_root()))
