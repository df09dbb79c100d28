"""The figure of partitions: the edges that they keep, and how evenly they share out nodes, edges and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, PHONE, WIDE, Figure, names_axis, some, svg, values_of
from harness.verdicts.model import Verdicts

_TITLE = "Quality of the partitions"
_BALANCED = {"nodes": ("#0072b2", "circle"), "edges": ("#b26a00", "diamond"), "train": ("#00785a", "square")}
_KEPT = "#8fc7ec"


def partitions(verdicts: Verdicts) -> Figure:
    """A row a variant that trains on parts of the graph: what is inside parts, and the largest part over the mean."""
    rows = [row for c in verdicts.comparisons if (row := _row(clean(c.variant), c.counters)) is not None]
    if not rows:
        missing = "Not drawn: no variant that ran has a partitioned graph."
        return Figure("partitions", _TITLE, "", missing=missing)
    caption = (
        "Bars: the share of edges with both ends in one part; the rest is the edge cut. The upright mark is what a "
        "random partition into parts of these sizes keeps. The ring is the share of edges that the batches held, with "
        "the edges between the parts joined in a batch. Below or beside it, the largest part over the mean part, in "
        "nodes, in edges and in training nodes, on a logarithmic scale: 1 is even."
    )
    odd = [r["variant"] for r in rows if r["empty"]]
    if odd:
        caption += f" With empty parts: {some(odd)}."
    return Figure("partitions", _TITLE, caption, _svg(rows, WIDE), _svg(rows, NARROW), data=_data(rows))


def _row(name: str, counters: Mapping[str, Any]) -> dict[str, Any] | None:
    """None where no partition was counted."""
    found = counters.get("partition")
    if not found:
        return None
    kept, over = found["kept_edge_share"], found.get("kept_over_random")
    chance = kept / over if over else None
    balance = found["balance"]
    method = f"{found['method']}, {found['parts']} parts"
    hover = f"{name} ({method}): {100 * kept:.1f} % of edges inside parts, {100 * found['edge_cut']:.1f} % cut"
    if chance is not None:
        hover += f"; at random {100 * chance:.1f} % inside"
    return {
        "variant": name,
        "method": found["method"],
        "parts": found["parts"],
        "empty": found["parts"] - found.get("non_empty_parts", found["parts"]),
        "cut": found["edge_cut"],
        "kept": kept,
        "chance": chance,
        "held": counters.get("kept_edge_share"),
        **{f"balance_{kind}": balance.get(kind) for kind in _BALANCED},
        "hover": hover,
    }


def _data(rows: list[dict[str, Any]]) -> FigureData:
    columns = ("variant", "method", "parts", "empty", "cut", "kept", "chance", "held")
    headings = ("variant", "method", "parts", "empty_parts", "edge_cut", "kept_in_parts", "kept_at_random")
    balance = tuple(f"balance_{kind}" for kind in _BALANCED)
    rows_of = [[row[name] for name in (*columns, *balance)] for row in rows]
    return FigureData((*headings, "kept_in_batches", *balance), rows_of)


def _svg(rows: list[dict[str, Any]], over_all: int) -> str:
    import altair as alt

    wide = over_all > PHONE
    names = [r["variant"] for r in rows]
    y, margin = names_axis(names, over_all)
    width = (over_all - margin - 56) // 2 if wide else over_all - margin - 24
    kept = _kept(rows, y, width, wide)
    bare = alt.Y("variant:N", title=None, sort=names, axis=None) if wide else y
    balance = _balance(rows, bare, width, wide)
    joined = alt.hconcat(kept, balance, spacing=24) if wide else alt.vconcat(kept, balance, spacing=18)
    return svg(joined.resolve_scale(color="independent", shape="independent"), f"partitions-{over_all}")


def _kept(rows: list[dict[str, Any]], y: Any, width: int, wide: bool) -> Any:
    import altair as alt

    most = max(max(r["kept"], r["held"] or 0.0, r["chance"] or 0.0) for r in rows)
    share = alt.Scale(domain=[0.0, min(1.0, 1.1 * most) or 1.0], nice=False)
    axis = alt.Axis(format="~%", tickCount=5 if wide else 4, labelFlush=False)
    base = alt.Chart(values_of(rows))
    layers = [
        base.mark_bar(height=12, color=_KEPT).encode(
            x=alt.X("kept:Q", title="share of edges kept", scale=share, axis=axis), y=y, description="hover:N"
        )
    ]
    random = [
        r | {"hover": f"{r['variant']}: random parts keep {100 * r['chance']:.1f} %"}
        for r in rows
        if r["chance"] is not None
    ]
    if random:
        ticks = alt.Chart(values_of(random)).mark_tick(color=INK, thickness=3, size=18)
        layers.append(ticks.encode(x=alt.X("chance:Q", scale=share), y=y, description="hover:N"))
    held = [
        r | {"hover": f"{r['variant']}: batches held {100 * r['held']:.1f} %"} for r in rows if r["held"] is not None
    ]
    if held:
        rings = alt.Chart(values_of(held)).mark_point(size=80, filled=False, color=INK, strokeWidth=1.8, opacity=1)
        layers.append(rings.encode(x=alt.X("held:Q", scale=share), y=y, description="hover:N"))
    return alt.layer(*layers).properties(width=width, height=alt.Step(26))


def _balance(rows: list[dict[str, Any]], y: Any, width: int, wide: bool) -> Any:
    import altair as alt

    points = [
        {
            "variant": r["variant"],
            "of": kind,
            "balance": r[f"balance_{kind}"],
            "hover": f"{r['variant']}: the largest part has {r[f'balance_{kind}']:.2f} times the mean in {words}",
        }
        for r in rows
        for kind, words in (("nodes", "nodes"), ("edges", "edges"), ("train", "training nodes"))
        if r[f"balance_{kind}"]
    ]
    highest = max((p["balance"] for p in points), default=1.0)
    domain = alt.Scale(type="log", domain=[0.97, max(1.6, 1.15 * highest)], nice=False)
    ticks = [t for t in (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500) if t <= max(1.6, 1.15 * highest)]
    if highest > 4:
        ticks = [t for t in ticks if t not in (1.2, 1.5, 3)]
    kinds = list(_BALANCED)
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1)
    inks, shapes = ([_BALANCED[k][i] for k in kinds] for i in (0, 1))
    x = alt.X(
        "balance:Q",
        title="largest part over the mean",
        scale=domain,
        axis=alt.Axis(values=ticks, labelExpr="format(datum.value, '~g') + '×'"),
    )
    even = alt.Chart(values_of([{"even": 1.0}])).mark_rule(color=MUTED).encode(x=alt.X("even:Q", scale=domain))
    marks = (
        alt.Chart(values_of(points))
        .mark_point(size=70, filled=False, strokeWidth=2, opacity=1)  # hollow: balances often coincide
        .encode(
            x=x,
            y=y,
            color=alt.Color("of:N", scale=alt.Scale(domain=kinds, range=inks), legend=legend),
            shape=alt.Shape("of:N", scale=alt.Scale(domain=kinds, range=shapes), legend=legend),
            description="hover:N",
        )
    )
    return alt.layer(even, marks).properties(width=width, height=alt.Step(26))
