"""The forest plot: every comparison's change of the metric with its interval, in the order of the table."""

from __future__ import annotations

from typing import Any

from harness.reports.answer import metric
from harness.reports.digits import fixed, with_interval
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import (
    INK,
    MUTED,
    NARROW,
    PHONE,
    WIDE,
    Figure,
    names_axis,
    scale,
    some,
    svg,
    values_of,
)
from harness.reports.figures.trade_off import COLOURS
from harness.reports.tables import accuracy_text
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.wording import plural

_MOST_DROPS = 10.0  # times the allowed drop that the axis reaches at most: a collapse must not flatten all others
_WORDS = {"pass": "kept", "inconclusive": "undecided", "fail": "lost", "invalid": "too few pairs"}
_INKS = {"kept": "accept", "undecided": "inconclusive", "lost": "reject", "too few pairs": "no-gain"}
_SHAPES = {"kept": "circle", "undecided": "diamond", "lost": "cross", "too few pairs": "square"}


def forest(verdicts: Verdicts) -> Figure:
    """A point with its interval for every variant whose metric was compared."""
    gate = verdicts.gate
    title = f"Change of {metric(gate)}, variant by variant"
    rows = [_row(c, gate) for c in verdicts.comparisons if c.accuracy is not None and c.accuracy.delta_pp is not None]
    if not rows:
        why = f"no variant and its reference have the {metric(gate)} of one seed"
        return Figure("forest", title, "", missing=f"Not drawn: {why}.")
    domain = _domain(rows, gate)
    caption = (
        f"Each point is a variant's mean difference to its reference over the pairs that count, each bar its interval, "
        f"both as in the table and in its order. The dashed line is the gate, a drop of {gate.max_drop_pp:g} pp: the "
        f"{metric(gate)} is kept where the whole bar lies right of it, in the shaded part, lost where the whole bar "
        f"lies left of it, and undecided where the bar crosses it. The thin line is no change."
    )
    outside = [r["variant"] for r in rows if not domain[0] <= r["delta"] <= domain[1]]
    if outside:
        caption += f" An arrow at the edge: the point is farther out, {some(outside)}."
    compared = {r["variant"] for r in rows}
    absent = [c.variant for c in verdicts.comparisons if c.verdict != "skipped" and clean(c.variant) not in compared]
    if absent:
        caption += f" Not compared: {some(absent)}."
    wide, narrow = (_svg(rows, gate, domain, over_all) for over_all in (WIDE, NARROW))
    return Figure("forest", title, caption, wide, narrow, data=_data(rows, gate))


def _data(rows: list[dict[str, Any]], gate: Gate) -> FigureData:
    columns = ("variant", "reference", "pairs", "delta", "low", "high", "state")
    headings = ("variant", "reference", "pairs", "delta_pp", "delta_lower_pp", "delta_upper_pp", "state", "gate_pp")
    return FigureData(headings, [[*(row[name] for name in columns), -gate.max_drop_pp] for row in rows])


def _row(c: ComparisonVerdict, gate: Gate) -> dict[str, Any]:
    accuracy = c.accuracy
    assert accuracy is not None
    assert accuracy.delta_pp is not None
    low, high = accuracy.ci_pp or (accuracy.delta_pp, accuracy.delta_pp)
    pairs = accuracy.look or len(accuracy.seeds)
    text = with_interval(accuracy.delta_pp, accuracy.ci_pp, -gate.max_drop_pp, signed=True)
    state = _WORDS.get(accuracy.state, "too few pairs")
    name = clean(c.variant)
    return {
        "variant": name,
        "reference": clean(c.reference),
        "delta": accuracy.delta_pp,
        "low": low,
        "high": high,
        "state": state,
        "pairs": pairs,
        "text": accuracy_text(c, gate),
        "hover": f"{name}: {text} pp against {clean(c.reference)} over {plural(pairs, 'pair')}; {state}",
    }


def _domain(rows: list[dict[str, Any]], gate: Gate) -> tuple[float, float]:
    """From the lowest to the highest bound, zero and the gate inside, no farther than what is worth resolving."""
    farthest = _MOST_DROPS * gate.max_drop_pp + 1.0
    bounds = [min(max(r[end], -farthest), farthest) for r in rows for end in ("low", "high", "delta")]
    low, high = min(*bounds, -gate.max_drop_pp, 0.0), max(*bounds, 0.0)
    margin = 0.05 * (high - low) or 0.1
    return low - margin, high + margin


def _svg(rows: list[dict[str, Any]], gate: Gate, domain: tuple[float, float], over_all: int) -> str:
    import altair as alt

    names = [row["variant"] for row in rows]
    y, margin = names_axis(names, over_all)
    wide = over_all > PHONE
    room = 172 if wide else 0  # for the numbers; on a phone they are in the table
    step = 22 if len(rows) <= 30 else 17
    low, high = domain
    drawn = [r | {"low": min(max(r["low"], low), high), "high": max(min(r["high"], high), low)} for r in rows]
    inside = [r for r in drawn if low <= r["delta"] <= high]
    outside = [r | {"delta": low if r["delta"] < low else high} for r in drawn if not low <= r["delta"] <= high]
    title = f"change of {metric(gate)}, percentage points"
    at = scale(domain)
    x = alt.X("delta:Q", title=title, scale=at, axis=alt.Axis(tickCount=7 if wide else 4))
    states = [s for s in _INKS if any(r["state"] == s for r in rows)]
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1, columns=4 if wide else 2)
    colour = alt.Color(
        "state:N", scale=alt.Scale(domain=states, range=[COLOURS[_INKS[s]] for s in states]), legend=legend
    )
    shape = alt.Shape("state:N", scale=alt.Scale(domain=states, range=[_SHAPES[s] for s in states]), legend=legend)
    kept = alt.Chart(values_of([{"from": -gate.max_drop_pp, "to": high, "gate": _gate_text(gate)}]))
    base = alt.Chart(values_of(drawn))
    layers = [
        kept.mark_rect(color=COLOURS["accept"], opacity=0.08).encode(x=alt.X("from:Q", scale=at), x2="to:Q"),
        alt.Chart(values_of([{"at": 0.0}])).mark_rule(color=MUTED).encode(x=alt.X("at:Q", scale=at)),
        kept.mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1.5).encode(
            x=alt.X("from:Q", scale=at), description="gate:N"
        ),
        base.mark_rule(strokeWidth=2, opacity=0.8).encode(
            x=alt.X("low:Q", scale=at, title=title), x2="high:Q", y=y, color=colour
        ),
    ]
    if inside:
        points = alt.Chart(values_of(inside)).mark_point(size=70, filled=True, opacity=1)
        layers.append(points.encode(x=x, y=y, color=colour, shape=shape, description="hover:N"))
    for side, symbol in ((low, "triangle-left"), (high, "triangle-right")):
        arrows = [r for r in outside if r["delta"] == side]
        if arrows:
            marks = alt.Chart(values_of(arrows)).mark_point(size=110, filled=True, opacity=1, shape=symbol)
            layers.append(marks.encode(x=x, y=y, color=colour, description="hover:N"))
    width = over_all - margin - room - 24
    if room:
        numbers = base.mark_text(align="left", fontSize=11, color=INK)
        layers.append(numbers.encode(x=alt.value(width + 12), y=y, text="text:N"))
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(step))
    return svg(chart, f"forest-{over_all}")


def _gate_text(gate: Gate) -> str:
    return f"the gate: a drop of {fixed(gate.max_drop_pp, 2)} pp"
