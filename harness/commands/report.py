"""`harness report`: verdicts to the page and the tables, or to the screen."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.commands import completion
from harness.commands.claims import tested_claims
from harness.commands.folders import RESULTS, judged_folder
from harness.commands.results import read_results
from harness.prepared import refined
from harness.records.files import read_model
from harness.reports.column_names import COLUMN_NAMES
from harness.spec.errors import InputError, Problem

if TYPE_CHECKING:
    from harness.verdicts.model import Verdicts


def report(
    targets: Annotated[
        list[Path] | None,
        typer.Argument(help="results/<spec>/plan.json, or results/<spec>.", autocompletion=completion.results_folders),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Only print the verdicts, write nothing.")] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Write index.html and index.md over all specs below results/, or a folder."),
    ] = False,
    form: Annotated[
        Literal["md", "tex", "csv", "json"] | None,
        typer.Option("--format", help="Only print one table of the verdicts; `harness schema --of table` says more."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help=f"With --format, comma-separated: {', '.join(COLUMN_NAMES)}.")
    ] = None,
) -> None:
    """Write the page and the tables, or print the verdicts."""
    if everything:
        _write_index(targets or [], show or form is not None or columns is not None)
        return
    if form is not None or columns is not None:
        _print_table(targets or [], form, columns, show)
        return
    from harness.plan.model import Plan
    from harness.verdicts.model import Verdicts

    if not targets and not show:
        raise InputError(Problem("report", "which results? give results/<spec>, or results/<spec>/plan.json"))
    if not targets:  # a grid that made no verdicts, e.g. by `snakemake --until run`
        print("No verdicts yet: `snakemake --cores 2 results/<spec>/report.html` makes them.")
    for target in targets or []:
        folder = judged_folder(target)
        verdicts = read_model(folder / "verdicts.json", Verdicts)
        if show:
            _show_verdicts(verdicts, folder)
        else:
            from harness.reports.report import write_report

            if not (folder / "plan.json").is_file():
                what = "results without their plan.json are read with --show or --format; a page needs the plan too"
                raise InputError(Problem(str(folder), what))
            _refuse_earlier_verdicts(verdicts, folder)
            made = refined(read_model(folder / "plan.json", Plan))
            write_report(made, verdicts, *read_results(folder, made), folder, tested_claims(folder, made.spec))


def _refuse_earlier_verdicts(verdicts: Verdicts, folder: Path) -> None:
    """A page of one plan's question and gate over another's verdicts would be false.

    Raises:
        InputError: the verdicts are of an earlier plan than the one beside them.
    """
    from harness.reports.earlier_plan import plan_since

    if plan_since(verdicts, folder) is None:
        return
    file = folder / "verdicts.json"
    again = shlex.join(["harness", "analyze", str(folder), "--output", str(file)])
    what = (
        f"these verdicts are of an earlier plan than {folder / 'plan.json'}; `{again}` judges what is there by "
        "the plan of now, and `snakemake` runs what it lacks"
    )
    raise InputError(Problem(str(file), what))


def _show_verdicts(verdicts: Verdicts, folder: Path) -> None:
    """Print them; where the plan has changed since, e.g. after `snakemake --until run`, only how to make them anew."""
    from rich.console import Console

    from harness.reports.details import command
    from harness.reports.earlier_plan import plan_since
    from harness.reports.terminal import say, verdict_table

    made = plan_since(verdicts, folder)
    if made is None:
        verdict_table(verdicts, Console(), folder)
        return
    say(
        Console(),
        f"{made.spec}: the verdicts and the report in {folder} are of an earlier plan than {folder / 'plan.json'}, and "
        "are not shown. This makes them anew:",
    )
    print(command(made))


def _write_index(roots: list[Path], other_forms: bool) -> None:
    """Over all specs of each folder; specs that are left out are said."""
    from harness.reports.index import write_index

    if other_forms:
        raise InputError(Problem("report", "--all writes index.html and index.md; --show and --format go without it"))
    for root in roots or [RESULTS]:
        if not root.is_dir():
            raise InputError(Problem(str(root), "no such folder; give one that holds results/<spec>, or none"))
        for line in write_index(root):
            print(f"left out: {line}", file=sys.stderr)
        print(f"{root / 'index.html'} and {root / 'index.md'}: written")


def _print_table(
    targets: list[Path], form: Literal["md", "tex", "csv", "json"] | None, columns: str | None, show: bool
) -> None:
    """One table of the verdicts of all targets, to the screen; their plans are not needed."""
    from harness.reports.columns import chosen
    from harness.reports.earlier_plan import plan_since
    from harness.reports.table_forms import table_text
    from harness.verdicts.model import Verdicts

    if form is None or show:
        what = "--show is a form of its own" if show else "--columns belongs to --format; give that too"
        raise InputError(Problem("report", what))
    if not targets:
        raise InputError(Problem("report", "which results? give results/<spec>, or several"))
    wanted = None if columns is None else chosen(columns)
    folders = list(dict.fromkeys(judged_folder(target) for target in targets))
    found = [read_model(folder / "verdicts.json", Verdicts) for folder in folders]
    for verdicts, folder in zip(found, folders, strict=True):
        if plan_since(verdicts, folder) is not None:
            print(f"warning: {folder}: verdicts of an earlier plan than plan.json", file=sys.stderr)
    print(table_text(found, form, wanted), end="")
