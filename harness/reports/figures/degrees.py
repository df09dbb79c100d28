"""The figure of degrees: which nodes the batches hold, against which the graph has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.plan.model import BASELINE
from harness.records.results import VariantResult
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, NARROW, PHONE, WIDE, Figure, some, svg, values_of
from harness.verdicts.model import Verdicts

_TITLE = "Degrees in the batches and in the graph"
_MOST = 4  # variants
_APART = 0.04  # total variation; closer lines would lie on each other
_BINS = 11  # drawn; all higher degrees are in the last one
_LINES = ("#0072b2", "#b26a00", "#00785a", "#8a3b74")
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_GRAPH = "#c3cad1"


def degrees(verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> Figure:
    """The graph's histogram, the baseline's batches, and those variants whose batches are most unlike these."""
    found = _histograms(verdicts, variants)
    if not found:
        return Figure("degrees", _TITLE, "", missing="Not drawn: no run counted the degrees of its batches' nodes.")
    graph = next(iter(found.values()))["histogram"]["graph"]
    chosen, alike = _chosen({name: each["histogram"]["batches"] for name, each in found.items()})
    caption = (
        "Columns: share of the graph's nodes by in-degree, in classes that double. Lines: share of the nodes in the "
        "batches of the first epoch. Where a line lies right of the columns, batches meet nodes of high degree more "
        "often than the graph has them, as drawing along edges does."
    )
    if alike:
        caption += f" Not drawn, since closer to a line that is: {some(alike)}."
    drawn = [_svg(graph, chosen, over_all) for over_all in (WIDE, NARROW)]
    rows = [("graph", _bin(at), share) for at, share in enumerate(graph)]
    rows += [(name, _bin(at), share) for name, shares in chosen.items() for at, share in enumerate(shares)]
    return Figure("degrees", _TITLE, caption, *drawn, data=FigureData(("nodes_of", "in_degree", "share"), rows))


def _histograms(verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> dict[str, Mapping[str, Any]]:
    """`sampled_degrees` of the baseline and of every variant that has it, in the table's order."""
    baseline = variants[BASELINE].counters if BASELINE in variants else {}
    counted = {BASELINE: baseline.get("sampled_degrees")}
    counted |= {clean(c.variant): c.counters.get("sampled_degrees") for c in verdicts.comparisons}
    return {name: found for name, found in counted.items() if found}


def _chosen(batches: Mapping[str, list[float]]) -> tuple[dict[str, list[float]], list[str]]:
    """The first, then again and again what is farthest from all chosen so far; and the names of the rest."""
    names = list(batches)
    chosen = [names[0]]
    while len(chosen) <= _MOST and len(chosen) < len(names):
        gaps = {n: min(_distance(batches[n], batches[c]) for c in chosen) for n in names if n not in chosen}
        farthest = max(gaps, key=lambda name: gaps[name])
        if gaps[farthest] < _APART:
            break
        chosen.append(farthest)
    return {n: batches[n] for n in names if n in chosen}, [n for n in names if n not in chosen]


def _distance(one: list[float], other: list[float]) -> float:
    """Total variation."""
    length = max(len(one), len(other))
    padded = [[*shares, *[0.0] * (length - len(shares))] for shares in (one, other)]
    return 0.5 * sum(abs(a - b) for a, b in zip(*padded, strict=True))


def _bin(at: int) -> str:
    low, high = (0, 0) if at == 0 else (2 ** (at - 1), 2**at - 1)
    return str(low) if low == high else f"{low}–{high}"


def _folded(shares: list[float], bins: int) -> list[float]:
    """As many bins, what is beyond them added to the last."""
    padded = [*shares, *[0.0] * (bins - len(shares))]
    return [*padded[: bins - 1], sum(padded[bins - 1 :])]


def _svg(graph: list[float], chosen: Mapping[str, list[float]], over_all: int) -> str:
    import altair as alt

    wide = over_all > PHONE
    bins = [_bin(at) for at in range(max(len(graph), *(len(shares) for shares in chosen.values())))]
    if len(bins) > _BINS:
        bins = [*bins[: _BINS - 1], f"{2 ** (_BINS - 2)}+"]
    names = list(chosen)
    x = alt.X(
        "bin:N",
        title="in-degree",
        sort=bins,
        scale=alt.Scale(domain=bins, paddingInner=0.15),
        axis=alt.Axis(labelAngle=0 if wide and len(bins) <= 9 else -50, labelOverlap=False),
    )
    y = alt.Y("share:Q", title="share of nodes", axis=alt.Axis(format="~%", tickCount=5))
    columns = [
        {"bin": bins[at], "share": share, "hover": f"graph, degree {bins[at]}: {100 * share:.1f} % of the nodes"}
        for at, share in enumerate(_folded(graph, len(bins)))
    ]
    lines = [
        {
            "bin": label,
            "share": share,
            "of": name,
            "hover": f"{name}, degree {label}: {100 * share:.1f} % of the batches' nodes",
        }
        for name, shares in chosen.items()
        for label, share in zip(bins, _folded(shares, len(bins)), strict=True)
    ]
    inks = [INK, *_LINES][: len(names)]
    dashes = [[1, 0], *_DASHES][: len(names)]
    legend = alt.Legend(title=None, orient="top", columns=3 if wide else 1, labelLimit=260, symbolType="stroke")
    colour = alt.Color("of:N", scale=alt.Scale(domain=names, range=inks), legend=legend)
    base = alt.Chart(values_of(lines))
    layers = (
        alt.Chart(values_of(columns)).mark_bar(color=_GRAPH).encode(x=x, y=y, description="hover:N"),
        base.mark_line(strokeWidth=2).encode(
            x=x,
            y=y,
            color=colour,
            strokeDash=alt.StrokeDash("of:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
        ),
        base.mark_point(size=28, filled=True, opacity=1).encode(x=x, y=y, color=colour, description="hover:N"),
    )
    chart = alt.layer(*layers).properties(width=over_all - 76, height=220 if wide else 190)
    return svg(chart, f"degrees-{over_all}")
