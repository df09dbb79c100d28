"""`harness retry`: forget results, so that they are made again."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.commands import completion
from harness.commands.folders import results_folder
from harness.commands.names import names_in
from harness.records.files import read_model
from harness.spec.errors import InputError, Problem


def retry(
    target: Annotated[
        str,
        typer.Argument(help="A spec, its name, or its folder under results/.", autocompletion=completion.spec_names),
    ],
    statuses: Annotated[
        str,
        typer.Option("--status", help="Comma-separated statuses to forget.", autocompletion=completion.failed_statuses),
    ] = ("oom,timeout,diverged,error,unsupported,killed"),
    variant: Annotated[
        str,
        typer.Option(
            help="Forget all runs and timings of these instead, comma-separated.", autocompletion=completion.variants
        ),
    ] = "",
    timing: Annotated[
        str,
        typer.Option(help="Likewise, but only their timings; `control` is one too.", autocompletion=completion.timings),
    ] = "",
) -> None:
    """Forget failed records, or all of some variants, so that the next `snakemake` runs them again."""
    from harness.plan.confirmed import read_confirmed
    from harness.plan.model import CONTROL, Plan
    from harness.records.record import FAILED
    from harness.records.retry import forget_failed, forget_results, last_files

    wanted = names_in("--status", statuses, FAILED, "failed statuses")
    folder = results_folder(target)
    made = read_model(folder / "plan.json", Plan)
    resting = last_files(folder)
    if variant or timing:
        _refuse_control(variant, timing)
        variants = names_in("--variant", variant, made.cells, "variants of this plan") if variant else []
        timings = names_in("--timing", timing, [CONTROL, *made.cells], "timings of this plan") if timing else []
        forgotten = forget_results(folder, variants, timings)
        print(f"{folder}: forgotten: {', '.join(forgotten) or 'nothing, there was no result of these'}")
        _say_removed(resting if forgotten else [])
        return
    confirmed = read_confirmed(folder, made)
    plans = [made] if confirmed is None or confirmed.confirmation.plan is None else [confirmed.confirmation.plan, made]
    cells = {cell.cell_id: name for each in plans for name, cell in each.cells.items()}
    forgotten = forget_failed(folder, wanted, cells)
    print(f"{folder}: {len(forgotten)} failed runs forgotten" + (f" ({', '.join(forgotten)})" if forgotten else ""))
    _say_removed(resting if forgotten else [])


def _refuse_control(variant: str, timing: str) -> None:
    """The control is asked for as a variant, which it is not."""
    from harness.plan.model import CONTROL

    names = [name.strip() for name in variant.split(",")]
    if CONTROL not in names:
        return
    others = ",".join(name for name in names if name != CONTROL)
    timings = ",".join(dict.fromkeys([*filter(None, timing.split(",")), CONTROL]))
    remedy = (f"--variant {others} " if others else "") + f"--timing {timings}"
    message = f"`{CONTROL}` is no variant, it is a timing, of the reference against itself; give {remedy}"
    raise InputError(Problem("--variant", message))


def _say_removed(names: list[str]) -> None:
    if names:
        print(f"removed too, since they rest on these: {', '.join(names)}; the next `snakemake` makes them again")
