"""`harness compare`: two results folders, of two versions or two machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.commands import completion
from harness.commands.names import names_in
from harness.commands.results import read_results
from harness.records.files import read_model

if TYPE_CHECKING:
    from harness.verdicts.across.folder import ResultsFolder


def compare(
    a: Annotated[
        Path, typer.Argument(help="results/<spec> of one checkout.", autocompletion=completion.results_folders)
    ],
    b: Annotated[
        Path,
        typer.Argument(
            help="Of the other; its accuracy is held against A's.", autocompletion=completion.results_folders
        ),
    ],
    allow: Annotated[str, typer.Option(help="All that may differ, comma-separated, e.g. torch,numpy.")] = "",
    form: Annotated[Literal["table", "md", "json"], typer.Option("--format", help="What is printed.")] = "table",
    fail_on: Annotated[str, typer.Option(help="Exit code 1 on: reject (a drop is shown), dnf.")] = "",
) -> None:
    """Say what differs between two results, and what it did to accuracy, gains and verdicts.

    Other data, another split or metric, or no options in common cannot be compared: exit code 2.
    """
    from rich.console import Console

    from harness.reports.across import across_markdown, across_table
    from harness.verdicts.across.compare import compare as compare_folders

    states = {"reject": "fail", "dnf": "dnf"}
    failing = names_in("--fail-on", fail_on, states, "outcomes") if fail_on else []
    found = compare_folders(_opened(a), _opened(b), allow)
    if form == "json":
        print(found.model_dump_json(indent=2))
    elif form == "md":
        print(across_markdown(found), end="")
    else:
        across_table(found, Console())
    if any(cell.accuracy.state == states[name] for cell in found.cells for name in failing):
        raise typer.Exit(1)


def _opened(path: Path) -> ResultsFolder:
    """A results folder with all that is in it."""
    from harness.plan.model import Plan
    from harness.verdicts.across.files import other_version, refuse_incomplete
    from harness.verdicts.across.folder import ResultsFolder
    from harness.verdicts.model import Verdicts

    folder = path.parent if path.suffix == ".json" else path
    refuse_incomplete(folder)
    remedy = {"remedy": other_version(folder)}
    made = read_model(folder / "plan.json", Plan, **remedy)
    variants, timings = read_results(folder, made, **remedy)
    verdicts = read_model(folder / "verdicts.json", Verdicts, **remedy)
    return ResultsFolder(str(folder), made, variants, timings, verdicts)
