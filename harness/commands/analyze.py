"""`harness analyze`: results to verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import completion
from harness.commands.results import read_results
from harness.prepared import refined
from harness.records.files import read_model
from harness.spec.errors import InputError, Problem

if TYPE_CHECKING:
    from harness.spec.schema import Seeds


def analyze(
    plan_file: Annotated[
        Path,
        typer.Argument(help="results/<spec>/plan.json, or results/<spec>.", autocompletion=completion.results_folders),
    ],
    output: Annotated[Path | None, typer.Option("--output", help="File to write; without it, to the screen.")] = None,
    looks: Annotated[str, typer.Option("--looks", help="What if: other looks at the same seeds, e.g. 3,6.")] = "",
) -> None:
    """Turn the results of all variants into verdicts.

    With --looks the same results are judged at other looks than the spec's; that is exploratory, and marked so.
    """
    from harness.plan.confirmed import read_confirmed
    from harness.plan.model import Plan
    from harness.records.files import write_atomically
    from harness.verdicts.analyze import analyze as judge_all
    from harness.verdicts.what_if import at_other_looks

    if plan_file.is_dir():
        plan_file = plan_file / "plan.json"
    made = refined(read_model(plan_file, Plan))
    variants, timings = read_results(plan_file.parent, made)
    if looks:
        made, variants = at_other_looks(made, variants, _looks_of(looks))
    verdicts = judge_all(made, variants, timings, read_confirmed(plan_file.parent, made))
    if output is None:
        from rich.console import Console

        from harness.reports.terminal import verdict_table

        verdict_table(verdicts, Console())
        return
    write_atomically(output, verdicts.model_dump_json(indent=2) + "\n")


def _looks_of(text: str) -> Seeds:
    """`3,6` as looks.

    Raises:
        InputError: they are not whole, do not increase, or are out of range.
    """
    from pydantic import ValidationError

    from harness.spec.schema import Seeds

    try:
        return Seeds.model_validate({"looks": [int(n) for n in text.split(",")]})
    except (ValidationError, ValueError):
        what = "no looks; give numbers of pairs from 3 to 200 that increase, e.g. --looks 3,6"
        raise InputError(Problem("--looks", f"{text!r}: {what}")) from None
