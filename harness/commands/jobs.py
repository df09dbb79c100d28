"""The jobs that measure, each a call of Snakemake's rules: `harness run`, `time`, `recommend` and `confirm`.

Each also works by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.results import read_results
from harness.prepared import check_metric, graph_folder, refined
from harness.records.files import read_model

if TYPE_CHECKING:
    from harness.plan.model import VariantPlan
    from harness.records.results import VariantResult

Output = Annotated[Path, typer.Option("--output", help="File to write.")]


def run(plan_file: Annotated[Path, typer.Argument(help="results/<spec>/plan/<variant>.json")], output: Output) -> None:
    """Train all seeds of one variant, look by look, one process a run."""
    from harness.graphs.store import open_graph
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
    graph = graph_folder(folder)
    check_metric(open_graph(graph), todo.gate.metric)
    result = run_variant(todo, graph, folder.parent, decide=decide, progress=reporter)
    reporter.finished()
    result = remember_looks(folder / "looked" / f"{plan_file.stem}.json", result)
    write_atomically(output, result.model_dump_json(indent=2) + "\n")


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


def recommend(plan_file: Annotated[Path, typer.Argument(help="results/<spec>/plan.json")], output: Output) -> None:
    """Join the accepted variants, and freeze what confirms them on fresh seeds."""
    from harness.confirming import write_recommendation
    from harness.plan.model import Plan

    made = refined(read_model(plan_file, Plan))
    found = write_recommendation(made, *read_results(plan_file.parent, made), output)
    print(f"{made.spec}: recommended together: {', '.join(found.names) or 'nothing, since no variant was accepted'}")


def confirm_run(
    file: Annotated[Path, typer.Argument(help="results/<spec>/recommended.json")],
    name: Annotated[str, typer.Argument(help="baseline, recommended, or without-<variant>")],
    output: Output,
) -> None:
    """Train one cell of the confirmation on fresh seeds; write at once where the variant is no part of the stack."""
    from harness.confirming import train

    train(file, name, output)


def confirm_time(file: Annotated[Path, typer.Argument(help="results/<spec>/recommended.json")], output: Output) -> None:
    """Time the stack, each part left out and the stack's floors, one after the other, alone on the machine."""
    from harness.confirming import time_all

    time_all(file, output)


def _quality(folder: Path, job: VariantPlan) -> VariantResult | None:
    """The quality runs of what a timing job shall time, where they are there; the control's are its reference's."""
    from harness.records.results import VariantResult

    path = folder / "variants" / f"{job.cell.name}.json"
    found = read_model(path, VariantResult) if path.exists() else None
    return found if found is not None and found.cell_id == job.cell.cell_id else None
