"""By what a variant's seeds were looked at: kept when its job runs again under another rule, so that nobody forgets."""

from __future__ import annotations

from pathlib import Path

from harness.records.files import read_model, write_atomically
from harness.records.results import DecisionRule, VariantResult
from harness.spec.options import Frozen


class Looked(Frozen):
    """One rule, and the variant's runs that were looked at by it."""

    decided_by: DecisionRule
    runs: list[str]


class LookedFile(Frozen):
    """`looked/<variant>.json`: a job adds to it, and a change of looks or gate removes nothing."""

    entries: list[Looked] = []


def remember_looks(path: Path, result: VariantResult) -> VariantResult:
    """Add what a job did to its variant's file, and tell the result of other rules that saw some of the same runs.

    Runs are told by their ids, so fresh seeds, other options and other data start anew.

    Args:
        path: ``results/<spec>/looked/<variant>.json``.
        result: of the job that just ended.

    Raises:
        InputError: the file is damaged, or cannot be written.
    """
    rule = result.decided_by
    if rule is None or not result.runs:
        return result
    kept = read_model(path, LookedFile).entries if path.exists() else []
    ids = {run.run_id for run in result.runs}
    before = [e.decided_by for e in kept if e.decided_by != rule and ids & set(e.runs)]
    now = Looked(decided_by=rule, runs=sorted(ids))
    if now not in kept:
        write_atomically(path, LookedFile(entries=[*kept, now]).model_dump_json(indent=2) + "\n")
    return result.model_copy(update={"looked_before": list(dict.fromkeys(before))})
