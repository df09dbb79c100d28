"""The cache-hit curve: which share of the rows comes from the cache, by the share of nodes that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.reports.digits import shortened
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, PHONE, WIDE, Figure, scale, some, svg, values_of
from harness.reports.figures.labels import Box, Label, Point, place_labels, text_box
from harness.verdicts.model import Verdicts

_TITLE = "Hits of the feature cache"
_MARKS = {
    "degree": ("#0072b2", "circle"),
    "presample": ("#00785a", "square"),
    "optimal": ("#8a3b74", "triangle-up"),
    "not recorded": ("#6e7781", "cross"),
}
_BEST = "#b26a00"
_ROOM = 1.15  # of the highest value, for the names


def cache_hits(verdicts: Verdicts) -> Figure:
    """A point a variant with a cache, between what a random cache gets and the best one of the same size."""
    rows = [row for c in verdicts.comparisons if (row := _row(clean(c.variant), c.counters)) is not None]
    if not rows:
        return Figure("cache_hits", _TITLE, "", missing="Not drawn: no variant that ran has a feature cache.")
    caption = (
        "Across, the share of the graph's nodes whose features are cached; up, the share of the rows asked for that "
        "came from the cache, each node counted once a batch. The dashed diagonal is what a cache of random nodes "
        "gets: the higher above it, the better the choice of nodes."
    )
    if any(r["best"] is not None for r in rows):
        caption += (
            " A ring joined to a point: the best that any cache of that size, filled once, could have got of the same "
            "fetches."
        )
    absent = [r["variant"] for r in rows if r["best"] is None]
    if absent:
        caption += f" The best was not counted for {some(absent)}."
    (wide, bare), (narrow, _) = (_svg(rows, over_all) for over_all in (WIDE, NARROW))
    if bare:
        caption += f" {bare} points stand too close to others for a name; the pointer shows it."
    return Figure("cache_hits", _TITLE, caption, wide, narrow, data=_data(rows))


def _row(name: str, counters: Mapping[str, Any]) -> dict[str, Any] | None:
    """None without a cache. The best is counted over part of a timing run's fetches (docs/counters.md)."""
    share, requests = counters.get("cache_ratio"), counters.get("cache_requests")
    if not share or not requests:
        return None
    rate = counters["cache_hits"] / requests
    counted = counters.get("cache_recount") or {}
    most, of = counters.get("cache_hits_optimal"), counted.get("requests")
    best = most / of if most is not None and of else None
    policy = counters.get("cache_policy") or "not recorded"
    hover = f"{name}: {100 * rate:.1f} % hits with {100 * share:.1f} % of the nodes, chosen by {policy}"
    if best is not None:
        hover += f"; {100 * counted['hits'] / of:.1f} of at best {100 * best:.1f} % where both were counted"
    return {
        "variant": name,
        "policy": policy,
        "share": share,
        "rate": rate,
        "best": best,
        "hits": counters["cache_hits"],
        "requests": requests,
        "counted_hits": counted.get("hits"),
        "best_hits": most,
        "counted_requests": of,
        "hover": hover,
    }


def _data(rows: Sequence[Mapping[str, Any]]) -> FigureData:
    columns = ("variant", "policy", "share", "rate", "best", "hits", "requests")
    counted = ("counted_hits", "best_hits", "counted_requests")
    headings = ("variant", "policy", "cached_share", "hit_rate", "best_hit_rate", "hits", "requests", *counted)
    return FigureData(headings, [[row[name] for name in (*columns, *counted)] for row in rows])


def _svg(rows: list[dict[str, Any]], over_all: int) -> tuple[str, int]:
    """The SVG, and how many points have no room for their name."""
    import altair as alt

    wide = over_all > PHONE
    width, height = over_all - 72, 300 if wide else 240
    right = min(1.0, 1.25 * max(r["share"] for r in rows))
    top = min(1.0, _ROOM * max(max(r["rate"], r["best"] or 0.0, r["share"]) for r in rows))
    x_scale, y_scale = scale((0.0, right)), scale((0.0, top))
    percent = alt.Axis(format="~%", tickCount=6 if wide else 4)
    x = alt.X("share:Q", title="share of nodes cached", scale=x_scale, axis=percent)
    y = alt.Y("rate:Q", title="share of rows from the cache", scale=y_scale, axis=percent)
    policies = [p for p in _MARKS if any(r["policy"] == p for r in rows)]
    legend = alt.Legend(title=None, orient="top", symbolSize=110, symbolOpacity=1)
    inks, shapes = ([_MARKS[p][i] for p in policies] for i in (0, 1))
    colour = alt.Color("policy:N", scale=alt.Scale(domain=policies, range=inks), legend=legend)
    shape = alt.Shape("policy:N", scale=alt.Scale(domain=policies, range=shapes), legend=legend)
    end = min(right, top)
    diagonal = alt.Chart(values_of([{"share": 0.0, "rate": 0.0}, {"share": end, "rate": end}]))
    base = alt.Chart(values_of(rows))
    counted = [r for r in rows if r["best"] is not None]
    layers = [
        diagonal.mark_line(color=MUTED, strokeDash=[5, 4], strokeWidth=1.5).encode(x=x, y=y),
        base.mark_line(strokeWidth=1.5, opacity=0.7).encode(x=x, y=y, color=colour),
    ]
    if counted:
        best = alt.Chart(values_of(counted))
        layers += [
            best.mark_rule(color=_BEST, strokeWidth=1.5).encode(x=x, y=y, y2="best:Q"),
            best.mark_point(size=110, filled=False, color=_BEST, strokeWidth=1.8, opacity=1).encode(
                x=x, y=alt.Y("best:Q", scale=y_scale), description="hover:N"
            ),
        ]
    layers.append(
        base.mark_point(size=70, filled=True, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, description="hover:N"
        )
    )
    labels, named = _labels(rows, width, height, right, top, wide)
    layers.append(_written(labels, width, height, right, top))
    chart = alt.layer(*layers).properties(width=width, height=height)
    return svg(chart, f"cache-hits-{over_all}"), len(rows) - named


def _labels(
    rows: list[dict[str, Any]], width: int, height: int, right: float, top: float, wide: bool
) -> tuple[list[Label], int]:
    """What the diagonal is, and the names beside their points; and how many of these have room."""

    def at(share: float, rate: float) -> tuple[float, float]:
        return share / right * width, (1.0 - rate / top) * height

    middle = 0.5 * min(right, top)
    across, down = at(middle, middle)
    diagonal = Label("a random cache", across + 8, down + 12)
    taken = [text_box(diagonal.text, diagonal.left, diagonal.middle)]
    points = []
    for row in rows:
        x, y = at(row["share"], row["rate"])
        above = y if row["best"] is None else at(row["share"], row["best"])[1]
        taken.append(Box(x - 6, above - 6, x + 6, y + 6))
        points.append(Point(x, y, shortened(row["variant"], 24 if wide else 16), above, y))
    # along the diagonal too
    steps = 40
    for i in range(steps):
        px, py = at(min(right, top) * i / steps, min(right, top) * i / steps)
        taken.append(Box(px - 2, py - 2, px + 2, py + 2))
    names = place_labels(points, width, height, taken)
    return [diagonal, *names], len(names)


def _written(labels: Sequence[Label], width: int, height: int, right: float, top: float) -> Any:
    import altair as alt

    values = [
        {"text": label.text, "share": label.left / width * right, "rate": (1.0 - label.middle / height) * top}
        for label in labels
    ]
    texts = alt.Chart(values_of(values)).mark_text(align="left", baseline="middle", fontSize=12, color=INK)
    return texts.encode(x="share:Q", y="rate:Q", text="text:N")
