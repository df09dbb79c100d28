"""The command line: joins the stages, prints what a person reads, and turns outcomes into exit codes.

Exit codes: 0 for outcomes (a failed run is an outcome: it has a row), 2 for bad input, 1 for a fault of the harness.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from harness import __version__
from harness.commands import completion
from harness.commands import init as init_command
from harness.commands import status as status_command
from harness.commands.folders import results_folder
from harness.prepared import graph_folder, refined
from harness.records.files import read_model
from harness.reports.column_names import COLUMN_NAMES
from harness.spec.errors import InputError, Problem
from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.graphs.graph import Graph
    from harness.plan.model import Plan, VariantPlan
    from harness.records.results import VariantResult
    from harness.spec.claims import Claim
    from harness.spec.schema import Seeds
    from harness.verdicts.across.folder import ResultsFolder
    from harness.verdicts.claims.ledger import ClaimOutcome
    from harness.verdicts.model import Verdicts

app = typer.Typer(
    name="harness",
    help="Benchmarks and ablations for the training of graph neural networks. Start with `snakemake --cores 2`.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

RESULTS, CLAIMS = Path("results"), Path("specs") / "claims"
confirm = typer.Typer(help="Train and time what is recommended together, on fresh seeds.", no_args_is_help=True)
app.add_typer(confirm, name="confirm")
app.command("init", short_help="Write a commented spec for a data set, after a look at it.")(init_command.init)
app.command("status", short_help="Show what is done, running and failed, what is left, and the verdicts so far.")(
    status_command.status
)

JOBS = ("prepare", "run", "time", "recommend", "confirm", "analyze", "report")  # what Snakemake calls

Output = Annotated[Path, typer.Option("--output", help="File to write.")]


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        print(f"harness {__version__}")
        raise typer.Exit


# What a person calls


@app.command()
def validate(
    specs: Annotated[list[Path], typer.Argument(help="Specs to check.", autocompletion=completion.spec_files)],
) -> None:
    """Check specs; every mistake is shown as file:line:column."""
    from harness.spec.cells import named_patches
    from harness.spec.load import load_spec

    problems: list[Problem] = []
    for path in specs:
        try:
            spec = load_spec(path)
            cells = sum(len(named_patches(name, variant)) for name, variant in spec.variants.items())
            print(f"{path}: ok ({spec.name}, {cells} variants)")
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)


@app.command(short_help="Show what will run, what it costs, and what is skipped.")
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
        _power(spec, sd, pilot, true_drop, as_json)
        return
    if sd or pilot is not None or true_drop:
        raise InputError(Problem("plan", "--sd, --pilot and --true-drop belong to --power; give that too"))
    made = refined(_make_plan(spec))
    if as_json:
        print(made.model_dump_json(indent=2, by_alias=True))
        return
    from rich.console import Console

    from harness.plan.partitions import planned_partitions
    from harness.reports.terminal import plan_table

    plan_table(made, Console(), planned_partitions(made, cache_root()))


@app.command()
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


@app.command(short_help="Say what a run needs and this machine has, lacks or does badly.")
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


@app.command()
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

    wanted = _names("--status", statuses, FAILED, "failed statuses")
    folder = results_folder(target)
    made = read_model(folder / "plan.json", Plan)
    resting = last_files(folder)
    if variant or timing:
        _refuse_control(variant, timing)
        variants = _names("--variant", variant, made.cells, "variants of this plan") if variant else []
        timings = _names("--timing", timing, [CONTROL, *made.cells], "timings of this plan") if timing else []
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


@app.command(short_help="Compare two results folders: two versions of code or library, or two machines.")
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
    failing = _names("--fail-on", fail_on, states, "outcomes") if fail_on else []
    found = compare_folders(_opened(a), _opened(b), allow)
    if form == "json":
        print(found.model_dump_json(indent=2))
    elif form == "md":
        print(across_markdown(found), end="")
    else:
        across_table(found, Console())
    if any(cell.accuracy.state == states[name] for cell in found.cells for name in failing):
        raise typer.Exit(1)


@app.command()
def claims(
    claim: Annotated[
        str | None, typer.Argument(help="One claim in detail, e.g. A4.", autocompletion=completion.claim_ids)
    ] = None,
    form: Annotated[Literal["text", "md", "json"], typer.Option("--format", help="For a terminal, or files.")] = "text",
    short: Annotated[bool, typer.Option("--summary", help="Of Markdown only the table of a README.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Measure results/<spec> again, into claims.json.")] = False,
) -> None:
    """Show which of the articles' claims hold, by this folder's results, else by the committed ones."""
    from harness.spec.load_claims import load_claims
    from harness.verdicts.claims.files import lookup_under
    from harness.verdicts.claims.ledger import ledger

    entries = load_claims(CLAIMS)
    if write:
        for spec in dict.fromkeys(test.spec for entry in entries for test in entry.tests):
            if not (RESULTS / spec / "plan.json").is_file():
                continue
            try:
                print(f"{_write_claims(RESULTS / spec, entries)}: written", file=sys.stderr)
            except InputError as error:  # of one spec: the others are measured all the same
                print(f"warning: {error}", file=sys.stderr)
    if claim is not None:
        known = [entry.id for entry in entries]
        entries = tuple(entry for entry in entries if entry.id == claim.upper())
        if not entries:
            raise InputError(Problem("claims", f"'{claim}' is no claim; there are {', '.join(known)}"))
    _show_claims(ledger(entries, lookup_under(RESULTS)), form, short, detailed=claim is not None)


def _show_claims(outcomes: list[ClaimOutcome], form: str, short: bool, detailed: bool) -> None:
    from rich.console import Console

    from harness.reports.claims import markdown, terminal

    if form == "json":
        print(json.dumps([outcome.model_dump(mode="json") for outcome in outcomes], indent=2))
    elif form == "md":
        print((markdown.summary if short else markdown.whole)(outcomes), end="")
    elif detailed:
        terminal.claim_details(outcomes[0], Console())
    else:
        terminal.ledger_table(outcomes, Console())


# What Snakemake calls; each also works by hand


@app.command()
def prepare(
    source: Annotated[
        Path, typer.Argument(help="A spec, or results/<spec>/plan/dataset.json.", autocompletion=completion.spec_files)
    ],
    output: Annotated[Path | None, typer.Option("--output", help="File that will name the prepared graph.")] = None,
    partitions: Annotated[
        bool, typer.Option(help="Of a spec, also make the partitions that its first seed needs.")
    ] = True,
) -> None:
    """Turn a data set into one graph on disk, shared by all runs; of a spec, cut it as its first seed needs it.

    What Snakemake calls has the data set's section alone: there each run makes the partitions that it needs.
    """
    from rich.console import Console

    from harness.graphs.prepare import prepare as prepare_graph
    from harness.graphs.store import open_graph
    from harness.plan.model import DatasetPlan
    from harness.records.files import write_atomically
    from harness.reports.terminal import say
    from harness.verdicts.wording import plural

    made = None if source.suffix == ".json" else _make_plan(source)
    section = read_model(source, DatasetPlan) if made is None else made.dataset
    folder = prepare_graph(section.dataset, section.dataset_id, Path(section.spec_dir))
    graph = open_graph(folder)
    meta = graph.meta
    if output is not None:
        write_atomically(output, json.dumps({"graph": str(folder), "meta": meta.model_dump()}, indent=2) + "\n")
    console = Console()
    attributes = f" with {plural(meta.edge_features, 'attribute')} each" if meta.edge_features else ""
    say(
        console,
        f"Graph '{meta.name}': {meta.num_nodes:,} nodes, {meta.num_edges:,} edges{attributes}, "
        f"{meta.num_features:,} features, {meta.num_classes} classes; {meta.train_nodes:,} train, "
        f"{meta.val_nodes:,} val, {meta.test_nodes:,} test ({meta.split} split)",
    )
    for warning in meta.warnings:
        say(console, f"warning: {warning}")
    if made is not None:
        _check_weights(made, graph)
    if made is not None and partitions:
        _make_partitions(made, graph)


@app.command()
def run(plan_file: Annotated[Path, typer.Argument(help="results/<spec>/plan/<variant>.json")], output: Output) -> None:
    """Train all seeds of one variant, look by look, one process a run."""
    from harness.plan.model import VariantPlan
    from harness.records.files import write_atomically
    from harness.records.looked import remember_looks
    from harness.reports.progress import Reporter
    from harness.runs.job import run_variant
    from harness.verdicts.decide import accuracy_decided

    todo = refined(read_model(plan_file, VariantPlan))
    folder = plan_file.parent.parent
    reporter = Reporter(folder, "run", plan_file.stem)
    decide = accuracy_decided(todo.gate, todo.seeds.looks)
    result = run_variant(todo, graph_folder(folder), folder.parent, decide=decide, progress=reporter)
    reporter.finished()
    result = remember_looks(folder / "looked" / f"{plan_file.stem}.json", result)
    write_atomically(output, result.model_dump_json(indent=2) + "\n")


@app.command()
def time(plan_file: Annotated[Path, typer.Argument(help="results/<spec>/plan/<variant>.json")], output: Output) -> None:
    """Time a variant against its reference in fresh processes, A B B A, alone on the machine.

    A variant that could not train, or whose reference could not, is not timed: its file says why.
    """
    from harness.plan.model import VariantPlan
    from harness.records.files import write_atomically
    from harness.reports.progress import Reporter
    from harness.runs.timing import not_worth_timing, time_variant
    from harness.verdicts.decide import speed_decided

    todo = refined(read_model(plan_file, VariantPlan))
    folder = plan_file.parent.parent
    reporter = Reporter(folder, "time", plan_file.stem)
    quality = _quality(folder, todo)
    skipped = None if quality is None else not_worth_timing(todo, quality)
    if skipped is not None:
        reporter(f"{todo.cell.name} is not timed: {skipped.reason}")
        write_atomically(output, skipped.model_dump_json(indent=2) + "\n")
        return
    itself = todo.reference is not None and todo.cell.cell_id == todo.reference.cell_id
    decide = speed_decided(todo.gate, todo.timing, "control" if itself else todo.goal)
    result = time_variant(todo, graph_folder(folder), folder.parent, decide=decide, progress=reporter)
    reporter.finished()
    write_atomically(output, result.model_dump_json(indent=2) + "\n")


@app.command()
def recommend(plan_file: Annotated[Path, typer.Argument(help="results/<spec>/plan.json")], output: Output) -> None:
    """Join the accepted variants, and freeze what confirms them on fresh seeds."""
    from harness.confirming import write_recommendation
    from harness.plan.model import Plan

    made = refined(read_model(plan_file, Plan))
    found = write_recommendation(made, *_results(plan_file.parent, made), output)
    print(f"{made.spec}: recommended together: {', '.join(found.names) or 'nothing, since no variant was accepted'}")


@confirm.command("run")
def confirm_run(
    file: Annotated[Path, typer.Argument(help="results/<spec>/recommended.json")],
    name: Annotated[str, typer.Argument(help="baseline, recommended, or without-<variant>")],
    output: Output,
) -> None:
    """Train one cell of the confirmation on fresh seeds; write at once where the variant is no part of the stack."""
    from harness.confirming import train

    train(file, name, output)


@confirm.command("time")
def confirm_time(file: Annotated[Path, typer.Argument(help="results/<spec>/recommended.json")], output: Output) -> None:
    """Time the stack, each part left out and the stack's floors, one after the other, alone on the machine."""
    from harness.confirming import time_all

    time_all(file, output)


@app.command()
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
    variants, timings = _results(plan_file.parent, made)
    if looks:
        made, variants = at_other_looks(made, variants, _looks_of(looks))
    verdicts = judge_all(made, variants, timings, read_confirmed(plan_file.parent, made))
    if output is None:
        from rich.console import Console

        from harness.reports.terminal import verdict_table

        verdict_table(verdicts, Console())
        return
    write_atomically(output, verdicts.model_dump_json(indent=2) + "\n")


@app.command()
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
        str, typer.Option("--columns", help=f"With --format, comma-separated: {', '.join(COLUMN_NAMES)}.")
    ] = "",
) -> None:
    """Write the page and the tables, or print the verdicts."""
    if everything:
        _write_index(targets or [], show or form is not None or bool(columns))
        return
    if form is not None or columns:
        _print_table(targets or [], form, columns, show)
        return
    from harness.plan.model import Plan
    from harness.verdicts.model import Verdicts

    if not targets and not show:
        raise InputError(Problem("report", "which results? give results/<spec>, or results/<spec>/plan.json"))
    if not targets:  # a grid that made no verdicts, e.g. by `snakemake --until run`
        print("No verdicts yet: `snakemake --cores 2 results/<spec>/report.html` makes them.")
    for target in targets or []:
        folder = target.parent if target.suffix == ".json" else target
        verdicts = read_model(folder / "verdicts.json", Verdicts)
        if show:
            _show_verdicts(verdicts, folder)
        else:
            from harness.reports.report import write_report

            made = refined(read_model(folder / "plan.json", Plan))
            write_report(made, verdicts, *_results(folder, made), folder, _tested_claims(folder, made.spec))


def _plan_since(verdicts: Verdicts, folder: Path) -> Plan | None:
    """The plan of a folder, where the verdicts in it are of an earlier one; committed results have none."""
    from harness.plan.confirmation import plan_id
    from harness.plan.model import Plan

    plan_file = folder / "plan.json"
    made = read_model(plan_file, Plan) if plan_file.is_file() else None
    return made if made is not None and verdicts.of_another(plan_id(made)) else None


def _show_verdicts(verdicts: Verdicts, folder: Path) -> None:
    """Print them; where the plan has changed since, e.g. after `snakemake --until run`, only how to make them anew."""
    from rich.console import Console

    from harness.reports.details import command
    from harness.reports.terminal import say, verdict_table

    made = _plan_since(verdicts, folder)
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
    targets: list[Path], form: Literal["md", "tex", "csv", "json"] | None, columns: str, show: bool
) -> None:
    """One table of the verdicts of all targets, to the screen; their plans are not needed."""
    from harness.reports.columns import chosen
    from harness.reports.table_forms import table_text
    from harness.verdicts.model import Verdicts

    if form is None or show:
        what = "--show is a form of its own" if show else "--columns belongs to --format; give that too"
        raise InputError(Problem("report", what))
    if not targets:
        raise InputError(Problem("report", "which results? give results/<spec>, or several"))
    wanted = chosen(columns) if columns else None
    folders = [target.parent if target.suffix == ".json" else target for target in targets]
    found = [read_model(folder / "verdicts.json", Verdicts) for folder in folders]
    for verdicts, folder in zip(found, folders, strict=True):
        if _plan_since(verdicts, folder) is not None:
            print(f"warning: {folder}: verdicts of an earlier plan than plan.json", file=sys.stderr)
    print(table_text(found, form, wanted), end="")


def _tested_claims(folder: Path, spec: str) -> list[ClaimOutcome]:
    """The claims that a spec's results test, measured now and kept beside them; none where there is no ledger.

    A mistake in the ledger is said and costs the report its section, not the grid its report.
    """
    from harness.spec.load_claims import load_claims
    from harness.verdicts.claims.files import lookup_under, wanted_of
    from harness.verdicts.claims.ledger import ledger

    try:
        entries = load_claims(CLAIMS) if CLAIMS.is_dir() else ()
    except InputError as error:
        print(f"warning: the report says nothing of claims: {error}", file=sys.stderr)
        return []
    tested = [entry for entry in entries if wanted_of([entry], spec)]
    if not tested:
        return []
    _write_claims(folder, entries)
    return ledger(tested, lookup_under(folder.parent))


def _write_claims(folder: Path, entries: tuple[Claim, ...]) -> Path:
    """Measure what the claims ask of a spec's results; the file is all that the ledger needs of them."""
    from harness.plan.model import Plan
    from harness.records.files import write_atomically
    from harness.reports.details import command
    from harness.verdicts.claims.files import FILE, wanted_of
    from harness.verdicts.claims.measure import measure_all
    from harness.verdicts.claims.results import SpecResults

    def results_of(spec: str) -> SpecResults | None:
        place = folder.parent / spec
        if not (place / "plan.json").is_file():
            return None
        made = read_model(place / "plan.json", Plan)
        return SpecResults(made, *_results(place, made), place)

    results = results_of(folder.name)
    assert results is not None  # asked only of folders with a plan
    found = measure_all(results, wanted_of(entries, folder.name), results_of, command(results.plan))
    path = folder / FILE
    write_atomically(path, found.model_dump_json(indent=1) + "\n")
    return path


def _power(spec: Path, sds: list[float] | None, pilot: Path | None, true_drop: float, as_json: bool) -> None:
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
        found = judge_all(made, *_results(folder, made))
    if found.gate.metric != metric:
        raise InputError(Problem(str(folder), f"its metric is {found.gate.metric}, the spec's {metric}"))
    return found


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


def _make_plan(path: Path) -> Plan:
    from harness.plan.expand import make_plan
    from harness.plan.machine import probe
    from harness.spec.load import load_spec

    return make_plan(load_spec(path), path, probe(cache_root()))


def _check_weights(made: Plan, graph: Graph) -> None:
    """The files that importance sampling draws by, before a run finds them wrong."""
    from harness.batches.sampling.importance_weights import importance_weights

    drawn = [c.options.sampling for c in made.cells.values() if c.options.batching == "neighbor"]
    files = {s.weights for s in drawn if s.method == "importance" and s.weights.endswith(".npy")}
    for weights in sorted(files):
        importance_weights(graph, weights, Path(made.dataset.spec_dir))
        print(f"weights {weights}: ok")


def _make_partitions(made: Plan, graph: Graph) -> None:
    """Those that the plan's cells need for the first seed, a line each."""
    from harness.graphs import cached_partition
    from harness.plan.partitions import partition_requests

    for request in partition_requests(made):
        print(f"partition {request.label}, seed {request.seed} ...", end=" ", flush=True)
        _, found = cached_partition(
            graph, request.parts, request.method, request.seed, cache_root() / "partitions", request.passes
        )
        when = "was there, made" if found["cached"] else "made"
        print(f"{100 * found['kept_edge_share']:.1f} % of edges kept, {when} in {found['seconds']:.1f} s")


def _quality(folder: Path, job: VariantPlan) -> VariantResult | None:
    """The quality runs of what a timing job shall time, where they are there; the control's are its reference's."""
    from harness.records.results import VariantResult

    path = folder / "variants" / f"{job.cell.name}.json"
    found = read_model(path, VariantResult) if path.exists() else None
    return found if found is not None and found.cell_id == job.cell.cell_id else None


def _results(folder: Path, made: Plan, **remedy: str):
    """The results of a plan's variants and of their timings that are there and of its options, by name."""
    from harness.plan.done import belongs
    from harness.plan.files import variant_plans
    from harness.plan.model import CONTROL
    from harness.records.results import TimingResult, VariantResult

    def there(where: str, names, model):
        files = {name: folder / where / f"{name}.json" for name in names}
        found = {name: read_model(path, model, **remedy) for name, path in files.items() if path.exists()}
        return {name: result for name, result in found.items() if belongs(result, jobs[name])}

    jobs = variant_plans(made)
    timed = [CONTROL, *(c.variant for c in made.comparisons)]
    return there("variants", made.cells, VariantResult), there("timing", timed, TimingResult)


def _names(option: str, text: str, allowed: Iterable[str], what: str) -> list[str]:
    """The names in a comma-separated option, each of which is allowed."""
    names, known = [name.strip() for name in text.split(",") if name.strip()], list(allowed)
    if not names or not set(names) <= set(known):
        raise InputError(Problem(option, f"{text!r} is not a list of {what}; allowed: {', '.join(known)}"))
    return names


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
    variants, timings = _results(folder, made, **remedy)
    verdicts = read_model(folder / "verdicts.json", Verdicts, **remedy)
    return ResultsFolder(str(folder), made, variants, timings, verdicts)


def _same_file(one: TextIO, other: TextIO) -> bool:
    """Whether both go to the same place."""
    try:
        return os.path.sameopenfile(one.fileno(), other.fileno()) or (one.isatty() and other.isatty())
    except (OSError, ValueError):
        return False


def main() -> None:
    """Run the command line; the only place where exceptions become messages and exit codes."""
    # The stderr of Snakemake's jobs goes to a log, so what a person must read goes to the screen too.
    logged = sys.argv[1:2] and sys.argv[1] in JOBS and not _same_file(sys.stderr, sys.stdout)
    streams = {sys.stderr, sys.stdout} if logged else {sys.stderr}
    try:
        app()
    except InputError as error:
        for stream in streams:
            for problem in error.problems:
                print(problem, file=stream)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        traceback.print_exc()
        if sys.stdout in streams:
            print(f"harness: a fault of its own: {type(error).__name__}: {error}", file=sys.stdout)
        sys.exit(1)


if __name__ == "__main__":
    main()
