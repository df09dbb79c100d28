"""`harness prepare`: a data set to one graph on disk. Snakemake calls it; it also works by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands import completion
from harness.commands.plans import plan_of
from harness.prepared import check_metric
from harness.records.files import read_model
from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.graphs.graph import Graph
    from harness.plan.model import Plan


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
    from harness.plan.model import DatasetPlan, Plan
    from harness.records.files import write_atomically
    from harness.reports.terminal import say
    from harness.verdicts.wording import plural

    made = None if source.suffix == ".json" else plan_of(source)
    section = read_model(source, DatasetPlan) if made is None else made.dataset
    whole = source.parent.parent / "plan.json"  # of results/<spec>/plan/dataset.json
    judged = made or (read_model(whole, Plan) if whole.is_file() else None)
    folder = prepare_graph(section.dataset, section.dataset_id, Path(section.spec_dir))
    graph = open_graph(folder)
    meta = graph.meta
    if judged is not None:
        check_metric(graph, judged.gate.metric)
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
