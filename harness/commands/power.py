"""`harness plan --power`: how many seeds the gate will need."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.results import read_results
from harness.records.files import read_model
from harness.spec.errors import InputError, Problem

if TYPE_CHECKING:
    from harness.verdicts.model import Verdicts


def show_seeds_needed(spec: Path, sds: list[float] | None, pilot: Path | None, true_drop: float, as_json: bool) -> None:
    """How many seeds the gate will need: for stated spreads, else for a pilot's, else for three in common."""
    from rich.console import Console

    from harness.reports.power_table import plan_power, show_power
    from harness.spec.load import load_spec
    from harness.verdicts.pilot import pilot_spreads

    for name, value in (*(("--sd", sd) for sd in sds or []), ("--true-drop", true_drop)):
        if not math.isfinite(value) or abs(value) > 100.0 or (name == "--sd" and value <= 0.0):
            raise InputError(Problem(name, f"{value:g} is no {name[2:]} in percentage points, such as 0.5"))
    read = load_spec(spec)
    spreads = [] if pilot is None else pilot_spreads(_pilot_verdicts(pilot, read.gate.metric))
    if pilot is not None and not spreads:
        raise InputError(Problem(str(pilot), "no variant has two complete pairs; a spread needs at least two"))
    stated = sds or ([] if spreads else [0.25, 0.5, 1.0])
    found = plan_power(read.gate, read.seeds.looks, stated, true_drop, spreads)
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        show_power(found, read.name, Console())


def _pilot_verdicts(folder: Path, metric: str) -> Verdicts:
    """Of a pilot: its `verdicts.json`, else what its variants have left so far."""
    from harness.plan.model import Plan
    from harness.verdicts.analyze import analyze as judge_all
    from harness.verdicts.model import Verdicts

    if (folder / "verdicts.json").exists():
        found = read_model(folder / "verdicts.json", Verdicts)
    else:
        made = read_model(folder / "plan.json", Plan)
        found = judge_all(made, *read_results(folder, made))
    if found.gate.metric != metric:
        raise InputError(Problem(str(folder), f"its metric is {found.gate.metric}, the spec's {metric}"))
    return found
