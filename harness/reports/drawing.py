"""What all figures share: sizes, inks, a name's place on an axis, and SVG without a browser or a network."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.reports.digits import shortened, shortened_apart
from harness.reports.escaping import clean
from harness.reports.labels import CHARACTER_PX

PHONE = 400  # pixels: what is narrower is laid out for a phone
WIDE, NARROW = 640, 340  # pixels over all: for a page, and for a phone
INK, MUTED, GRID = "#1f2328", "#59636e", "#d1d9e0"  # the page's dark mode replaces these
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class Figure:
    """A figure with the sentence that says how to read it; without data, the sentence that says why it is missing."""

    name: str  # figures/<name>.svg
    title: str
    caption: str
    wide: str = ""  # SVG, empty where the data are absent
    narrow: str = ""
    missing: str = ""


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


def svg(chart: Any, prefix: str) -> str:
    """Render with plain type and a light grid; ids get a prefix, so that several figures fit into one page."""
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
    file = io.StringIO()
    styled.save(file, format="svg")
    return _with_prefix(file.getvalue(), prefix)


def _with_prefix(svg: str, prefix: str) -> str:
    changed: Callable[[re.Match[str]], str] = lambda m: f"{m.group(1)}{prefix}-{m.group(2)}"  # noqa: E731
    svg = re.sub(r'(<[A-Za-z]+ [^>]*?\bid=")([^"]+)', changed, svg)
    return re.sub(r"(url\(#)([^)]+)", changed, svg)
