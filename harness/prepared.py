"""What the commands ask of the graph that a spec prepared: its folder, and estimates from its sizes."""

from __future__ import annotations

from pathlib import Path

from harness.records.files import read_model
from harness.spec.places import cache_root


def refined(made):
    """A plan, or one variant's, with estimates from the prepared graph where there is one."""
    from harness.plan.estimate import refined as refined_plan
    from harness.plan.estimate import refined_job
    from harness.plan.machine import probe
    from harness.plan.model import Plan

    device = probe(cache_root()).device(made.device)
    return (refined_plan if isinstance(made, Plan) else refined_job)(made, cache_root(), device)


def graph_folder(folder: Path) -> Path:
    """The prepared graph of a spec; prepared now where the cache was cleared or moved since."""
    from harness.graphs.prepare import prepare as prepare_graph
    from harness.plan.model import DatasetPlan

    section = read_model(folder / "plan" / "dataset.json", DatasetPlan)
    return prepare_graph(section.dataset, section.dataset_id, Path(section.spec_dir))
