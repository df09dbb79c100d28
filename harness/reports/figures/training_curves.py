"""The figure of training: loss and gradient norm, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.plan.model import Plan
from harness.records.results import VariantResult
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, MUTED, NARROW, WIDE, Figure, some, svg
from harness.verdicts.training_curves import ORDERS, by_epoch, norm_range, rose

_TITLE = "Training loss and gradient norm"
_MOST = 6000  # points of all curves: more make the page heavy, and nobody tells them apart
_KINDS = {"reference": INK, "variant": MUTED, "stands out": "#b26a00"}


def training_curves(plan: Plan, variants: Mapping[str, VariantResult]) -> Figure:
    """A line a cell, the median over its seeds; cells that a warning is about stand out."""
    results = {name: variants[name] for name in plan.cells if name in variants}
    rows, every = _thinned([row for name, result in results.items() for row in _rows(name, result)])
    if not any(row["panel"] == "loss" for row in rows):
        return Figure("training", _TITLE, "", missing="Not drawn: no quality run kept its curves.")
    outstanding = [name for name, result in results.items() if _stands_out(result)]
    caption = (
        "A line a variant, the median over its seeds. Above, the mean training loss of each epoch; below, the norm of "
        "the gradient, before clipping, of the steps that were looked at, on a logarithmic scale."
    )
    if every > 1:
        caption += f" Of so many points every {every}th epoch is drawn."
    caption += f" Standing out: {some(outstanding)}." if outstanding else ""
    columns = ("cell", "panel", "epoch", "value")
    data = FigureData(("variant", "quantity", "epoch", "median"), [[row[name] for name in columns] for row in rows])
    return Figure("training", _TITLE, caption, _drawn(rows, WIDE), _drawn(rows, NARROW), data=data)


def _thinned(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Every so many epochs from the first on, one number for all curves, and that number."""
    every = -(-len(rows) // _MOST) or 1
    return [row for row in rows if (row["epoch"] - 1) % every == 0], every


def _stands_out(result: VariantResult) -> bool:
    told = [bool(rose(run)) or (norm_range(run) or 0.0) >= ORDERS for run in result.runs if run.train_loss]
    return sum(told) > len(told) / 2


def _rows(name: str, result: VariantResult) -> list[dict[str, Any]]:
    kind = "stands out" if _stands_out(result) else "reference" if result.reference is None else "variant"
    curves = {
        "loss": by_epoch([run.train_loss for run in result.runs]),
        "norm": by_epoch([run.gradient_norm for run in result.runs]),
    }
    return [
        {"panel": panel, "cell": clean(name), "kind": kind, "epoch": epoch, "value": value}
        for panel, curve in curves.items()
        for epoch, value in enumerate(curve, 1)
        if value is not None and (panel == "loss" or value > 0)
    ]


def _drawn(rows: list[dict[str, Any]], over_all: int) -> str:
    import altair as alt

    kinds = [kind for kind in _KINDS if any(row["kind"] == kind for row in rows)]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[_KINDS[kind] for kind in kinds]),
        legend=alt.Legend(title=None, orient="top", symbolType="stroke"),
    )
    panels = []
    for panel, title, kind in (("loss", "training loss", "linear"), ("norm", "gradient norm", "log")):
        values = [row for row in rows if row["panel"] == panel]
        if values:
            panels.append(
                alt.Chart(alt.Data(values=values))
                .mark_line(strokeWidth=1.5)
                .encode(
                    x=alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1, format="d")),
                    y=alt.Y("value:Q", title=title, scale=alt.Scale(type=kind, zero=False)),
                    color=colour,
                    detail="cell:N",
                )
                .properties(width=over_all - 90, height=110)
            )
    return svg(alt.vconcat(*panels), f"training-{over_all}")
