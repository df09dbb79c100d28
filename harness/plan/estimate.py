"""Memory and cost of a run before it runs, from sizes and options. Both are rough, and say so where they are shown.

Memory is what training adds to a process (CPU: anonymous memory; CUDA: allocated bytes), as the record's peak counts
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.plan.batch_shapes import LayerShape, batches, layer_shapes
from harness.plan.capabilities import lacks_edge_attributes
from harness.plan.model import Cell, Estimate, Plan, VariantPlan
from harness.plan.sizes import Sizes, prepared_edge_features, prepared_sizes, prepared_warnings
from harness.plan.step_memory import FLOAT, LONG, StepMemory
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options

# One thread of a present CPU, float32; for a guess of the order of magnitude only.
FLOP_S = 8e10  # dense products
BYTE_S = 6e9  # gathers and scatters
SUM_BYTE_S = 12e9  # the same sums by spmm and segment, which write no messages or read them once
BATCH_S = 0.003  # Python and launches of one step
START_S = 1.0  # a process of the timing job: fork, opening the graph, the model
PROCESS = 1_500_000  # bytes that any training adds to its process
A_NODE = 56  # bytes of the arrays with an entry a node: labels, sampler's maps, counts
HEAP = 2.1  # glibc's heap over the most that lies in it at once: tensors of many sizes come and go, and leave holes
OVER = 1.5  # a peak of more than so many times the estimate is flagged


def parameters(settings: Settings, layers: list[LayerShape], sizes: Sizes) -> int:
    """Weights of the model, biases and norms included; of our convolutions."""
    model, total = settings.model, 0
    for index, layer in enumerate(layers):
        last = index == len(layers) - 1 and model.jumping == "none"
        total += _convolution_parameters(model, layer, last, sizes.edge_features)
        if not last:
            total += _norm_parameters(model, layer.width_out)
            total += layer.width_in * layer.width_out if model.residual and layer.width_in != layer.width_out else 0
    if model.jumping != "none":
        total += (model.hidden * (len(layers) if model.jumping == "cat" else 1) + 1) * sizes.classes
    return total


def _convolution_parameters(model: Model, layer: LayerShape, last: bool, edge_features: int) -> int:
    into, out = layer.width_in, layer.width_out
    if model.conv == "gin":  # a perceptron of two layers
        hidden = into if last else out
        return (into + 1) * hidden + _norm_parameters(model, hidden) + (hidden + 1) * out
    if model.conv == "gat":  # the last layer's heads have all channels
        return (into + 2) * out * (model.heads if last else 1) + out
    if model.conv == "mpnn":
        return (2 * into + 1 + edge_features + 1) * out
    return (2 * into if model.conv == "sage" else into) * out + out


def _norm_parameters(model: Model, width: int) -> int:
    return 2 * width if model.norm in ("batch", "layer") else 0


def _message_width(settings: Settings, layer: LayerShape) -> int:
    """gcn, gat and mpnn transform before they propagate, sage and gin after."""
    return layer.width_out if settings.model.conv in ("gcn", "gat", "mpnn") else layer.width_in


def memory_parts(settings: Settings, sizes: Sizes, layers: list[LayerShape], device: str) -> dict[str, int]:
    """Bytes by part; docs/memory.md has the formulas.

    Before a step: features, cache, loader, graph, batch (features and edges of one), parameters, gradients of them,
    optimiser. Within it, at its fullest moment: messages, activations, gradients. On the CPU also `allocator`: what
    glibc's heap holds beyond that, of tensors freed before.
    """
    options = settings.options
    step = StepMemory(settings, layers, device).ledger
    stored = FLOAT / 2 if options.precision == "fp16-features" else FLOAT
    table = sizes.nodes * sizes.features * stored
    rows = layers[0].sources * sizes.features * (FLOAT if stored == FLOAT else FLOAT + stored)  # half ones are widened
    weights = parameters(settings, layers, sizes) * FLOAT
    full = options.batching == "full"
    ahead = max(options.loader.depth, options.loader.threads)
    parts = {
        "features": table if full or _held_in_memory(options, device) else 0,
        "cache": 0 if full else min(table, _cache_bytes(options, table)),
        "loader": ahead * rows if options.loader.threads and not full else 0,
        "graph": PROCESS + sizes.nodes * A_NODE if device == "cpu" else 0,
        "batch": (0 if full and stored == FLOAT else rows) + _edge_bytes(settings, layers, sizes.edge_features),
        "messages": step.peak["messages"],
        "activations": step.peak["activations"],
        "gradients": step.peak["gradients"] + weights,
        "parameters": weights,
        "optimiser": 2 * weights,
        "allocator": max(0.0, HEAP * step.heap + step.mapped - sum(step.peak.values())) if device == "cpu" else 0,
    }
    return {name: int(size) for name, size in parts.items()}


def _edge_bytes(settings: Settings, layers: list[LayerShape], edge_features: int) -> float:
    """Index arrays of a batch's blocks, in each form that the model reads."""
    options, looped = settings.options, settings.model.conv in ("gcn", "gat")
    shared = options.batching != "neighbor"
    total = 0.0
    for layer in layers[:1] if shared else layers:
        edges = layer.edges * 2 * LONG + (layer.sources + 2 * layer.targets) * LONG
        read = layer.edges + layer.targets if looped else layer.edges
        if looped:
            edges += read * (2 * LONG + FLOAT)
        if settings.model.reads_edges:
            edges += layer.edges * (edge_features * FLOAT + LONG)  # attributes, and whose they are
        if options.aggregation in ("spmm", "segment"):
            edges += read * 2 * LONG + layer.sources * LONG
        if options.aggregation == "dense":
            edges += layer.targets * (layer.max_degree + looped) * (2 * LONG + 1)
        total += edges
    return total


def _held_in_memory(options: Options, device: str) -> bool:
    """Whether all rows lie in the memory that is counted: the device's."""
    home = options.features.home
    return options.batching != "full" and (home == "device" or (home == "host" and device == "cpu"))


def _cache_bytes(options: Options, table: float) -> float:
    """Of the cache; `auto` at most the table, and not known before the run."""
    features = options.features
    if features.home == "device":
        return 0.0
    if features.cache_bytes is None:
        return table * features.cache_ratio
    return table if features.cache_bytes == "auto" else float(features.cache_bytes)


def epoch_seconds(settings: Settings, sizes: Sizes, layers: list[LayerShape]) -> float:
    """A rough guess of one training epoch on one CPU thread, by products and moved bytes; off by a few times."""
    flops, moved, fetched = 0.0, 0.0, layers[0].sources * sizes.features * FLOAT
    rate = SUM_BYTE_S if settings.options.aggregation in ("spmm", "segment") else BYTE_S
    for index, layer in enumerate(layers):
        passes = 3 if index else 2  # forward, weights' gradient, and inputs' gradient, which features do not need
        passes += settings.options.checkpointing
        products = 2 if settings.model.conv in ("sage", "gin") else 1
        flops += passes * 2 * layer.targets * layer.width_in * layer.width_out * products
        moved += passes * layer.edges * _message_width(settings, layer) * FLOAT
    return batches(settings, sizes) * (BATCH_S + flops / FLOP_S + fetched / BYTE_S + moved / rate)


def estimate(settings: Settings, sizes: Sizes | None, device: str) -> Estimate:
    """Of one cell; empty where the sizes are not known yet, or the model is not ours."""
    if sizes is None or settings.model.class_path is not None:
        return Estimate()
    layers = layer_shapes(settings, sizes)
    parts = memory_parts(settings, sizes, layers, device)
    seconds = epoch_seconds(settings, sizes, layers)
    return Estimate(memory_bytes=sum(parts.values()), parts=parts, epoch_s=float(f"{seconds:.2g}"))


def settings_of_cell(cell: Cell) -> Settings:
    """A cell's options, model and training."""
    return Settings(model=cell.model, training=cell.training, options=cell.options)


def refined(plan: Plan, cache_dir: Path, device: str) -> Plan:
    """The plan with estimates and warnings from the prepared graph, where there is one.

    The plan's files keep what the spec alone tells: they must not change when a graph has been prepared, or all
    jobs would run again.
    """
    sizes = prepared_sizes(cache_dir, plan.dataset.dataset_id)
    if sizes is None:
        return plan
    cells = {n: _estimated(c, sizes, device) for n, c in plan.cells.items()}
    identity = cache_dir, plan.dataset.dataset_id
    edge_features = prepared_edge_features(*identity)
    lacking = {name: lacks_edge_attributes(cell.model, edge_features) for name, cell in cells.items()}
    unfit = [f"{name} will end unsupported: {reason}" for name, reason in lacking.items() if reason is not None]
    return plan.model_copy(update={"cells": cells, "warnings": [*prepared_warnings(*identity), *plan.warnings, *unfit]})


def refined_job(job: VariantPlan, cache_dir: Path, device: str) -> VariantPlan:
    """Likewise for the jobs of one variant."""
    sizes = prepared_sizes(cache_dir, job.dataset_id)
    if sizes is None:
        return job
    reference = None if job.reference is None else _estimated(job.reference, sizes, device)
    return job.model_copy(update={"cell": _estimated(job.cell, sizes, device), "reference": reference})


def _estimated(cell: Cell, sizes: Sizes, device: str) -> Cell:
    return cell.model_copy(update={"estimate": estimate(settings_of_cell(cell), sizes, device)})


@dataclass(frozen=True)
class Cost:
    """Seconds of a whole plan on one process at a time, records of earlier plans not counted; rough."""

    quality_min_s: float  # every comparison decided at the first look, no early stopping
    quality_max_s: float
    timing_min_s: float
    timing_max_s: float


def cost(plan: Plan) -> Cost | None:
    """Runs times epochs times the guess for an epoch; None where an epoch's is unknown."""
    guesses = {name: cell.estimate.epoch_s for name, cell in plan.cells.items()}
    known = {name: seconds for name, seconds in guesses.items() if seconds is not None}
    if len(known) != len(guesses):
        return None
    distinct = {cell.cell_id: name for name, cell in plan.cells.items()}
    a_seed = sum(known[name] * plan.cells[name].training.epochs for name in distinct.values())
    epochs = plan.timing.warmup_epochs + plan.timing.epochs
    reference = next(iter(plan.cells))
    pairs = [(reference, reference), *((c.variant, c.reference) for c in plan.comparisons)]
    # two processes an arm in a block, and a block gives two ratios: as many processes an arm as ratios
    a_ratio = sum(2 * START_S + epochs * (known[v] + known[r]) for v, r in pairs)
    return Cost(
        quality_min_s=a_seed * plan.seeds.looks[0],
        quality_max_s=a_seed * plan.seeds.looks[-1],
        timing_min_s=a_ratio * plan.timing.looks[0],
        timing_max_s=a_ratio * plan.timing.looks[-1],
    )
