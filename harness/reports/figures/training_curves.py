"""The figure of training: loss and gradient norm, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from harness.plan.model import Plan
from harness.records.results import SeedRun, VariantResult
from harness.reports.digits import shortened_apart
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, NARROW, PHONE, WIDE, Figure, some, svg, values_of
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.training_curves import ORDERS, by_epoch, norm_range, rose

_TITLE = "Training loss and gradient norm"
_MOST = 6000  # points of all curves: more make the page heavy, and nobody tells them apart
_QUANTITIES = {"loss": "training loss", "norm": "gradient norm"}
_OTHERS = "other variants"
# After Tol (2021), darkened where a thin line on white needs it; a dash of its own for eyes that see few colours.
_INKS = {
    "#4477aa": [14, 4],
    "#cc3311": [6, 3],
    "#228833": [2, 2],
    "#aa3377": [9, 3, 2, 3],
    "#997700": [3, 5],
    "#009988": [5, 2, 1, 2, 1, 2],
}
_REFERENCE_DASHES = ([1, 0], [8, 4], [2, 4], [8, 3, 2, 3])  # of several references in the order of the plan
_GREY = "#afb8c1"  # of the other variants


@dataclass(frozen=True)
class _Line:
    """A cell's curves, and how they are drawn."""

    name: str
    kind: str  # reference, told or other
    curves: Mapping[str, Sequence[float | None]]  # by quantity, the median over seeds of each epoch
    told: str  # in words, after the name


class _Look(NamedTuple):
    """What the legend says of a line, its ink, its dash and its width in pixels."""

    label: str
    ink: str
    dash: list[int]
    width: float


def training_curves(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> Figure:
    """A line a cell, the median over its seeds; the reference and the most telling variants in inks of their own."""
    results = {name: variants[name] for name in plan.cells if name in variants}
    compared = {c.variant: c for c in verdicts.comparisons}
    unstable = [name for name, result in results.items() if _is_unstable(result)]
    equal = [name for name, result in results.items() if _are_equal(result)]
    told = _telling([n for n in results if results[n].reference and n not in equal], compared, unstable)
    lines = [_line(name, result, compared.get(name), told) for name, result in results.items()]
    rows, every = _thinned([row for line in lines for row in _rows(line)])
    if not any(row["panel"] == "loss" for row in rows):
        return Figure("training", _TITLE, "", missing="Not drawn: no quality run kept its curves.")
    kept = {row["cell"] for row in rows}
    drawn = [line for line in lines if line.name in kept]
    columns = ("cell", "panel", "epoch", "value")
    data = FigureData(("variant", "quantity", "epoch", "median"), [[row[name] for name in columns] for row in rows])
    wide, narrow = (_drawn(drawn, rows, width) for width in (WIDE, NARROW))
    caption = _caption(drawn, equal, unstable, every)
    absent = [c.variant for c in verdicts.comparisons if clean(c.variant) not in kept and c.verdict != "skipped"]
    if absent:
        caption += f" Without curves: {some(absent)}."
    return Figure("training", _TITLE, caption, wide, narrow, data=data)


def _caption(lines: Sequence[_Line], equal: Sequence[str], unstable: Sequence[str], every: int) -> str:
    said = [
        "A line a variant, the median over its seeds. Above, the mean training loss of each epoch; below, the norm of "
        "the gradient, before clipping, of the steps that were looked at, on a logarithmic scale. Thick, in the "
        "colour of the text: what the others are compared with."
    ]
    if any(line.kind == "other" and line.name not in map(clean, equal) for line in lines):
        said.append(
            f"Of the variants at most {len(_INKS)} have an ink of their own: those whose training stands out, those "
            "that are accepted and those with the largest drop; a pointer on any line says its name."
        )
    if every > 1:
        said.append(f"Of so many points every {every}th epoch is drawn.")
    if unstable:
        said.append(
            f"Standing out, since the loss ended above where it began or the norm spans a factor of {ORDERS:g} or "
            f"more: {some(unstable)}."
        )
    if equal:
        said.append(f"Under the reference's line, since equal to it: {some(equal)}.")
    return " ".join(said)


def _is_unstable(result: VariantResult) -> bool:
    told = [bool(rose(run)) or (norm_range(run) or 0.0) >= ORDERS for run in result.runs if run.train_loss]
    return sum(told) > len(told) / 2


def _are_equal(result: VariantResult) -> bool:
    """Whether the arms have the same curves, seed by seed."""

    def curves(runs: Sequence[SeedRun]) -> list[tuple[int, list[float], list[float | None]]]:
        return [(run.seed, run.train_loss, run.gradient_norm) for run in runs]

    kept = any(run.train_loss for run in result.runs)
    return kept and result.reference is not None and curves(result.runs) == curves(result.reference_runs)


def _telling(names: Sequence[str], compared: Mapping[str, ComparisonVerdict], unstable: Sequence[str]) -> list[str]:
    """At most as many as there are inks, in turn: whose training stands out, accepted, largest drop."""

    def change(name: str) -> float:
        found = compared[name].accuracy if name in compared else None
        return 0.0 if found is None or found.delta_pp is None else found.delta_pp

    accepted = [n for n in names if n in compared and compared[n].verdict in ("accept", "enables")]
    worst = sorted((n for n in names if change(n) < 0), key=change)
    in_turn = [n for turn in zip_longest([n for n in names if n in unstable], accepted, worst) for n in turn if n]
    chosen = list(dict.fromkeys([*in_turn, *names]))[: len(_INKS)]
    return [n for n in names if n in chosen]


def _line(name: str, result: VariantResult, c: ComparisonVerdict | None, told: Sequence[str]) -> _Line:
    kind = "reference" if result.reference is None else "told" if name in told else "other"
    curves = {
        "loss": by_epoch([run.train_loss for run in result.runs]),
        "norm": by_epoch([run.gradient_norm for run in result.runs]),
    }
    return _Line(clean(name), kind, curves, "reference" if kind == "reference" else c.verdict if c else "not judged")


def _rows(line: _Line) -> list[dict[str, Any]]:
    return [
        {"panel": panel, "cell": line.name, "epoch": epoch, "value": value}
        for panel, curve in line.curves.items()
        for epoch, value in enumerate(curve, 1)
        if value is not None and (panel == "loss" or value > 0)
    ]


def _thinned(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Every so many epochs from the first on, one number for all curves, and that number."""
    every = -(-len(rows) // _MOST) or 1
    return [row for row in rows if (row["epoch"] - 1) % every == 0], every


def _hover(line: _Line, panel: str) -> str:
    """Name and the last epoch's value, of all epochs whether drawn or not."""
    epoch, value = [(e, v) for e, v in enumerate(line.curves[panel], 1) if v is not None][-1]
    return f"{line.name} ({line.told}): {_QUANTITIES[panel]} {value:.3g} in epoch {epoch}"


def _looks(lines: Sequence[_Line], over_all: int) -> dict[str, _Look]:
    """Of each cell; the first come lowest, and in the legend last."""
    named = [line for line in lines if line.kind != "other"]
    cut = shortened_apart([line.name for line in named], 26 if over_all > PHONE else 16)
    labels = {line.name: text for line, text in zip(named, cut, strict=True)}
    others = [line.name for line in lines if line.kind == "other"]
    references = [line.name for line in lines if line.kind == "reference"]
    told = [line.name for line in lines if line.kind == "told"]
    looks = {name: _Look(_OTHERS, _GREY, [1, 0], 1.0) for name in others}
    looks |= {
        name: _Look(f"{labels[name]} (ref.)", INK, _REFERENCE_DASHES[i % len(_REFERENCE_DASHES)], 2.6)
        for i, name in enumerate(references)
    }
    return looks | {
        name: _Look(labels[name], ink, dash, 1.7) for name, (ink, dash) in zip(told, _INKS.items(), strict=False)
    }


def _drawn(lines: Sequence[_Line], rows: Sequence[dict[str, Any]], over_all: int) -> str:
    import altair as alt

    looks = _looks(lines, over_all)
    panels = []
    for panel in _QUANTITIES:
        curves = {line.name: [r for r in rows if (r["panel"], r["cell"]) == (panel, line.name)] for line in lines}
        hovers = {line.name: _hover(line, panel) for line in lines if curves[line.name]}
        own = [row | {"hover": hovers[name]} | looks[name]._asdict() for name in looks for row in curves[name]]
        if own:
            panels.append(_panel(panel, own, looks, over_all, with_legend=not panels))
    return svg(alt.vconcat(*panels), f"training-{over_all}")


def _panel(panel: str, rows: list[dict[str, Any]], looks: Mapping[str, _Look], over_all: int, with_legend: bool) -> Any:
    import altair as alt

    entries = {look.label: look for look in looks.values() if look.label != _OTHERS}
    entries |= {look.label: look for look in looks.values()}
    columns = 3 if over_all > PHONE else 2
    legend = alt.Legend(title=None, orient="top", symbolSize=250, columns=columns, labelLimit=300)

    def by_label(values: list[Any]) -> dict[str, Any]:
        return {"scale": alt.Scale(domain=list(entries), range=values), "legend": legend if with_legend else None}

    y = alt.Scale(type="log" if panel == "norm" else "linear", zero=False)
    base = alt.Chart(values_of(rows)).encode(
        x=alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("value:Q", title=_QUANTITIES[panel], scale=y),
        detail="cell:N",
    )
    seen = base.mark_line().encode(
        color=alt.Color("label:N", **by_label([look.ink for look in entries.values()])),
        strokeDash=alt.StrokeDash("label:N", **by_label([look.dash for look in entries.values()])),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
    )
    # A thin line is hard to meet with a pointer: a wide one that is not seen says what it is.
    met = base.mark_line(strokeWidth=9, strokeOpacity=0, color=INK).encode(description="hover:N")
    return alt.layer(seen, met).properties(width=over_all - 90, height=130)
