"""Sizes of a batch before it is made: nodes and edges of each layer's block, expected over batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from harness.plan.sizes import Degrees, Sizes
from harness.spec.option_paths import Settings


@dataclass(frozen=True)
class LayerShape:
    """What one layer works on, expected over batches.

    Attributes:
        sources, targets: rows that it reads and makes.
        edges: of the block.
        max_degree: largest number of edges of a target.
        width_in, width_out: of the rows.
    """

    sources: float
    targets: float
    edges: float
    width_in: int
    width_out: int
    max_degree: float = 0.0


def layer_shapes(settings: Settings, sizes: Sizes) -> list[LayerShape]:
    """The expected block of each layer, input layer first."""
    model, depth = settings.model, settings.model.layers
    widths = [sizes.features, *[model.hidden] * (depth - 1), model.hidden if model.jumping != "none" else sizes.classes]
    if settings.options.batching == "neighbor":
        rows, hop_edges = _sampled(settings, sizes, _seeds(settings, sizes))
        # layer l, counted from the input, serves all hops but the l outermost
        blocks = [
            (rows[depth - i], rows[depth - i - 1], sum(hop_edges[: depth - i]), _most(settings, sizes, depth - i))
            for i in range(depth)
        ]
    else:
        nodes, edges = _whole(settings, sizes)
        blocks = [(nodes, nodes, edges, min(nodes, sizes.max_in_degree))] * depth
    return [
        LayerShape(sources, targets, edges, widths[i], widths[i + 1], most)
        for i, (sources, targets, edges, most) in enumerate(blocks)
    ]


def batches(settings: Settings, sizes: Sizes) -> int:
    """Training batches an epoch."""
    if settings.options.batching == "neighbor":
        return max(1, math.ceil(sizes.train_nodes / _seeds(settings, sizes)))
    if settings.options.batching == "cluster":
        return max(1, math.ceil(settings.options.partition.parts / settings.options.partition.per_batch))
    return 1


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


def _most(settings: Settings, sizes: Sizes, hops: int) -> float:
    """Largest number of neighbours drawn for a node of the first so many hops."""
    widest = max((sizes.max_in_degree if width < 0 else width) for width in _fanout(settings)[:hops])
    return float(min(widest, sizes.max_in_degree or widest))


def _fanout(settings: Settings) -> list[int]:
    fanout = list(settings.options.sampling.fanout)
    return fanout + [fanout[-1]] * (settings.model.layers - len(fanout))


def _sampled(settings: Settings, sizes: Sizes, seeds: float) -> tuple[list[float], list[float]]:
    """Distinct nodes up to each hop, and edges of each hop, by a mean field over classes of nodes of like degrees.

    Seeds are drawn evenly from all nodes. A node of in-degree d draws min(d, fan-out) neighbours; each draw reaches a
    node with a chance in proportion to its out-degree, whoever draws. So hubs are reached again and again, and once.
    """
    classes = sizes.degrees or _alike(sizes)
    nodes = sum(c.nodes for c in classes) or 1
    starts = sum(c.nodes * c.out_degree for c in classes) or 1.0
    reached = [c.nodes * min(1.0, seeds / nodes) for c in classes]
    frontier, rows, edges = list(reached), [seeds], []
    for width in _fanout(settings):
        drawn = _drawn(width)
        hop = sum(count * drawn(c) for count, c in zip(frontier, classes, strict=True))
        left = [(c.nodes - r) * math.exp(-hop * c.out_degree / starts) for c, r in zip(classes, reached, strict=True)]
        now = [c.nodes - stay for c, stay in zip(classes, left, strict=True)]
        frontier = [after - before for after, before in zip(now, reached, strict=True)]
        reached = now
        rows.append(sum(reached))
        edges.append(hop)
    return rows, edges


def _drawn(width: int) -> Callable[[Degrees], float]:
    """Neighbours drawn for a node, on average over a class."""
    return lambda c: c.in_degree if width < 0 else min(float(width), c.in_degree)


def _alike(sizes: Sizes) -> tuple[Degrees, ...]:
    """One class, where no more is known than the mean degree."""
    mean = sizes.edges / max(sizes.nodes, 1)
    return (Degrees(sizes.nodes, mean, mean),)


def _whole(settings: Settings, sizes: Sizes) -> tuple[float, float]:
    """Nodes and edges of a cluster batch (edges between its parts kept), or of the full graph."""
    partition = settings.options.partition
    if settings.options.batching == "full":
        return float(sizes.nodes), float(sizes.edges)
    share = min(1.0, partition.per_batch / partition.parts)
    inside = {"random": 0.0, "ldg": 0.2}.get(partition.method, 0.85)  # of a part's edges; the rest end in any part
    return sizes.nodes * share, sizes.edges * share * (inside + (1 - inside) * share)
