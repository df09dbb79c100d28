"""The figure of speed-up against accuracy change. Its colours suit colour-blind eyes, and never stand alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.reports.answer import ORDER, metric
from harness.reports.digits import fixed, shortened
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, PHONE, WIDE, Figure, scale, some, svg, values_of
from harness.reports.figures.labels import Box, Label, Point, place_labels, text_box
from harness.reports.tables import accuracy_text, speed_text
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.wording import plural

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


NEAR_DROPS, NEAR_RATIO = 4, 0.8  # drops that the gate allows, and speed-up, up to which a variant is near the limits


def trade_off(verdicts: Verdicts) -> list[Figure]:
    """Speed-up over accuracy change, with both intervals and both limits.

    Where points have no room for their names, those near the limits are drawn once more, enlarged.
    """
    gate = verdicts.gate
    title = f"Speed-up against change of {metric(gate)}"
    compared = [c for c in verdicts.comparisons if _measured_both(c)]
    points = [_point(c, gate) for c in compared]
    absent = [c.variant for c in verdicts.comparisons if not _measured_both(c) and c.verdict != "skipped"]
    if not points:
        why = f"no variant has both its {metric(gate)} and its speed-up measured"
        return [Figure("speed_accuracy", title, "", missing=f"Not drawn: {why}.")]
    wide, bare = _trade_off_svg(points, gate, WIDE, "")
    narrow, bare_narrow = _trade_off_svg(points, gate, NARROW, "")
    caption = (
        f"Up is faster, right is more accurate; bars are the intervals of the table. A variant passes the accuracy "
        f"gate where its whole bar lies right of the dashed line at {fixed(-gate.max_drop_pp, 2)} pp, and is "
        f"faster where its bar lies above the one at {gate.min_speedup:g} times: the shaded corner. "
        f"The scale of speed-up is logarithmic."
    )
    if any(c.goal == "memory" for c in verdicts.comparisons):
        caption += " A variant that aims at memory may be accepted below the corner: its gain is not its speed."
    caption += _bare_text(bare, bare_narrow)
    if absent:
        caption += f" Not drawn, for want of one of the two: {some(absent)}."
    whole = Figure("speed_accuracy", title, caption, wide, narrow, data=_data(compared))
    near = [c for c, point in zip(compared, points, strict=True) if _is_near(point, gate)]
    return [whole, _enlarged(near, gate)] if bare and 1 < len(near) < len(compared) else [whole]


def _is_near(point: dict[str, Any], gate: Gate) -> bool:
    return point["delta"] >= -NEAR_DROPS * gate.max_drop_pp and point["ratio"] >= NEAR_RATIO


def _enlarged(near: list[ComparisonVerdict], gate: Gate) -> Figure:
    """The same of these variants alone."""
    points = [_point(c, gate) for c in near]
    wide, bare = _trade_off_svg(points, gate, WIDE, "near-")
    narrow, bare_narrow = _trade_off_svg(points, gate, NARROW, "near-")
    caption = (
        f"Of the figure above the {len(near)} variants that lose at most {NEAR_DROPS * gate.max_drop_pp:g} pp and are "
        f"at least {NEAR_RATIO:g} times as fast, enlarged.{_bare_text(bare, bare_narrow)}"
    )
    return Figure("speed_accuracy_near", "The same near the limits", caption, wide, narrow, data=_data(near))


def _bare_text(wide: int, narrow: int) -> str:
    """How many points have no name, in each of the two drawings; empty if all have one in both."""
    if not wide and not narrow:
        return ""
    first = wide or narrow
    said = f"{plural(first, 'point')} {'stands' if first == 1 else 'stand'} too close to others for a name"
    if not wide:
        said = f"In the drawing for narrow screens {said}"
    elif narrow != wide:
        said += f", in the drawing for narrow screens {narrow or 'none'}"
    return f" {said}; the table names them in full."


def _data(compared: list[ComparisonVerdict]) -> FigureData:
    rows = []
    for c in compared:
        assert c.accuracy is not None
        change = (c.accuracy.delta_pp, *(c.accuracy.ci_pp or (None, None)))
        rows.append((clean(c.variant), c.verdict, *change, c.speed.ratio, *(c.speed.ci or (None, None))))
    bounds = ("delta_pp", "delta_lower_pp", "delta_upper_pp", "speedup", "speedup_lower", "speedup_upper")
    return FigureData(("variant", "verdict", *bounds), rows)


def _measured_both(comparison: ComparisonVerdict) -> bool:
    accuracy = comparison.accuracy
    return accuracy is not None and accuracy.delta_pp is not None and bool(comparison.speed.ratio)


def _point(c: ComparisonVerdict, gate: Gate) -> dict[str, Any]:
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
        "hover": f"{clean(c.variant)} ({c.verdict}): change of {metric(gate)}, pp: {accuracy_text(c, gate)}; "
        f"speed-up: {speed_text(c, gate)}",
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


def _trade_off_svg(points: list[dict[str, Any]], gate: Gate, over_all: int, part: str) -> tuple[str, int]:
    """The SVG, and how many points have no room for their name."""
    import altair as alt

    plane = _plane(points, gate, over_all)
    low, high = math.exp(plane.log_y[0]), math.exp(plane.log_y[1])
    drawn = [
        p
        | {"low": max(p["low"], low), "high": min(p["high"], high)}
        | {"left": max(p["left"], plane.x[0]), "right": min(p["right"], plane.x[1])}
        for p in points
    ]
    x_title = f"change of {metric(gate)}, percentage points"
    x_axis = alt.Axis(tickCount=8 if over_all > PHONE else 5)
    x = alt.X("delta:Q", title=x_title, scale=scale(plane.x), axis=x_axis)
    y_axis = alt.Axis(values=_ratio_ticks(low, high), labelExpr="format(datum.value, '~g') + '×'")
    y = alt.Y("ratio:Q", title="speed-up (log scale)", scale=scale((low, high), "log"), axis=y_axis)
    colour, shape = _verdict_encodings([v for v in ORDER if any(p["verdict"] == v for p in points)], over_all)
    limits = _limit_texts(gate, plane)
    names = _names(drawn, gate, plane, limits, 24 if over_all > PHONE else 16)
    base = alt.Chart(values_of(drawn))
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.75)
    layers = [
        _corner(gate, plane, high).encode(x=alt.X("x0:Q", scale=scale(plane.x)), x2="x1:Q", y="y0:Q", y2="y1:Q"),
        _limit("x", -gate.max_drop_pp),
        _limit("y", gate.min_speedup),
        bars.encode(x=alt.X("left:Q", title=x_title), x2="right:Q", y=y, color=colour),
        bars.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=colour),
        base.mark_point(size=70, filled=True, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, description="hover:N"
        ),
        _written(limits, plane, MUTED, 11),
    ]
    if names:
        layers.append(_written(names, plane, INK, 12))
    chart = alt.layer(*layers).properties(width=plane.width, height=plane.height)
    return svg(chart, f"speed-accuracy-{part}{over_all}"), len(points) - len(names)


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
    return alt.Chart(values_of(values)).mark_rect(color=COLOURS["accept"], opacity=0.08)


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
    data = values_of([{"text": text, "delta": delta, "ratio": ratio} for text, delta, ratio in places])
    texts = alt.Chart(data).mark_text(align="left", baseline="middle", fontSize=size, color=colour)
    return texts.encode(x="delta:Q", y="ratio:Q", text="text:N")


def _limit(axis: str, value: float) -> Any:
    import altair as alt

    rule = alt.Chart(values_of([{"limit": value}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=MUTED)
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
