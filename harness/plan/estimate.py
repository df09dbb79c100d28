"""Memory and time of a run before it runs, from sizes and options; by the plan's sizes, or the prepared graph's."""

from __future__ import annotations

from pathlib import Path

from harness.plan.batch_shapes import layer_shapes
from harness.plan.capabilities import lacks_a_cache, lacks_edge_attributes
from harness.plan.coarse_test_set import coarse
from harness.plan.cost import epoch_seconds
from harness.plan.memory_parts import memory_parts
from harness.plan.model import Cell, Estimate, Plan, VariantPlan
from harness.plan.sizes import Sizes, prepared_meta, prepared_sizes, sizes_or_none
from harness.spec.option_paths import Settings

OVER = 1.5  # a peak of more than so many times the estimate is flagged


def estimate(settings: Settings, sizes: Sizes | None, device: str) -> Estimate:
    """Of one cell; empty where the sizes are not known yet, or the model is not ours."""
    if sizes is None or settings.model.class_path is not None:
        return Estimate()
    layers = layer_shapes(settings, sizes)
    parts = memory_parts(settings, sizes, layers, device)
    seconds = epoch_seconds(settings, sizes, layers)
    return Estimate(memory_bytes=sum(parts.values()), parts=parts, epoch_s=float(f"{seconds:.2g}"))


def refined(plan: Plan, cache_dir: Path, device: str) -> Plan:
    """The plan with estimates and warnings from the prepared graph, where there is one.

    The plan's files keep what the spec alone tells: they must not change when a graph has been prepared, or all
    jobs would run again.
    """
    meta = prepared_meta(cache_dir, plan.dataset.dataset_id)
    sizes = sizes_or_none(meta)
    if sizes is None:
        return plan
    cells = {n: _estimated(c, sizes, device) for n, c in plan.cells.items()}
    unfit = [
        f"{name} will end unsupported: {reason}"
        for name, cell in cells.items()
        for reason in (
            lacks_edge_attributes(cell.model, meta.get("edge_features")),
            lacks_a_cache(cell.options, sizes.nodes, sizes.features),
        )
        if reason is not None
    ]
    warnings = [*meta.get("warnings", []), *coarse(plan, meta.get("test_nodes", 0)), *plan.warnings, *unfit]
    return plan.model_copy(update={"cells": cells, "warnings": warnings})


def refined_job(job: VariantPlan, cache_dir: Path, device: str) -> VariantPlan:
    """Likewise for the jobs of one variant."""
    sizes = prepared_sizes(cache_dir, job.dataset_id)
    if sizes is None:
        return job
    reference = None if job.reference is None else _estimated(job.reference, sizes, device)
    return job.model_copy(update={"cell": _estimated(job.cell, sizes, device), "reference": reference})


def _estimated(cell: Cell, sizes: Sizes, device: str) -> Cell:
    settings = Settings(model=cell.model, training=cell.training, options=cell.options)
    return cell.model_copy(update={"estimate": estimate(settings, sizes, device)})
