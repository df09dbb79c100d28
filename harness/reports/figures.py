"""The figures, as SVG without a browser or a network. The colours suit colour-blind eyes, and never stand alone."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.plan.model import Plan
from harness.records.record import Stages
from harness.reports.answer import ORDER, metric
from harness.reports.digits import bytes_text, fixed, seconds_text, shortened, shortened_apart
from harness.reports.escaping import clean
from harness.reports.labels import CHARACTER_PX, Box, Label, Point, place_labels, text_box
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict, Verdicts

PHONE = 400  # pixels: what is narrower is laid out for a phone
WIDE, NARROW = 640, 340  # pixels over all: for a page, and for a phone
INK, MUTED, GRID = "#1f2328", "#59636e", "#d1d9e0"  # the page's dark mode replaces these
# After Okabe and Ito (2008), darkened where a thin mark on white needs it.
COLOURS = {
    "accept": "#00785a",
    "enables": "#0072b2",
    "inconclusive": "#b26a00",
    "no-gain": "#6e7781",
    "reject": "#c8400a",
    "dnf": "#8a3b74",
    "skipped": "#6e7781",
}
SHAPES = {
    "accept": "circle",
    "enables": "triangle-up",
    "inconclusive": "diamond",
    "no-gain": "square",
    "reject": "cross",
    "dnf": "triangle-down",
    "skipped": "square",
}
STAGE_COLOURS = {"sample": "#0a66a8", "fetch": "#8fc7ec", "compute": "#e69f00", "update": "#5f6a73"}
_STAGE_INK = {"sample": "#ffffff", "fetch": "#000000", "compute": "#000000", "update": "#ffffff"}
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class Figure:
    """A figure with the sentence that says how to read it; without data, the sentence that says why it is missing."""

    name: str  # figures/<name>.svg
    title: str
    caption: str
    wide: str = ""  # SVG, empty where the data are absent
    narrow: str = ""
    missing: str = ""


def figures(plan: Plan, verdicts: Verdicts) -> list[Figure]:
    """All figures of a report, in their order."""
    return [trade_off(verdicts), stage_shares(verdicts), memory(plan, verdicts)]


# Speed-up against accuracy


def trade_off(verdicts: Verdicts) -> Figure:
    """Speed-up over accuracy change, with both intervals and both limits."""
    gate = verdicts.gate
    title = f"Speed-up against change of {metric(gate)}"
    points = [_point(c) for c in verdicts.comparisons if _measured_both(c)]
    absent = [c.variant for c in verdicts.comparisons if not _measured_both(c) and c.verdict != "skipped"]
    if not points:
        why = f"no variant has both its {metric(gate)} and its speed-up measured"
        return Figure("speed_accuracy", title, "", missing=f"Not drawn: {why}.")
    wide, bare = _trade_off_svg(points, verdicts, WIDE)
    narrow, _ = _trade_off_svg(points, verdicts, NARROW)
    caption = (
        f"Up is faster, right is more accurate; bars are the intervals of the table. A variant passes the accuracy "
        f"gate where its whole bar lies right of the dashed line at {fixed(-gate.max_drop_pp, 2)} pp, and is "
        f"faster where its bar lies above the one at {gate.min_speedup:g} times: the shaded corner. "
        f"The scale of speed-up is logarithmic."
    )
    if any(c.goal == "memory" for c in verdicts.comparisons):
        caption += " A variant that aims at memory may be accepted below the corner: its gain is not its speed."
    if bare:
        caption += f" {bare} points stand too close to others for a name; the table names them in full."
    if absent:
        caption += f" Not drawn, for want of one of the two: {_some(absent)}."
    return Figure("speed_accuracy", title, caption, wide, narrow)


def _measured_both(comparison: ComparisonVerdict) -> bool:
    accuracy = comparison.accuracy
    return accuracy is not None and accuracy.delta_pp is not None and bool(comparison.speed.ratio)


def _point(c: ComparisonVerdict) -> dict[str, Any]:
    assert c.accuracy is not None
    assert c.accuracy.delta_pp is not None
    assert c.speed.ratio is not None
    delta, ratio = c.accuracy.delta_pp, c.speed.ratio
    left, right = c.accuracy.ci_pp or (delta, delta)
    low, high = c.speed.ci or (ratio, ratio)
    return {
        "variant": clean(c.variant),
        "verdict": c.verdict,
        "delta": delta,
        "left": left,
        "right": right,
        "ratio": ratio,
        "low": low,
        "high": high,
    }


@dataclass(frozen=True)
class _Plane:
    """The plot's area: accuracy change across, log of the speed-up upwards."""

    width: int
    height: int
    x: tuple[float, float]
    log_y: tuple[float, float]

    def across(self, delta: float) -> float:
        return (delta - self.x[0]) / (self.x[1] - self.x[0]) * self.width

    def down(self, ratio: float) -> float:
        return (self.log_y[1] - math.log(ratio)) / (self.log_y[1] - self.log_y[0]) * self.height

    def at(self, left: float, top: float) -> tuple[float, float]:
        delta = self.x[0] + left / self.width * (self.x[1] - self.x[0])
        return delta, math.exp(self.log_y[1] - top / self.height * (self.log_y[1] - self.log_y[0]))


def _plane(points: list[dict[str, Any]], gate: Gate, over_all: int) -> _Plane:
    # A bound far off its point, of a timing of one block, must not push all points into a corner.
    bounds = [min(max(p[k], p["ratio"] / 4), p["ratio"] * 4) for p in points for k in ("low", "high")]
    spread = max(abs(p["delta"]) for p in points) + 2 * gate.max_drop_pp + 1.0
    ends = [min(max(p[k], p["delta"] - spread), p["delta"] + spread) for p in points for k in ("left", "right")]
    return _Plane(
        over_all - 62,
        round(0.62 * over_all) if over_all > PHONE else over_all,
        _padded([*ends, -gate.max_drop_pp, 0.0], 0.08),
        _padded([*map(math.log, bounds), math.log(gate.min_speedup), 0.0], 0.1),
    )


def _trade_off_svg(points: list[dict[str, Any]], verdicts: Verdicts, over_all: int) -> tuple[str, int]:
    """The SVG, and how many points have no room for their name."""
    import altair as alt

    gate, plane = verdicts.gate, _plane(points, verdicts.gate, over_all)
    low, high = math.exp(plane.log_y[0]), math.exp(plane.log_y[1])
    drawn = [
        p
        | {"low": max(p["low"], low), "high": min(p["high"], high)}
        | {"left": max(p["left"], plane.x[0]), "right": min(p["right"], plane.x[1])}
        for p in points
    ]
    x_title = f"change of {metric(gate)}, percentage points"
    x_axis = alt.Axis(tickCount=8 if over_all > PHONE else 5)
    x = alt.X("delta:Q", title=x_title, scale=_scale(plane.x), axis=x_axis)
    y_axis = alt.Axis(values=_ratio_ticks(low, high), labelExpr="format(datum.value, '~g') + '×'")
    y = alt.Y("ratio:Q", title="speed-up (log scale)", scale=_scale((low, high), "log"), axis=y_axis)
    colour, shape = _verdict_encodings([v for v in ORDER if any(p["verdict"] == v for p in points)], over_all)
    limits = _limit_texts(gate, plane)
    names = _names(drawn, gate, plane, limits, 24 if over_all > PHONE else 16)
    base = alt.Chart(alt.Data(values=drawn))
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.75)
    layers = [
        _corner(gate, plane, high).encode(x=alt.X("x0:Q", scale=_scale(plane.x)), x2="x1:Q", y="y0:Q", y2="y1:Q"),
        _limit("x", -gate.max_drop_pp),
        _limit("y", gate.min_speedup),
        bars.encode(x=alt.X("left:Q", title=x_title), x2="right:Q", y=y, color=colour),
        bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        _written(limits, plane, MUTED, 11),
    ]
    if names:
        layers.append(_written(names, plane, INK, 12))
    chart = alt.layer(*layers).properties(width=plane.width, height=plane.height)
    return _svg(chart, f"speed-accuracy-{over_all}"), len(points) - len(names)


def _verdict_encodings(present: list[str], over_all: int) -> tuple[Any, Any]:
    import altair as alt

    columns = len(present) if over_all > PHONE else 3
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1, columns=columns)
    colours = alt.Scale(domain=present, range=[COLOURS[v] for v in present])
    shapes = alt.Scale(domain=present, range=[SHAPES[v] for v in present])
    return alt.Color("verdict:N", scale=colours, legend=legend), alt.Shape("verdict:N", scale=shapes, legend=legend)


def _corner(gate: Gate, plane: _Plane, high: float) -> Any:
    """Where both limits are kept, shaded."""
    import altair as alt

    values = [{"x0": -gate.max_drop_pp, "x1": plane.x[1], "y0": gate.min_speedup, "y1": high}]
    return alt.Chart(alt.Data(values=values)).mark_rect(color=COLOURS["accept"], opacity=0.08)


def _limit_texts(gate: Gate, plane: _Plane) -> list[Label]:
    """What the two dashed lines are, written along them."""
    drop = f"{fixed(-gate.max_drop_pp, 3).rstrip('0').rstrip('.')} pp"
    return [
        Label(drop, plane.across(-gate.max_drop_pp) + 5, 9.0),
        Label(f"{gate.min_speedup:g}×", 4.0, plane.down(gate.min_speedup) - 9.0),
    ]


def _names(
    drawn: list[dict[str, Any]], gate: Gate, plane: _Plane, limits: Sequence[Label], longest: int
) -> list[Label]:
    """Names beside their points; accepted ones first, then those with the largest change."""
    taken = [text_box(label.text, label.left, label.middle) for label in limits]
    line, edge = plane.down(gate.min_speedup), plane.across(-gate.max_drop_pp)
    taken += [Box(0.0, line - 1, plane.width, line + 1), Box(edge - 1, 0.0, edge + 1, plane.height)]
    for p in drawn:
        x, y = plane.across(p["delta"]), plane.down(p["ratio"])
        taken.append(Box(plane.across(p["left"]), y - 1, plane.across(p["right"]), y + 1))
        taken.append(Box(x - 1, plane.down(p["high"]), x + 1, plane.down(p["low"])))
    ranked = sorted(drawn, key=lambda p: (ORDER.index(p["verdict"]), -abs(math.log(p["ratio"])) - abs(p["delta"])))
    points = [
        Point(
            plane.across(p["delta"]),
            plane.down(p["ratio"]),
            shortened(p["variant"], longest),
            plane.down(p["high"]),
            plane.down(p["low"]),
        )
        for p in ranked
    ]
    return place_labels(points, plane.width, plane.height, taken)


def _written(labels: Sequence[Label], plane: _Plane, colour: str, size: int) -> Any:
    import altair as alt

    places = [(label.text, *plane.at(label.left, label.middle)) for label in labels]
    data = alt.Data(values=[{"text": text, "delta": delta, "ratio": ratio} for text, delta, ratio in places])
    texts = alt.Chart(data).mark_text(align="left", baseline="middle", fontSize=size, color=colour)
    return texts.encode(x="delta:Q", y="ratio:Q", text="text:N")


def _limit(axis: str, value: float) -> Any:
    import altair as alt

    rule = alt.Chart(alt.Data(values=[{"limit": value}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=MUTED)
    return rule.encode(x=alt.X("limit:Q")) if axis == "x" else rule.encode(y=alt.Y("limit:Q"))


def _padded(values: Sequence[float], share: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = share * (high - low) or 0.1
    return low - margin, high + margin


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Three to eight round ratios within a range, 1 among them where it is inside."""
    for ticks in (
        [0.01, 0.1, 1, 10, 100, 1000],
        [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50],
        [0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4, 6, 8],
        [round(0.5 + 0.1 * i, 1) for i in range(16)],
        [round(0.8 + 0.05 * i, 2) for i in range(13)],
        [round(0.9 + 0.02 * i, 2) for i in range(16)],
    ):
        inside = [float(t) for t in ticks if low <= t <= high]
        if 4 <= len(inside) <= 9:
            return inside
    return [t for t in (0.01, 0.1, 0.5, 1.0, 1.05, 2.0, 5.0, 10.0, 100.0, 1000.0) if low <= t <= high]


# Stages


def stage_shares(verdicts: Verdicts) -> Figure:
    """Seconds an epoch in each stage, reference first."""
    title = "Where an epoch's time goes"
    timed = [c for c in verdicts.comparisons if c.costs.variant_stages is not None]
    if not timed:
        return Figure("stages", title, "", missing="Not drawn: no timing run recorded its stages.")
    bars = [*_reference_bars(timed), *[(clean(c.variant), c.costs.variant_stages) for c in timed]]
    rows = [row for name, stages in bars if stages is not None for row in _stage_rows(name, stages)]
    caption = (
        "Seconds of a steady-state epoch by stage, evaluation left out; the reference, as timed beside the variants, "
        "comes first. Numbers in the bars are shares in per cent, those at their ends seconds. An option that shortens "
        "one stage can save no more than that stage's share."
    )
    absent = [c.variant for c in verdicts.comparisons if c.costs.variant_stages is None and c.verdict != "skipped"]
    if absent:
        caption += f" Without stages: {_some(absent)}."
    names = [name for name, _ in bars]
    return Figure("stages", title, caption, _stages_svg(rows, names, WIDE), _stages_svg(rows, names, NARROW))


def _reference_bars(timed: Sequence[ComparisonVerdict]) -> list[tuple[str, Stages | None]]:
    """One bar a reference: the mean over the timing jobs in which it was the other arm."""
    by_name: dict[str, list[Stages]] = {}
    for comparison in timed:
        if comparison.costs.reference_stages is not None:
            by_name.setdefault(comparison.reference, []).append(comparison.costs.reference_stages)
    return [
        (
            f"{clean(name)} (ref.)",
            Stages(**{k: sum(getattr(s, k) for s in many) / len(many) for k in Stages.model_fields}),
        )
        for name, many in by_name.items()
    ]


def _stage_rows(name: str, stages: Stages) -> list[dict[str, Any]]:
    seconds = {stage: float(getattr(stages, f"{stage}_s")) for stage in STAGE_COLOURS}
    total = sum(seconds.values())
    rows = []
    start = 0.0
    for order, (stage, length) in enumerate(seconds.items()):
        share = length / total if total > 0 else 0.0
        rows.append(
            {
                "variant": name,
                "stage": stage,
                "order": order,
                "start": start,
                "end": start + length,
                "total": total,
                "share": f"{100 * share:.0f}",
                "ink": _STAGE_INK[stage],
                "total_text": seconds_text(total),
            }
        )
        start += length
    return rows


def _stages_svg(rows: list[dict[str, Any]], names: list[str], over_all: int) -> str:
    import altair as alt

    y, margin = _names_axis(names, over_all)
    width = over_all - margin - 58
    longest = max(r["total"] for r in rows) or 1.0
    unit, per_unit = ("milliseconds", 1000.0) if longest < 1.0 else ("seconds", 1.0)
    rows = [r | {k: r[k] * per_unit for k in ("start", "end", "total")} for r in rows]
    scale = alt.Scale(domain=[0.0, longest * per_unit], nice=False)
    x = alt.X("start:Q", title=f"{unit} an epoch", scale=scale, axis=alt.Axis(tickCount=5 if over_all > PHONE else 3))
    colour = alt.Color(
        "stage:N",
        scale=alt.Scale(domain=list(STAGE_COLOURS), range=list(STAGE_COLOURS.values())),
        legend=alt.Legend(title=None, orient="top", symbolType="square", symbolSize=140),
    )
    base = alt.Chart(alt.Data(values=rows))
    bars = base.mark_bar(stroke="#ffffff", strokeWidth=0.8).encode(x=x, x2="end:Q", y=y, color=colour)
    roomy = [
        r | {"centre": (r["start"] + r["end"]) / 2}
        for r in rows
        if (r["end"] - r["start"]) / (longest * per_unit) * width > 22
    ]
    shares = (
        alt.Chart(alt.Data(values=roomy))
        .mark_text(fontSize=11)
        .encode(x=alt.X("centre:Q", scale=scale), y=y, text="share:N", color=alt.Color("ink:N", scale=None))
    )
    last = alt.Chart(alt.Data(values=[r for r in rows if r["order"] == 0])).mark_text(
        align="left", dx=5, fontSize=11, color=INK
    )
    totals = last.encode(x=alt.X("total:Q", scale=scale), y=y, text="total_text:N")
    layers = [bars, shares, totals] if roomy else [bars, totals]
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(24))
    return _svg(chart, f"stages-{over_all}")


def _names_axis(names: Sequence[str], over_all: int) -> tuple[Any, int]:
    """The vertical axis of variants, and the pixels that its names take."""
    import altair as alt

    longest = 30 if over_all > PHONE else 16
    cut = dict(zip(names, shortened_apart(names, longest), strict=True))
    margin = round(max(len(text) for text in cut.values()) * CHARACTER_PX) + 12
    # The full name is the key, so that two names that are cut alike keep two rows.
    expression = _lookup(cut)
    axis = alt.Axis(labelExpr=expression, labelLimit=400, ticks=False, domain=False, labelPadding=8)
    return alt.Y("variant:N", title=None, sort=list(names), axis=axis), margin


def _lookup(texts: dict[str, str]) -> str:
    """A Vega expression that maps an axis label to its text; JSON strings are Vega's string literals."""
    import json

    return f"({json.dumps(texts)})[datum.value]"


# Memory


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
    if unknown:
        caption += f" Without an estimate: {_some(unknown)}."
    absent = [c.variant for c in verdicts.comparisons if c.memory.variant_bytes is None and c.verdict != "skipped"]
    if absent:
        caption += f" Not measured: {_some(absent)}."
    return Figure("memory", title, caption, _memory_svg(rows, names, WIDE), _memory_svg(rows, names, NARROW))


def _memory_rows(plan: Plan, verdicts: Verdicts) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    references: dict[str, list[int]] = {}
    for c in verdicts.comparisons:
        if c.memory.reference_bytes is not None:
            references.setdefault(c.reference, []).append(c.memory.reference_bytes)
    for name, measured in references.items():
        label = f"{clean(name)} (ref.)"
        rows.append({"variant": label, "kind": "measured", "bytes": sorted(measured)[len(measured) // 2]})
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

    y, margin = _names_axis(names, over_all)
    width = over_all - margin - 64
    most = max(r["bytes"] for r in rows) or 1
    unit, size = next(
        (u, s) for u, s in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("bytes", 1.0)) if most >= s or s == 1.0
    )
    rows = [r | {"amount": r["bytes"] / size, "text": bytes_text(r["bytes"])} for r in rows]
    scale = alt.Scale(domain=[0.0, 1.02 * most / size], nice=False)
    x = alt.X(
        "amount:Q", title=f"peak memory, {unit}", scale=scale, axis=alt.Axis(tickCount=5 if over_all > PHONE else 3)
    )
    kinds = ["measured", "estimated"]
    colours = alt.Scale(domain=kinds, range=["#0072b2", "#b26a00"])
    shapes = alt.Scale(domain=kinds, range=["circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1)
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(size=90, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=colours, legend=legend),
            shape=alt.Shape("kind:N", scale=shapes, legend=legend),
        )
    )
    spans = _spans(rows)
    joins = (
        alt.Chart(alt.Data(values=spans))
        .mark_rule(color=MUTED, strokeWidth=1.5)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
    )
    ends = alt.Chart(alt.Data(values=spans)).mark_text(align="left", dx=9, fontSize=11, color=INK)
    texts = ends.encode(x=alt.X("high:Q", scale=scale), y=y, text="text:N")
    chart = alt.layer(joins, points, texts).properties(width=width, height=alt.Step(24))
    return _svg(chart, f"memory-{over_all}")


def _spans(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each variant the range from one value to the other, and the measured value as text."""
    found = []
    for name in dict.fromkeys(r["variant"] for r in rows):
        amounts = {r["kind"]: r for r in rows if r["variant"] == name}
        values = [r["amount"] for r in amounts.values()]
        found.append({"variant": name, "low": min(values), "high": max(values), "text": amounts["measured"]["text"]})
    return found


# What all share


def _some(names: Sequence[str]) -> str:
    shown = [shortened(clean(n), 40) for n in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _scale(domain: tuple[float, float], kind: str = "linear") -> Any:
    import altair as alt

    return alt.Scale(domain=list(domain), type=kind, nice=False, zero=False)


def _svg(chart: Any, prefix: str) -> str:
    """Render with plain type and a light grid; ids get a prefix, so that several figures fit into one page."""
    styled = (
        chart.configure(font=_FONT, background="#ffffff", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=INK,
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
        )
        .configure_legend(labelFontSize=12, labelColor=INK)
    )
    file = io.StringIO()
    styled.save(file, format="svg")
    return _with_prefix(file.getvalue(), prefix)


def _with_prefix(svg: str, prefix: str) -> str:
    changed: Callable[[re.Match[str]], str] = lambda m: f"{m.group(1)}{prefix}-{m.group(2)}"  # noqa: E731
    svg = re.sub(r'(<[A-Za-z]+ [^>]*?\bid=")([^"]+)', changed, svg)
    return re.sub(r"(url\(#)([^)]+)", changed, svg)
