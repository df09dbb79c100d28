"""The figure of learning curves: accuracy on the validation split, epoch by epoch, with the spread over seeds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.plan.model import Plan
from harness.records.results import SeedRun, VariantResult
from harness.reports.digits import shortened_apart
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import MUTED, NARROW, PHONE, WIDE, Figure, scale, some, svg, values_of
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.wording import plural

_TITLE = "Learning curves"
_MOST = 9  # panels
_POINTS = 60  # of a curve; more cannot be told apart
_HOVERS = 8  # points of a curve that say their values
_KINDS = {"reference": MUTED, "variant": "#0072b2"}


class _Epoch(NamedTuple):
    """One evaluation over the seeds that reached it, fractions."""

    epoch: int
    mean: float
    low: float
    high: float
    seeds: int


class _Panel(NamedTuple):
    comparison: ComparisonVerdict
    variant: list[_Epoch]
    reference: list[_Epoch]


def learning_curves(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> Figure:
    """A panel a variant, beside its reference on the same seeds; of many, the accepted ones and the worst."""
    kept = [(c, variants[c.variant]) for c in verdicts.comparisons if _has_curves(c, plan, variants)]
    if not kept:
        missing = "Not drawn: no variant and its reference kept their validation curves."
        return Figure("learning", _TITLE, "", missing=missing)
    equal = [c.variant for c, result in kept if _are_equal(result)]
    apart = [c for c, _ in kept if c.variant not in equal]
    chosen = [_panel(c, plan, variants[c.variant]) for c in (_chosen(apart) if apart else [kept[0][0]])]
    caption = (
        "Accuracy on the validation split after each evaluated epoch: the line is the mean over seeds, the band "
        "reaches from the lowest to the highest seed, and the reference is drawn on the seeds of the variant. Where "
        "the bands overlap throughout, seeds matter more than the option. A seed that stopped early is left out from "
        "there on."
    )
    if equal and apart:
        caption += f" Not drawn, since it equals its reference's: {some(equal)}."
    elif equal:
        caption += f" The curves of {some(equal)} equal their reference's: one is drawn."
    if len(chosen) < len(apart):
        caption += f" Of {len(apart)} variants accepted ones and those with the largest drop are drawn."
    known = {c.variant for c, _ in kept}
    absent = [c.variant for c in verdicts.comparisons if c.variant not in known and c.verdict != "skipped"]
    if absent:
        caption += f" Without curves: {some(absent)}."
    return Figure("learning", _TITLE, caption, _svg(chosen, WIDE), _svg(chosen, NARROW), data=_data(chosen))


def _has_curves(c: ComparisonVerdict, plan: Plan, variants: Mapping[str, VariantResult]) -> bool:
    result = variants.get(c.variant)
    if result is None or c.variant not in plan.cells or c.reference not in plan.cells:
        return False
    arms = result.runs, result.reference_runs
    return all(any(math.isfinite(value) for run in arm for value in run.val_accuracy) for arm in arms)


def _are_equal(result: VariantResult) -> bool:
    """Whether both arms have the same curves, seed by seed."""
    ours, theirs = ([(run.seed, run.val_accuracy) for run in runs] for runs in (result.runs, result.reference_runs))
    return ours == theirs


def _panel(c: ComparisonVerdict, plan: Plan, result: VariantResult) -> _Panel:
    return _Panel(
        c,
        _curve(result.runs, plan.cells[c.variant].training.eval_every),
        _curve(result.reference_runs, plan.cells[c.reference].training.eval_every),
    )


def _curve(runs: Sequence[SeedRun], every: int) -> list[_Epoch]:
    by_epoch: dict[int, list[float]] = {}
    for run in runs:
        for index, value in enumerate(run.val_accuracy, 1):
            if math.isfinite(value):
                # the last epoch is evaluated too, whether or not its turn had come
                by_epoch.setdefault(min(index * every, run.epochs or index * every), []).append(value)
    return [
        _Epoch(epoch, statistics.fmean(values), min(values), max(values), len(values))
        for epoch, values in sorted(by_epoch.items())
    ]


def _chosen(comparisons: Sequence[ComparisonVerdict]) -> list[ComparisonVerdict]:
    """At most `_MOST`, in the table's order: what was accepted, one place kept for the worst, then the next worst."""

    def change(comparison: ComparisonVerdict) -> float:
        accuracy = comparison.accuracy
        return 0.0 if accuracy is None or accuracy.delta_pp is None else accuracy.delta_pp

    accepted = [c for c in comparisons if c.verdict in ("accept", "enables")][: _MOST - 1]
    taken = {c.variant for c in accepted}
    worst = sorted((c for c in comparisons if c.variant not in taken), key=change)
    taken |= {c.variant for c in worst[: _MOST - len(accepted)]}
    return [c for c in comparisons if c.variant in taken]


def _data(panels: Sequence[_Panel]) -> FigureData:
    headings = ("variant", "curve", "epoch", "mean", "lowest", "highest", "seeds")
    rows = [
        (clean(p.comparison.variant), kind, *epoch)
        for p in panels
        for kind, curve in (("reference", p.reference), ("variant", p.variant))
        for epoch in curve
    ]
    return FigureData(headings, rows)


def _svg(panels: Sequence[_Panel], over_all: int) -> str:
    import altair as alt

    wide = over_all > PHONE
    columns = min(len(panels), 3 if wide else 2)
    size = (over_all - 50 * columns) // columns, 110 if wide else 90
    every = [epoch for p in panels for epoch in (*p.variant, *p.reference)]
    last = max(epoch.epoch for epoch in every)
    low, high = min(epoch.low for epoch in every), max(epoch.high for epoch in every)
    margin = 0.05 * (high - low) or 0.01
    domains = (1.0, max(2.0, float(last))), (max(0.0, low - margin), min(1.0, high + margin))
    titles = shortened_apart([clean(p.comparison.variant) for p in panels], size[0] // 7)
    drawn = [_drawn(p, title, size, domains, i) for i, (p, title) in enumerate(zip(panels, titles, strict=True))]
    return svg(alt.concat(*drawn, columns=columns, spacing=14), f"learning-{over_all}")


def _drawn(
    panel: _Panel,
    title: str,
    size: tuple[int, int],
    domains: tuple[tuple[float, float], tuple[float, float]],
    place: int,
) -> Any:
    import altair as alt

    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1)
    shown = legend if place == 0 else None
    colour = alt.Color("kind:N", scale=alt.Scale(domain=list(_KINDS), range=list(_KINDS.values())), legend=shown)
    ticks = alt.Axis(tickMinStep=1, format="d", tickCount=4 if size[0] > 140 else 3)
    x = alt.X("epoch:Q", title="epoch", scale=scale(domains[0]), axis=ticks)
    y = alt.Y("mean:Q", title=None, scale=scale(domains[1]), axis=alt.Axis(format="~%", tickCount=4))
    curves = {"reference": panel.reference, "variant": panel.variant}
    values = [
        {"kind": kind, "epoch": e.epoch, "mean": e.mean, "low": e.low, "high": e.high}
        for kind, curve in curves.items()
        for e in _thinned(curve, _POINTS)
    ]
    base = alt.Chart(values_of(values))
    hovers = [_hover(panel, epoch) for epoch in _thinned(panel.variant, _HOVERS)]
    points = alt.Chart(values_of(hovers)).mark_point(size=22, filled=True, opacity=1, color=_KINDS["variant"])
    return (
        alt.layer(
            base.mark_area(opacity=0.18).encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q", color=colour),
            base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour),
            points.encode(x=x, y=y, description="hover:N"),
        )
        .properties(width=size[0], height=size[1], title=alt.Title(title, fontSize=12, fontWeight="normal", offset=4))
        .resolve_scale(color="shared")
    )


def _hover(panel: _Panel, at: _Epoch) -> dict[str, Any]:
    def words(epoch: _Epoch) -> str:
        between = f"{100 * epoch.low:.1f} to {100 * epoch.high:.1f}"
        return f"{100 * epoch.mean:.1f} % ({between}, {plural(epoch.seeds, 'seed')})"

    beside = next((epoch for epoch in panel.reference if epoch.epoch == at.epoch), None)
    hover = f"{clean(panel.comparison.variant)}, epoch {at.epoch}: {words(at)}"
    if beside is not None:
        hover += f"; {clean(panel.comparison.reference)} {words(beside)}"
    return {"kind": "variant", "epoch": at.epoch, "mean": at.mean, "hover": hover}


def _thinned(curve: Sequence[_Epoch], most: int) -> list[_Epoch]:
    """Evenly over the curve, its ends among them."""
    if len(curve) <= most:
        return list(curve)
    return [curve[round(i * (len(curve) - 1) / (most - 1))] for i in range(most)]
