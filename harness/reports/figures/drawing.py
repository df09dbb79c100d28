"""What all figures share: sizes, inks, a name's place on an axis, and SVG without a browser or a network.

A mark says its values where a pointer rests on it, and to a screen reader, if its chart encodes `description=` from a
field of its rows (`description="hover:N"`); marks without one are silent, so that nothing is said twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.reports.digits import shortened, shortened_apart
from harness.reports.escaping import clean
from harness.reports.figures.data import FigureData
from harness.reports.figures.labels import CHARACTER_PX

PHONE = 400  # pixels: what is narrower is laid out for a phone
WIDE, NARROW = 640, 340  # pixels over all: for a page, and for a phone
INK, MUTED, GRID = "#1f2328", "#59636e", "#d1d9e0"  # the page's dark mode replaces these
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class Figure:
    """A figure with the sentence that says how to read it; without data, the sentence that says why it is missing."""

    name: str  # figures/<name>.svg, figures/<name>.csv
    title: str
    caption: str
    wide: str = ""  # SVG, empty where the data are absent
    narrow: str = ""
    missing: str = ""
    data: FigureData | None = None  # what is drawn, for a CSV; every figure that is drawn has it


def names_axis(names: Sequence[str], over_all: int) -> tuple[Any, int]:
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
    return f"({json.dumps(texts)})[datum.value]"


def some(names: Sequence[str]) -> str:
    shown = [shortened(clean(n), 40) for n in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def scale(domain: tuple[float, float], kind: Literal["linear", "log"] = "linear") -> Any:
    import altair as alt

    return alt.Scale(domain=list(domain), type=kind, nice=False, zero=False)


def values_of(rows: Sequence[dict[str, Any]]) -> Any:
    """The data of a chart, as a tuple: Altair copies a list and all that is in it at every layer."""
    import altair as alt

    return alt.Data(values=tuple(rows))


def svg(chart: Any, prefix: str) -> str:
    """Render with plain type and a light grid; ids get a prefix, so that several figures fit into one page."""
    import altair as alt
    from vl_convert import vegalite_to_svg

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
    # Altair has checked each part as it was made; to check the whole again takes longer than to draw it.
    described = _silent_without_description(styled.to_dict(validate=False))
    version = "v" + ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return _titled(_with_prefix(vegalite_to_svg(described, vl_version=version), prefix))


def _silent_without_description(spec: dict[str, Any]) -> dict[str, Any]:
    """Marks that encode no description lose the label that Vega would make of their axes."""
    changed = dict(spec)
    for part in ("layer", "hconcat", "vconcat", "concat"):
        if part in spec:
            changed[part] = [_silent_without_description(inner) for inner in spec[part]]
    if "spec" in spec:  # of a facet
        changed["spec"] = _silent_without_description(spec["spec"])
    if "mark" in spec and "description" not in spec.get("encoding", {}):
        mark = spec["mark"]
        changed["mark"] = ({"type": mark} if isinstance(mark, str) else mark) | {"aria": False}
    return changed


_MARK = re.compile(r'<(\w+) (aria-label="([^"]*)" role="graphics-symbol"[^>]*)/>')


def _titled(svg: str) -> str:
    """Every labelled mark with its label as title, which a browser shows where the pointer rests."""
    return _MARK.sub(r"<\1 \2><title>\3</title></\1>", svg)


def _with_prefix(svg: str, prefix: str) -> str:
    changed: Callable[[re.Match[str]], str] = lambda m: f"{m.group(1)}{prefix}-{m.group(2)}"  # noqa: E731
    svg = re.sub(r'(<[A-Za-z]+ [^>]*?\bid=")([^"]+)', changed, svg)
    return re.sub(r"(url\(#)([^)]+)", changed, svg)
