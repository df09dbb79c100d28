"""`harness validate`, `plan`, `schema` and `doctor`: what a person looks at before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.commands import completion
from harness.commands.plans import plan_of
from harness.prepared import check_metric, refined
from harness.spec.errors import InputError, Problem
from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.plan.model import Plan


def validate(
    specs: Annotated[list[Path], typer.Argument(help="Specs to check.", autocompletion=completion.spec_files)],
) -> None:
    """Check specs; every mistake is shown as file:line:column."""
    from harness.spec.cells import named_patches
    from harness.spec.load import load_spec

    problems: list[Problem] = []
    named: dict[str, Path] = {}
    for path in specs:
        try:
            spec = load_spec(path)
            first = named.setdefault(spec.name, path)
            if first.resolve() != path.resolve():
                why = f"its name '{spec.name}' is that of {first} too, and with it results/{spec.name}; change one"
                raise InputError(Problem(str(path), why))
            cells = sum(len(named_patches(name, variant)) for name, variant in spec.variants.items())
            print(f"{path}: ok ({spec.name}, {cells} variants)")
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)


def plan(
    spec: Annotated[
        Path, typer.Argument(help="A spec, e.g. specs/quickstart.yaml.", autocompletion=completion.spec_files)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    power: Annotated[bool, typer.Option("--power", help="Say instead how many seeds the gate will need.")] = False,
    sd: Annotated[
        list[float] | None, typer.Option(help="With --power: a spread of paired differences, pp; may be repeated.")
    ] = None,
    pilot: Annotated[
        Path | None,
        typer.Option(
            help="With --power: results/<spec> of a pilot, for its variants' spreads.",
            autocompletion=completion.results_folders,
        ),
    ] = None,
    true_drop: Annotated[float, typer.Option(help="With --power: the drop that variants are taken to have, pp.")] = 0.0,
) -> None:
    """Show what a spec expands to before anything runs: counts, costs, memory, skipped cells and why."""
    if power:
        from harness.commands.power import show_seeds_needed

        show_seeds_needed(spec, sd, pilot, true_drop, as_json)
        return
    if sd or pilot is not None or true_drop:
        raise InputError(Problem("plan", "--sd, --pilot and --true-drop belong to --power; give that too"))
    made = refined(plan_of(spec))
    _check_metric(made)
    if as_json:
        print(made.model_dump_json(indent=2, by_alias=True))
        return
    from rich.console import Console

    from harness.plan.partitions import planned_partitions
    from harness.reports.terminal import plan_table

    plan_table(made, Console(), planned_partitions(made, cache_root()))


def _check_metric(made: Plan) -> None:
    """Of a graph that has been prepared already; preparation itself refuses what cannot be judged."""
    from harness.graphs.prepare import prepared_path
    from harness.graphs.store import open_graph

    folder = prepared_path(made.dataset.dataset_id)
    if made.gate.metric != "accuracy" and folder.is_dir():
        check_metric(open_graph(folder), made.gate.metric)


def schema(
    form: Annotated[Literal["json", "md"], typer.Option("--format", help="For editors, or for readers.")] = "json",
    of: Annotated[
        Literal["spec", "table"], typer.Option("--of", help="A spec, or what `report --format json` prints.")
    ] = "spec",
) -> None:
    """Print the schema of a spec, or of a table of verdicts: JSON for editors, or a table of all keys."""
    if of == "table":
        from harness.reports.table_schema import table_page, table_schema_text

        print(table_schema_text() if form == "json" else table_page(), end="")
        return
    from harness.spec.json_schema import schema_text
    from harness.spec.option_table import option_table

    print(schema_text() if form == "json" else option_table(), end="")


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Look at versions, accelerator, libraries, threads, memory, disks and load, and compute for a second.

    Exit code 1 if something makes every run impossible, else 0.
    """
    from harness.doctor.examination import examine
    from harness.doctor.finding import Diagnosis
    from harness.doctor.lines import lines_of, summary

    sections = []
    for section in examine():
        sections.append(section)
        if not as_json:
            print("\n".join(lines_of(section)), flush=True)
    found = Diagnosis(sections=tuple(sections))
    print(found.model_dump_json(indent=2) if as_json else "\n".join(summary(found)))
    if not found.can_run:
        raise typer.Exit(1)
