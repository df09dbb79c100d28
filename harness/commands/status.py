"""`harness status`: where a grid stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.completion import spec_names
from harness.commands.folders import results_folder

if TYPE_CHECKING:
    from harness.plan.model import Plan


def status(
    target: Annotated[
        str, typer.Argument(help="A spec, its name, or its folder under results/.", autocompletion=spec_names)
    ],
    live: Annotated[
        bool, typer.Option("--live", "--watch", help="Look again and again until nothing is left, or Ctrl-C.")
    ] = False,
    every: Annotated[float, typer.Option(min=0.2, help="With --live: seconds between two looks.")] = 2.0,
) -> None:
    """Show what is done, under way and failed, what is left, and the verdicts so far.

    It reads what the jobs have left and takes no lock, so that it can be called beside any grid.
    """
    from rich.console import Console

    from harness.reports.standing import Watcher
    from harness.reports.status import status_table, watch

    watcher = Watcher(results_folder(target), _refined)
    if live:
        watch(watcher, Console(), every)
    else:
        status_table(watcher.look(), Console())


def _refined(plan: Plan) -> Plan:
    from harness.prepared import refined

    made: Plan = refined(plan)
    return made
