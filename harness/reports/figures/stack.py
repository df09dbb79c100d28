"""The figure of the recommended stack as a waterfall: what each part adds, in the order of the spec."""

from __future__ import annotations

from typing import Any

from harness.reports.digits import bytes_text, fixed, ratio_with_interval, seconds_text
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
from harness.verdicts.model import Confirmation, Verdicts

_GAIN, _LOSS = "#00785a", "#c8400a"
TITLE = "The recommended stack, part by part"


def stack_figures(verdicts: Verdicts) -> list[Figure]:
    """The waterfall, where a confirmation was asked for."""
    found = verdicts.confirmation
    if found is None:
        return []
    rows = _rows(found)
    if len(rows) < 2:
        missing = "Not drawn: no height of the stack was timed."
        return [Figure("stack", TITLE, "", missing=missing)]
    names = [row["variant"] for row in rows]
    caption = (
        "From the baseline down, each row switches on one part more, in the order of the spec. A bar reaches from the "
        "speed-up of the row above to its own, as timed against the baseline; the thin line is its interval. Where "
        "the line crosses the bar's beginning, the part is not shown to add anything. Beside it: speed-up, seconds an "
        "epoch, peak memory."
    )
    absent = [h.adds for h in found.heights if h.speed.ratio is None]
    if absent:
        caption += f" Without a ratio: {some(absent)}."
    columns = ("variant", "start", "ratio", "lower", "upper", "epoch_s", "bytes")
    headings = ("part", "speedup_before", "speedup", "speedup_lower", "speedup_upper", "epoch_s", "peak_bytes")
    data = FigureData(headings, [[row[name] for name in columns] for row in rows])
    return [Figure("stack", TITLE, caption, _svg(rows, names, WIDE), _svg(rows, names, NARROW), data=data)]


def _rows(found: Confirmation) -> list[dict[str, Any]]:
    """The baseline at 1, then every height that was timed."""
    whole = found.heights[-1] if found.heights else None
    if whole is None:
        return []
    first = _row("baseline", 1.0, 1.0, None, whole.speed.reference_epoch_s, whole.memory.reference_bytes)
    rows, before = [first], 1.0
    for height in found.heights:
        ratio = height.speed.ratio
        if ratio is None:
            continue
        name = f"+ {clean(height.adds)}"
        rows.append(
            _row(name, before, ratio, height.speed.ci, height.speed.variant_epoch_s, height.memory.variant_bytes)
        )
        before = ratio
    return rows


def _row(
    name: str,
    start: float,
    ratio: float,
    interval: tuple[float, float] | None,
    epoch_s: float | None,
    peak: int | None,
) -> dict[str, Any]:
    # a bound far off its point, of few blocks, must not push the bars into a corner
    lower, upper = interval or (None, None)
    low, high = max(lower or ratio, ratio / 2), min(upper or ratio, ratio * 2)
    text = f"{fixed(ratio, 2)}×, {seconds_text(epoch_s)}, {bytes_text(peak)}"
    return {
        "variant": name,
        "start": start,
        "ratio": ratio,
        "low": low,
        "high": high,
        "text": text,
        "hover": f"{name}: {ratio_with_interval(ratio, interval, 1.0)} times as fast, {seconds_text(epoch_s)} an "
        f"epoch, peak memory {bytes_text(peak)}",
        "lower": lower,
        "upper": upper,
        "epoch_s": epoch_s,
        "bytes": peak,
    }


def _svg(rows: list[dict[str, Any]], names: list[str], over_all: int) -> str:
    import altair as alt

    y, margin = names_axis(names, over_all)
    room = 150 if over_all > PHONE else 0  # for the text beside a bar; on a phone it is in the table
    width = over_all - margin - room - 24
    ends = [value for row in rows for value in (row["low"], row["high"], row["start"])]
    spread = max(ends) - min(ends) or 0.1
    domain = scale((min(ends) - 0.04 * spread, max(ends) + 0.04 * spread))
    axis = alt.Axis(tickCount=6 if over_all > PHONE else 4)
    x = alt.X("start:Q", title="times as fast as the baseline", scale=domain, axis=axis)
    base = alt.Chart(values_of(rows))
    colour = alt.condition("datum.ratio >= datum.start", alt.value(_GAIN), alt.value(_LOSS))
    bars = base.mark_bar(height=12, opacity=0.85).encode(x=x, x2="ratio:Q", y=y, color=colour, description="hover:N")
    lines = base.mark_rule(color=INK, strokeWidth=1.5).encode(x=alt.X("low:Q", scale=domain), x2="high:Q", y=y)
    points = base.mark_point(size=40, filled=True, color=INK, opacity=1).encode(
        x=alt.X("ratio:Q", scale=domain), y=y, description="hover:N"
    )
    one = alt.Chart(values_of([{"one": 1.0}])).mark_rule(strokeDash=[5, 4], color=MUTED)
    layers = [one.encode(x=alt.X("one:Q", scale=domain)), bars, lines, points]
    if room:
        texts = base.mark_text(align="left", dx=9, fontSize=11, color=INK)
        layers.append(texts.encode(x=alt.X("high:Q", scale=domain), y=y, text="text:N"))
    return svg(alt.layer(*layers).properties(width=width, height=alt.Step(26)), f"stack-{over_all}")
