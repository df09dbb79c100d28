"""Verdicts of an earlier plan than the one beside them: the spec was changed, and not run again."""

from __future__ import annotations

from pathlib import Path

from harness.plan.confirmation import plan_id
from harness.plan.model import Plan
from harness.records.files import read_model
from harness.verdicts.model import Verdicts


def plan_since(verdicts: Verdicts, folder: Path) -> Plan | None:
    """The plan of a folder, where the verdicts in it are of an earlier one; committed results have none.

    Raises:
        InputError: the plan is there and cannot be read.
    """
    plan_file = folder / "plan.json"
    made = read_model(plan_file, Plan) if plan_file.is_file() else None
    return made if made is not None and verdicts.of_another(plan_id(made)) else None
