"""`harness init`: a first spec for a data set."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.completion import data_sets
from harness.commands.plans import plan_of
from harness.spec.errors import InputError, Problem
from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.plan.model import Plan


def init(
    target: Annotated[
        str,
        typer.Argument(
            help="wordnet, synthetic, pyg:Planetoid/Cora, ogb:ogbn-arxiv, or a file: edges, or an npz of plain arrays.",
            autocompletion=data_sets,
        ),
    ],
    features: Annotated[str | None, typer.Option(help="Beside edges: npy or npz, a row a node.")] = None,
    labels: Annotated[str | None, typer.Option(help="Beside edges: csv, tsv, npy, npz or parquet.")] = None,
    edge_features: Annotated[str | None, typer.Option(help="Beside edges: npy, a row an edge.")] = None,
    split: Annotated[str | None, typer.Option(help="npz with train, val, test: node ids or masks.")] = None,
    directed: Annotated[bool, typer.Option("--directed", help="Messages go from source to target alone.")] = False,
    half: Annotated[bool, typer.Option("--half", help="Try half precision on a CPU that is slow at it too.")] = False,
    hours: Annotated[
        float, typer.Option(min=0.01, help="Of training and timing, by a guess: decides on seeds and variants.")
    ] = 1.0,
    name: Annotated[str | None, typer.Option(help="Of the spec; default: my- and the data set's.")] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Default: specs/<name>.yaml.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there.")] = False,
) -> None:
    """Look at a data set, prepare it, and write a spec that validates, plans and runs as it is.

    Its comments say why each value was chosen.
    """
    from rich.console import Console

    from harness.drafts.draft import Wishes, draft_spec
    from harness.drafts.place import modeline, refuse_name_of_other, schema_beside, spec_path, write
    from harness.drafts.target import GivenFiles, dataset_section, default_name
    from harness.drafts.yaml_text import yaml_text
    from harness.plan.machine import probe
    from harness.reports.terminal import bullets, plan_totals, say

    name = _checked_name(name or (default_name(target) if output is None else output.stem))
    path = spec_path(name, output, force)
    refuse_name_of_other(name, path)
    section = dataset_section(target, GivenFiles(features, labels, edge_features, split), path.parent)
    machine = probe(cache_root())
    given = {"--features": features, "--labels": labels, "--edge-features": edge_features, "--split": split}
    words = [word for option, value in given.items() if value is not None for word in (option, value)]
    words += [option for option, on in (("--directed", directed), ("--half", half)) if on]
    words += [] if hours == 1.0 else ["--hours", f"{hours:g}"]
    command = shlex.join(["harness", "init", target, *words])
    draft = draft_spec(command, name, section, path, machine, Wishes(directed, half, hours), _to_stderr)
    schema = schema_beside(path)
    written = write(path, yaml_text(draft, modeline(path, schema)), schema)
    made = _plan(path)
    console = Console()
    left_out = draft.block("variants").keys(offered=True)
    say(console, draft.heading[0])
    say(console, f"Written: {path}{f', and {schema} for editors' if written else ''}", style="bold")
    if left_out:
        say(console, f"Left out, as comments that say why: {', '.join(left_out)}")
    plan_totals(made, console)
    bullets(console, "Warnings", made.warnings, most=None)
    console.print()
    say(console, "Next", style="bold")
    for command in _next(path, made.spec):
        say(console, command, fold=False)


def _checked_name(name: str) -> str:
    from harness.spec.load import RESERVED
    from harness.spec.schema import NAME

    if name.casefold() in RESERVED:
        raise InputError(
            Problem("--name", f"'{name}' is a folder of results/ that the harness uses itself; give another")
        )
    if not re.fullmatch(NAME, name):
        message = f"'{name}' is no spec's name: letters, digits, '.', '_' and '-', 80 at most; give --name"
        raise InputError(Problem("--name", message))
    return name


def _to_stderr(line: str) -> None:
    print(f"{line} ...", file=sys.stderr, flush=True)


def _plan(path: Path) -> Plan:
    """What the file that was written expands to, read as any spec is."""
    from harness.prepared import refined

    made: Plan = refined(plan_of(path))
    return made


def _next(path: Path, name: str) -> list[str]:
    """The commands that show and run it."""
    spec = shlex.quote(str(path))
    run = f"snakemake --cores 2 --config spec={spec}"
    if path == Path("specs") / f"{name}.yaml":
        run = f"snakemake --cores 2 results/{name}/report.html"
    workflow = Path(__file__).resolve().parents[2] / "Snakefile"
    if not Path("Snakefile").is_file() and workflow.is_file():
        run = run.replace("snakemake", f"snakemake --snakefile {shlex.quote(str(workflow))}", 1)
    return [f"harness plan {spec}", run]
