"""The figure of a batch as it was drawn: targets in the middle, and ring by ring what their hops reached."""

from __future__ import annotations

import math
from collections.abc import Mapping

from harness.plan.model import BASELINE
from harness.records.drawn_batch import DrawnBatch
from harness.records.results import VariantResult
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, PHONE, WIDE, Figure, svg, values_of
from harness.verdicts.wording import plural

_TITLE = "A sampled batch"
_INKS = ("#c8400a", "#0072b2", "#8fc7ec", "#b26a00", "#6e7781")  # by hop; a fifth hop and later ones share the last
_SHAPES = ("diamond", "circle", "square", "triangle-up", "cross")


def sampled_subgraph(variants: Mapping[str, VariantResult]) -> Figure:
    """The baseline's first targets with the neighbourhood that its sampler drew."""
    result = variants.get(BASELINE)
    if result is None or result.drawn_batch is None:
        why = "the baseline's job kept no batch" if result is None or not result.not_drawn else result.not_drawn
        return Figure("batch", _TITLE, "", missing=f"Not drawn: no batch to show: {why}.")
    batch = result.drawn_batch
    fanout = ", ".join("all" if k < 0 else str(k) for k in batch.fanout)
    caption = (
        f"The first {plural(batch.targets, 'target')} of the baseline's training, with the neighbours that its own "
        f"sampler drew for them ({batch.method}, fan-out {fanout}, its first seed): targets innermost, each further "
        f"ring a hop. A line leads from a node to the one whose message it enters; a node that several draw appears "
        f"once. {batch.num_nodes:,} nodes, {batch.num_edges:,} edges."
    )
    if batch.num_nodes > len(batch.nodes):
        caption += f" Only the first {len(batch.nodes)} nodes reached are drawn, with the edges among them."
    return Figure("batch", _TITLE, caption, _svg(batch, WIDE), _svg(batch, NARROW), data=_data(batch))


def _data(batch: DrawnBatch) -> FigureData:
    headings = ("source", "destination", "hop", "source_degree", "destination_degree")
    rows = [
        (batch.nodes[s], batch.nodes[d], batch.hops[d] + 1, batch.degrees[s], batch.degrees[d]) for s, d in batch.edges
    ]
    return FigureData(headings, rows)


def places(batch: DrawnBatch) -> list[tuple[float, float]]:
    """Where each node lies, within a circle of radius 1: rings by hop, each node near what first drew it.

    A node's share of its ring is what the outermost nodes below it need (Eades 1992, radial trees), so that lines of
    the tree do not cross; the other edges may.
    """
    parents: dict[int, int] = {}
    for source, destination in batch.edges:
        if batch.hops[source] == batch.hops[destination] + 1:
            parents.setdefault(source, destination)
    children: dict[int, list[int]] = {}
    for child in sorted(parents):
        children.setdefault(parents[child], []).append(child)
    orphans = [n for n in range(len(batch.nodes)) if n not in parents]  # targets, in their order
    leaves = [1] * len(batch.nodes)
    for node in reversed(range(len(batch.nodes))):
        leaves[node] = max(1, sum(leaves[child] for child in children.get(node, [])))
    angle, begins = [0.0] * len(batch.nodes), {}
    turn = 2.0 * math.pi / sum(leaves[n] for n in orphans)
    start = 0.0
    for node in orphans:
        begins[node] = start
        start += turn * leaves[node]
    for node in range(len(batch.nodes)):  # parents come before children: they were reached first
        angle[node] = begins[node] + 0.5 * turn * leaves[node]
        start = begins[node]
        for child in children.get(node, []):
            begins[child] = start
            start += turn * leaves[child]
    rings = max(batch.hops) + (0 if batch.targets == 1 else 0.6)
    inner = 0.0 if batch.targets == 1 else 0.6
    radii = [(inner + hop) / rings if rings else 0.0 for hop in batch.hops]
    return [(r * math.cos(a), r * math.sin(a)) for r, a in zip(radii, angle, strict=True)]


def _svg(batch: DrawnBatch, over_all: int) -> str:
    import altair as alt

    size = 460 if over_all > PHONE else over_all - 30
    at = places(batch)
    kinds = ["target", *(f"hop {hop}" for hop in range(1, max(batch.hops) + 1))]
    drew = [0] * len(batch.nodes)
    for _, destination in batch.edges:
        drew[destination] += 1
    nodes = [
        {"x": x, "y": y, "kind": kinds[batch.hops[i]], "hover": _hover(batch, i, drew[i])}
        for i, (x, y) in enumerate(at)
    ]
    edges = [
        {"x": at[s][0], "y": at[s][1], "x2": at[d][0], "y2": at[d][1], "first": batch.hops[d] == 0}
        for s, d in batch.edges
    ]
    plane = alt.Scale(domain=[-1.04, 1.04], nice=False)
    x, y = (alt.X("x:Q", scale=plane, axis=None), alt.Y("y:Q", scale=plane, axis=None))
    inks, shapes = ([marks[min(i, len(marks) - 1)] for i in range(len(kinds))] for marks in (_INKS, _SHAPES))
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1)
    lines = (
        alt.Chart(values_of(edges))
        .mark_rule(strokeWidth=0.9)
        .encode(
            x=x,
            y=y,
            x2="x2:Q",
            y2="y2:Q",
            color=alt.condition("datum.first", alt.value(INK), alt.value(MUTED)),
            opacity=alt.condition("datum.first", alt.value(0.75), alt.value(0.4)),
        )
    )
    points = (
        alt.Chart(values_of(nodes))
        .mark_point(size=62, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=inks), legend=legend),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=legend),
            description="hover:N",
        )
    )
    return svg(alt.layer(lines, points).properties(width=size, height=size), f"batch-{over_all}")


def _hover(batch: DrawnBatch, node: int, drew: int) -> str:
    hop = batch.hops[node]
    words = "a target" if hop == 0 else f"reached in hop {hop}"
    asked = f", {drew} drawn" if hop < len(batch.fanout) and batch.num_nodes == len(batch.nodes) else ""
    return f"node {batch.nodes[node]}: {words}; {plural(batch.degrees[node], 'neighbour')} in the graph{asked}"
