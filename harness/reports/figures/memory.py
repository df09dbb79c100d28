"""The figure of peak memory: measured, beside what was estimated before the run."""

from __future__ import annotations

import statistics
from typing import Any

from harness.plan.model import Plan
from harness.reports.digits import bytes_text
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, PHONE, WIDE, Figure, names_axis, some, svg, values_of
from harness.verdicts.model import Verdicts


def memory(plan: Plan, verdicts: Verdicts) -> Figure:
    """Measured peak against the estimate made before the run."""
    title = "Peak memory, measured and estimated"
    rows = _memory_rows(plan, verdicts)
    if not any(r["kind"] == "measured" for r in rows):
        return Figure("memory", title, "", missing="Not drawn: no timing run recorded its peak memory.")
    names = list(dict.fromkeys(r["variant"] for r in rows))
    caption = (
        "Circle: measured peak of the timing processes, over what they held after their imports. Diamond: estimate "
        "from nodes, edges, sizes and options, made before anything ran. A wide distance means that something is "
        "held which the estimate does not know, or never allocated."
    )
    unknown = [n for n in names if not any(r["variant"] == n and r["kind"] == "estimated" for r in rows)]
    if len(unknown) == len(names):
        caption += " No estimate was made."
    elif unknown:
        caption += f" Without an estimate: {some(unknown)}."
    absent = [c.variant for c in verdicts.comparisons if c.memory.variant_bytes is None and c.verdict != "skipped"]
    if absent:
        caption += f" Not measured: {some(absent)}."
    drawn = [_memory_svg(rows, names, width) for width in (WIDE, NARROW)]
    data = FigureData(("variant", "kind", "bytes"), [(r["variant"], r["kind"], r["bytes"]) for r in rows])
    return Figure("memory", title, caption, *drawn, data=data)


def _memory_rows(plan: Plan, verdicts: Verdicts) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    references: dict[str, list[int]] = {}
    for c in verdicts.comparisons:
        if c.memory.reference_bytes is not None:
            references.setdefault(c.reference, []).append(c.memory.reference_bytes)
    for name, measured in references.items():
        label = f"{clean(name)} (ref.)"
        rows.append({"variant": label, "kind": "measured", "bytes": round(statistics.median(measured))})
        estimate = plan.cells[name].estimate.memory_bytes if name in plan.cells else None
        if estimate is not None:
            rows.append({"variant": label, "kind": "estimated", "bytes": estimate})
    for c in verdicts.comparisons:
        if c.memory.variant_bytes is not None:
            rows.append({"variant": clean(c.variant), "kind": "measured", "bytes": c.memory.variant_bytes})
            if c.memory.estimated_bytes is not None:
                rows.append({"variant": clean(c.variant), "kind": "estimated", "bytes": c.memory.estimated_bytes})
    return rows


def _memory_svg(rows: list[dict[str, Any]], names: list[str], over_all: int) -> str:
    import altair as alt

    y, margin = names_axis(names, over_all)
    width = over_all - margin - 64
    most = max(r["bytes"] for r in rows) or 1
    unit, size = next(
        (u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0)) if most >= s or s == 1.0
    )
    rows = [r | {"amount": r["bytes"] / size, "text": bytes_text(r["bytes"])} for r in rows]
    rows = [r | {"hover": f"{r['variant']}: {r['text']} {r['kind']}"} for r in rows]
    scale = alt.Scale(domain=[0.0, 1.02 * most / size], nice=False)
    x = alt.X(
        "amount:Q", title=f"peak memory, {unit}", scale=scale, axis=alt.Axis(tickCount=5 if over_all > PHONE else 3)
    )
    kinds = ["measured", "estimated"]
    colours = alt.Scale(domain=kinds, range=["#0072b2", "#b26a00"])
    shapes = alt.Scale(domain=kinds, range=["circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1)
    points = (
        alt.Chart(values_of(rows))
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=colours, legend=legend),
            shape=alt.Shape("kind:N", scale=shapes, legend=legend),
            description="hover:N",
        )
    )
    spans = _spans(rows)
    joins = (
        alt.Chart(values_of(spans))
        .mark_rule(color=MUTED, strokeWidth=1.5)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
    )
    ends = alt.Chart(values_of(spans)).mark_text(align="left", dx=9, fontSize=11, color=INK)
    texts = ends.encode(x=alt.X("high:Q", scale=scale), y=y, text="text:N")
    chart = alt.layer(joins, points, texts).properties(width=width, height=alt.Step(24))
    return svg(chart, f"memory-{over_all}")


def _spans(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each variant the range from one value to the other, and the measured value as text."""
    found = []
    for name in dict.fromkeys(r["variant"] for r in rows):
        amounts = {r["kind"]: r for r in rows if r["variant"] == name}
        values = [r["amount"] for r in amounts.values()]
        found.append({"variant": name, "low": min(values), "high": max(values), "text": amounts["measured"]["text"]})
    return found
