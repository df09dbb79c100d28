"""An exact variant against its reference, each through its own batches, features and model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from harness.batches.batch import Batch
from harness.graphs.store import open_graph
from harness.models.parity import Side, parity, parity_models
from harness.records.results import Parity
from harness.runs.execute import assemble, settle, translated
from harness.runs.request import RunRequest
from harness.runs.seeding import derived_seed


def run_parity(reference: RunRequest, variant: RunRequest, report: Callable[[str], None]) -> Parity:
    """Logits and gradients of both on the same weights and the first training batch, dropout off, float32.

    Each side's batch and features come the way its training is fed: by its own options, from its own store, through
    its own loader. So a cache or a loader's thread which returned other rows, or a variant that is not exact at all
    (another fan-out), would show.

    Args:
        reference, variant: requests with one seed and one graph.

    Returns:
        State ``differs`` also without numbers, where batches, precision or the network's shape contradict exactness;
        ``not-checked`` where one of the models is another class, whose weights cannot be matched.

    Raises:
        Unsupported: the variant cannot be had here.
    """
    device = settle(variant)
    report("load")
    graph = open_graph(Path(variant.graph_path))
    report("prepare")
    if (reference.model.class_path, reference.model.args) != (variant.model.class_path, variant.model.args):
        return _without_numbers("not-checked", "the models are of another class and cannot be given the same weights")
    if reference.model != variant.model:
        return _without_numbers("differs", "the models differ, so they cannot have the same weights")
    if reference.training != variant.training:
        mine, its = variant.training.model_dump(), reference.training.model_dump()
        changed = ", ".join(key for key in mine if mine[key] != its[key])
        return _without_numbers("differs", f"training differs ({changed}), so the variant is not exact")
    if reference.options.precision != variant.options.precision:
        asked = f"{reference.options.precision} and {variant.options.precision}"
        return _without_numbers("differs", f"precision differs ({asked}): no exact variant, whatever it is in float32")
    with translated():
        report("train")
        models = parity_models(
            variant.model,
            graph.num_features,
            graph.num_classes,
            reference.options,
            variant.options,
            derived_seed(variant.seed, "weights"),
            [Path(variant.spec_dir)],
            graph.meta.edge_features,
        )
        pairs = zip((reference, variant), models, strict=True)
        runs = [assemble(request, graph, device, model) for request, model in pairs]
        fed = [run.trainer.first_fed() for run in runs]
        if not _same(*(first.batch for first in fed)):
            return _without_numbers("differs", "the first training batches differ, so the variant is not exact")
        sides = [
            Side(run.model, first.x, first.batch.blocks, first.targets, first.labels)
            for run, first in zip(runs, fed, strict=True)
        ]
        found = parity(*sides)
    report("done")
    return found


def _same(one: Batch, other: Batch) -> bool:
    """Whether nodes, targets and every layer's edges are equal, and these weigh the same but for rounding."""
    if len(one.blocks) != len(other.blocks):
        return False
    pairs = [(one.nodes, other.nodes), (one.targets, other.targets)]
    for a, b in zip(one.blocks, other.blocks, strict=True):
        pairs += [(a.indptr, b.indptr), (a.indices, b.indices)]
    weights = [(a.edge_weight, b.edge_weight) for a, b in zip(one.blocks, other.blocks, strict=True)]
    return all(np.array_equal(a, b) for a, b in pairs) and all(_weigh_the_same(a, b) for a, b in weights)


def _weigh_the_same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """None is a weight of 1 for every edge; another backend rounds otherwise."""
    if one is None or other is None:
        return one is other
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=0.0)


def _without_numbers(state: Literal["differs", "not-checked"], note: str) -> Parity:
    return Parity(state=state, max_abs_logit=0.0, max_abs_difference=0.0, gradient_cosine=0.0, note=note)
