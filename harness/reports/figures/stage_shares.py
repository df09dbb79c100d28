"""The figure of where an epoch's time goes: stacked bars of the stages, the reference first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.records.record import Stages
from harness.reports.digits import fixed, seconds_text
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.drawing import INK, NARROW, PHONE, WIDE, Figure, names_axis, some, svg, values_of
from harness.verdicts.diagnosis_model import ArmProfile, ToggleCeiling
from harness.verdicts.model import ComparisonVerdict, Costs, Verdicts
from harness.verdicts.profiles import mean_stages, stages_of

STAGES = "stages"  # the figure's name
# After Okabe and Ito (2008); neighbours differ in lightness too.
STAGE_COLOURS = {"sample": "#0a66a8", "fetch": "#8fc7ec", "compute": "#e69f00", "update": "#5f6a73"}
_STAGE_INK = {"sample": "#ffffff", "fetch": "#000000", "compute": "#000000", "update": "#ffffff"}


class Bar(NamedTuple):
    """Seconds an epoch of one cell, and whether they are of disturbed blocks."""

    name: str
    stages: Stages | None
    disturbed: bool


def stage_shares(verdicts: Verdicts) -> Figure:
    """Seconds an epoch in each stage, reference first."""
    title = "Where an epoch's time goes"
    timed = [c for c in verdicts.comparisons if c.costs.variant_stages is not None]
    if not timed:
        return Figure(STAGES, title, "", missing="Not drawn: no timing run recorded its stages.")
    variants = [Bar(clean(c.variant), c.costs.variant_stages, c.costs.stages_disturbed) for c in timed]
    bars = [*_reference_bars(timed, verdicts.diagnosis.baseline), *variants]
    rows = [row for bar in bars if bar.stages is not None for row in _stage_rows(bar.name, bar.stages)]
    floors = [floor for c in timed if (floor := _floor(c)) is not None]
    caption = (
        "Time of an epoch by stage, evaluation left out, with a clock at each stage. The reference comes first, over "
        "all timings in which it was an arm, the control's too. A number in a bar is the stage's share in per cent; "
        "the time beside it is that of the whole epoch. An option that shortens one stage can save no more than that "
        "stage's share."
    )
    rings = [ring for c in timed if (ring := _ring(c)) is not None]
    if rings:
        caption += (
            " The ring on a variant's bar is where the epoch of its reference ended that was timed in turn with it: "
            "that, and not the reference's own bar, is what its length is to be compared with, since a machine's pace "
            "changes from one timing to the next."
        )
    if floors:
        caption += (
            " The tick on a variant's bar is its ceiling (Amdahl): where the epoch of its reference would end if the "
            "stages that the variant shortens took no time at all."
        )
    open_floors = _toggle_floors(verdicts, bars)
    if open_floors:
        caption += (
            " The ticks on the baseline's bar are the ceilings of the harness's own options, whether they were tried "
            "here or not: one tick for all options that shorten the same stages; a pointer on it names them."
        )
    floors = [*open_floors, *floors]
    disturbed = [bar.name for bar in bars if bar.disturbed]
    if disturbed:
        caption += f" Of disturbed blocks, since there are no others: {some(disturbed)}."
    if disturbed and len(disturbed) < len(bars):
        caption += " Such a bar's length is not to be compared with that of an undisturbed one."
    absent = [c.variant for c in verdicts.comparisons if c.costs.variant_stages is None and c.verdict != "skipped"]
    if absent:
        caption += f" Without stages: {some(absent)}."
    names = [bar.name for bar in bars]
    wide, narrow = (_stages_svg(rows, floors, rings, names, width) for width in (WIDE, NARROW))
    return Figure(STAGES, title, caption, wide, narrow, data=_data(rows, floors, rings))


def _data(rows: list[dict[str, Any]], floors: list[dict[str, Any]], rings: list[dict[str, Any]]) -> FigureData:
    """A row a stage, one for the tick where there is one, and one for the ring."""
    lengths = [(r["variant"], r["stage"], r["end"] - r["start"], float(r["exact_share"])) for r in rows]
    ticks = [(f["variant"], "ceiling", f["floor"], None) for f in floors]
    beside = [(r["variant"], "reference in turn", r["seconds"], None) for r in rings]
    return FigureData(("variant", "stage", "epoch_s", "share"), [*lengths, *ticks, *beside])


def _ring(comparison: ComparisonVerdict) -> dict[str, Any] | None:
    """The reference's epoch in the blocks that the variant was timed in."""
    stages = comparison.costs.reference_stages
    if stages is None:
        return None
    seconds, name, reference = _seconds(stages), clean(comparison.variant), clean(comparison.reference)
    hover = f"{name}: {reference} took {seconds_text(seconds)}, timed in turn with it"
    return {"variant": name, "seconds": seconds, "hover": hover}


def _seconds(stages: Stages) -> float:
    return sum(float(getattr(stages, f"{stage}_s")) for stage in STAGE_COLOURS)


def _floor(comparison: ComparisonVerdict) -> dict[str, Any] | None:
    """Seconds that the reference's other stages take; None where no ceiling follows."""
    costs = comparison.costs
    if costs.ceiling is None or costs.reference_stages is None:
        return None
    name, floor = clean(comparison.variant), _seconds(costs.reference_stages) / costs.ceiling
    hover = f"{name}: no less than {seconds_text(floor)}, so at most {fixed(costs.ceiling, 2)} times as fast"
    return {"variant": name, "floor": floor, "hover": hover}


def _toggle_floors(verdicts: Verdicts, bars: Sequence[Bar]) -> list[dict[str, Any]]:
    """Seconds that the baseline's other stages take, for each set of stages that toggles shorten; by the diagnosis."""
    profile = verdicts.diagnosis.baseline
    if profile is None:
        return []
    name = f"{clean(profile.name)} (ref.)"
    stages = next((bar.stages for bar in bars if bar.name == name), None)
    if stages is None:
        return []
    total = _seconds(stages)
    by_targets: dict[tuple[str, ...], list[ToggleCeiling]] = {}
    for toggle in verdicts.diagnosis.toggles:
        if toggle.ceiling is not None:
            by_targets.setdefault(tuple(toggle.targets), []).append(toggle)
    return [
        {
            "variant": name,
            "floor": total / many[0].ceiling,
            "hover": f"{some([t.toggle for t in many])}: no less than {seconds_text(total / many[0].ceiling)} without "
            f"{' and '.join(targets)}, so at most {fixed(many[0].ceiling, 2)} times as fast as {clean(profile.name)}",
        }
        for targets, many in by_targets.items()
        if many[0].ceiling
    ]


def _reference_bars(timed: Sequence[ComparisonVerdict], baseline: ArmProfile | None) -> list[Bar]:
    """One bar a reference: the baseline's as the diagnosis has it, so that text and figure say the same.

    Of another reference, the mean over the timing jobs in which it was the other arm, and was not disturbed.
    """
    by_name: dict[str, list[Costs]] = {}
    for comparison in timed:
        if comparison.costs.reference_stages is not None:
            by_name.setdefault(comparison.reference, []).append(comparison.costs)
    return [
        Bar(f"{clean(name)} (ref.)", stages_of(baseline), baseline.disturbed)
        if baseline is not None and name == baseline.name
        else _reference_bar(name, many)
        for name, many in by_name.items()
    ]


def _reference_bar(name: str, many: Sequence[Costs]) -> Bar:
    kept = [costs for costs in many if not costs.stages_disturbed] or many
    stages = mean_stages([costs.reference_stages for costs in kept if costs.reference_stages is not None])
    return Bar(f"{clean(name)} (ref.)", stages, kept[0].stages_disturbed)


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
                "exact_share": share,
                "hover": f"{name}: {stage} {seconds_text(length)}, {100 * share:.0f} % of {seconds_text(total)}",
                "ink": _STAGE_INK[stage],
                "total_text": seconds_text(total),
            }
        )
        start += length
    return rows


def _clear_of(ring: float | None, start: float, end: float, least: float) -> float:
    """The middle of a stage's part of a bar, or of what lies to one side of a ring that would cover it."""
    middle = (start + end) / 2
    if ring is None or abs(ring - middle) >= least:
        return middle
    return (start + ring) / 2 if ring > middle else (ring + end) / 2


def _stages_svg(
    rows: list[dict[str, Any]],
    floors: list[dict[str, Any]],
    rings: list[dict[str, Any]],
    names: list[str],
    over_all: int,
) -> str:
    import altair as alt

    y, margin = names_axis(names, over_all)
    width = over_all - margin - 58
    longest = max([*(r["total"] for r in rows), *(r["seconds"] for r in rings)]) or 1.0
    unit, per_unit = ("milliseconds", 1000.0) if longest < 1.0 else ("seconds", 1.0)
    rows = [r | {k: r[k] * per_unit for k in ("start", "end", "total")} for r in rows]
    scale = alt.Scale(domain=[0.0, longest * per_unit], nice=False)
    x = alt.X("start:Q", title=f"{unit} an epoch", scale=scale, axis=alt.Axis(tickCount=5 if over_all > PHONE else 3))
    colour = alt.Color(
        "stage:N",
        scale=alt.Scale(domain=list(STAGE_COLOURS), range=list(STAGE_COLOURS.values())),
        legend=alt.Legend(title=None, orient="top", symbolType="square", symbolSize=140),
    )
    base = alt.Chart(values_of(rows))
    bars = base.mark_bar(stroke="#ffffff", strokeWidth=0.8).encode(
        x=x, x2="end:Q", y=y, color=colour, description="hover:N"
    )
    pixel = longest * per_unit / width
    beside = {ring["variant"]: ring["seconds"] * per_unit for ring in rings}
    roomy = [
        r | {"centre": _clear_of(beside.get(r["variant"]), r["start"], r["end"], 16 * pixel)}
        for r in rows
        if r["end"] - r["start"] > 22 * pixel
    ]
    shares = (
        alt.Chart(values_of(roomy))
        .mark_text(fontSize=11)
        .encode(x=alt.X("centre:Q", scale=scale), y=y, text="share:N", color=alt.Color("ink:N", scale=None))
    )
    last = alt.Chart(values_of([r for r in rows if r["order"] == 0])).mark_text(
        align="left", dx=8, fontSize=11, color=INK
    )
    totals = last.encode(x=alt.value(width), y=y, text="total_text:N")  # a column: a ring may lie beyond the bar
    layers = [bars, shares, totals] if roomy else [bars, totals]
    if floors:
        scaled = alt.Chart(values_of([f | {"floor": f["floor"] * per_unit} for f in floors]))
        ticks = scaled.mark_tick(color=INK, thickness=3, size=24)
        layers.append(ticks.encode(x=alt.X("floor:Q", scale=scale), y=y, description="hover:N"))
    if rings:
        scaled = alt.Chart(values_of([r | {"seconds": r["seconds"] * per_unit} for r in rings]))
        x_of = alt.X("seconds:Q", scale=scale)
        halo = scaled.mark_point(size=64, stroke="#ffffff", strokeWidth=4.5, opacity=1).encode(x=x_of, y=y)
        ring = scaled.mark_point(size=64, stroke=INK, strokeWidth=1.8, opacity=1)
        layers += [halo, ring.encode(x=x_of, y=y, description="hover:N")]
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(24))
    return svg(chart, f"stages-{over_all}")
