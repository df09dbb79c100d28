"""What the commands ask of the graph that a spec prepared: its folder, and estimates from its sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.records.files import read_model
from harness.spec.errors import InputError, Problem
from harness.spec.places import cache_root

if TYPE_CHECKING:
    from harness.graphs.graph import Graph


def refined(made):
    """A plan, or one variant's, with estimates from the prepared graph where there is one."""
    from harness.plan.estimate import refined as refined_plan
    from harness.plan.estimate import refined_job
    from harness.plan.machine import probe
    from harness.plan.model import Plan

    device = probe(cache_root()).device(made.device)
    return (refined_plan if isinstance(made, Plan) else refined_job)(made, cache_root(), device)


def check_metric(graph: Graph, metric: str) -> None:
    """Before hours of training: the metric can be computed on the test nodes.

    Raises:
        InputError: ROC-AUC, and some class has no node among them.
    """
    from harness.graphs.splits import untested_classes

    missing = untested_classes(graph.y, graph.test, graph.meta.class_names) if metric == "roc_auc" else []
    if missing:
        some = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        why = f"roc_auc: no test node is of class {some}, and without one there is no ROC-AUC"
        remedy = "set another metric, or a split that tests every class"
        raise InputError(Problem(graph.meta.name, f"{why}; {remedy}", path="gate.metric"))


def graph_folder(folder: Path) -> Path:
    """The prepared graph of a spec; prepared now where the cache was cleared or moved since."""
    from harness.graphs.prepare import prepare as prepare_graph
    from harness.plan.model import DatasetPlan

    section = read_model(folder / "plan" / "dataset.json", DatasetPlan)
    return prepare_graph(section.dataset, section.dataset_id, Path(section.spec_dir))
