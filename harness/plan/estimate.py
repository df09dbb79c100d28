"""Memory and cost of a run before it runs, from sizes and options. Both are rough, and say so where they are shown.

Memory is what training adds to a process (CPU: anonymous memory; CUDA: allocated bytes), as the record's peak counts
it. Sampled sizes are expectations for edges that end anywhere: hubs make real batches smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from harness.plan.capabilities import lacks_edge_attributes
from harness.plan.model import Cell, Estimate, Plan, VariantPlan
from harness.plan.sizes import Sizes, prepared_edge_features, prepared_sizes, prepared_warnings
from harness.spec.option_paths import Settings
from harness.spec.options import Options

# One thread of a present CPU, float32; for a guess of the order of magnitude only.
FLOP_S = 8e10  # dense products
BYTE_S = 6e9  # gathers and scatters
BATCH_S = 0.003  # Python and launches of one step
START_S = 1.0  # a process of the timing job: fork, opening the graph, the model
FLOAT = 4
OVER = 1.5  # a peak of more than so many times the estimate is flagged


@dataclass(frozen=True)
class LayerShape:
    """What one layer works on, expected over batches."""

    sources: float
    targets: float
    edges: float
    width_in: int
    width_out: int


def layer_shapes(settings: Settings, sizes: Sizes) -> list[LayerShape]:
    """The expected block of each layer, input layer first."""
    depth = settings.model.layers
    widths = [sizes.features, *[settings.model.hidden] * (depth - 1), sizes.classes]
    kind = settings.options.batching
    if kind == "neighbor":
        rows, hop_edges = _sampled(settings, sizes, _seeds(settings, sizes))
        # layer l, counted from the input, serves all hops but the l outermost
        blocks = [(rows[depth - i], rows[depth - i - 1], sum(hop_edges[: depth - i])) for i in range(depth)]
    else:
        nodes, edges = _whole(settings, sizes)
        blocks = [(nodes, nodes, edges)] * depth
    return [
        LayerShape(sources, targets, edges, widths[i], widths[i + 1])
        for i, (sources, targets, edges) in enumerate(blocks)
    ]


def _seeds(settings: Settings, sizes: Sizes) -> float:
    """Seeds of a batch: the batch size, or as many as a budget lets in."""
    train = float(max(sizes.train_nodes, 1))
    budget = settings.options.sampling.node_edge_budget
    if budget is None:
        return min(float(settings.training.batch_size), train)
    low, high = 1.0, train
    while high - low > 0.5:
        middle = (low + high) / 2
        rows, edges = _sampled(settings, sizes, middle)
        low, high = (middle, high) if rows[-1] * sum(edges) <= budget else (low, middle)
    return low


def _sampled(settings: Settings, sizes: Sizes, seeds: float) -> tuple[list[float], list[float]]:
    """Distinct nodes up to each hop, and edges of each hop: each edge's end is a draw from all nodes."""
    fanout = list(settings.options.sampling.fanout)
    fanout += [fanout[-1]] * (settings.model.layers - len(fanout))
    mean_degree = sizes.edges / max(sizes.nodes, 1)
    rows = [seeds]
    edges = []
    frontier = rows[0]
    for width in fanout:
        hop = frontier * (mean_degree if width < 0 else min(width, mean_degree))
        reached = sizes.nodes - (sizes.nodes - rows[-1]) * math.exp(-hop / max(sizes.nodes, 1))
        frontier = reached - rows[-1]
        rows.append(reached)
        edges.append(hop)
    return rows, edges


def _whole(settings: Settings, sizes: Sizes) -> tuple[float, float]:
    """Nodes and edges of a cluster batch (edges between its parts kept), or of the full graph."""
    partition = settings.options.partition
    if settings.options.batching == "full":
        return float(sizes.nodes), float(sizes.edges)
    share = min(1.0, partition.per_batch / partition.parts)
    inside = {"random": 0.0, "ldg": 0.2}.get(partition.method, 0.6)  # of a part's edges; the rest end in any part
    return sizes.nodes * share, sizes.edges * share * (inside + (1 - inside) * share)


def batches(settings: Settings, sizes: Sizes) -> int:
    """Training steps an epoch."""
    if settings.options.batching == "neighbor":
        return max(1, math.ceil(sizes.train_nodes / _seeds(settings, sizes)))
    if settings.options.batching == "cluster":
        return max(1, math.ceil(settings.options.partition.parts / settings.options.partition.per_batch))
    return 1


def parameters(settings: Settings, layers: list[LayerShape]) -> int:
    """Weights of the model, biases and norms included; of our convolutions."""
    total = 0
    for layer in layers:
        pair = layer.width_in * layer.width_out
        extra = {"sage": pair, "gin": layer.width_out * layer.width_out, "gat": 2 * layer.width_out}
        total += pair + extra.get(settings.model.conv or "", 0) + layer.width_out
        total += 2 * layer.width_out if settings.model.norm != "none" else 0
    return total


def _message_width(settings: Settings, layer: LayerShape) -> int:
    """gcn and gat transform before they propagate, sage and gin after."""
    return layer.width_out if settings.model.conv in ("gcn", "gat") else layer.width_in


def memory_parts(settings: Settings, sizes: Sizes, layers: list[LayerShape], device: str) -> dict[str, int]:
    """Bytes by part: features, cache, block, messages, activations, gradients, parameters, optimiser."""
    options = settings.options
    half = options.precision != "fp32"
    value = FLOAT / 2 if half else FLOAT
    message = FLOAT / 2 if options.precision in ("bf16", "fp16") else FLOAT
    table = sizes.nodes * sizes.features * FLOAT
    rows = layers[0].sources
    messages = [layer.edges * _message_width(settings, layer) * message for layer in layers]
    kept = [layer.targets * (layer.width_in + 3 * layer.width_out) * value for layer in layers]
    if options.checkpointing:
        kept = [max(kept), *(layer.targets * layer.width_out * value for layer in layers[:-1])]
    weights = parameters(settings, layers) * FLOAT
    widest = max(layer.targets * layer.width_out for layer in layers) * value
    parts = {
        "features": table if _held_in_memory(options, device) else 0,
        "cache": min(table, _cache_bytes(options, table)) if options.batching != "full" else 0,
        "loader": max(options.loader.depth, options.loader.threads) * rows * sizes.features * FLOAT
        if options.loader.threads and options.batching != "full"
        else 0,
        "block": rows * sizes.features * FLOAT + sum(layer.edges * 16 + layer.targets * 8 for layer in layers),
        "messages": 0 if options.aggregation == "spmm" else max(messages),
        "activations": sum(kept),
        "gradients": weights + widest,
        "parameters": weights,
        "optimiser": 2 * weights,
    }
    return {name: int(size) for name, size in parts.items()}


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
    flops, moved = 0.0, layers[0].sources * sizes.features * FLOAT
    for index, layer in enumerate(layers):
        passes = 3 if index else 2  # forward, weights' gradient, and inputs' gradient, which features do not need
        products = 2 if settings.model.conv in ("sage", "gin") else 1
        flops += passes * 2 * layer.targets * layer.width_in * layer.width_out * products
        moved += passes * layer.edges * _message_width(settings, layer) * FLOAT
    return batches(settings, sizes) * (BATCH_S + flops / FLOP_S + moved / BYTE_S)


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
