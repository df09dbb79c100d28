"""Numbers as the reasons print them."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_DECIMALS = 4
_MOST_NUMBERS = 6
METRICS = {"accuracy": "accuracy", "roc_auc": "ROC-AUC", "macro_f1": "macro-F1"}


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign, −0.31 or +0.10; zero has none, nor has what rounds to it."""
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0.0:
        return text
    return ("−" if value < 0 else "+") + text


def interval_pp(lower: float, upper: float, places: int = 2) -> str:
    """An interval of percentage points."""
    return f"[{signed(lower, places)}, {signed(upper, places)}]"


def places_apart(bounds: Sequence[float], *limits: float, places: int = 2) -> int:
    """Decimals, at least so many and at most four, in which no bound that is off a limit prints as the limit."""
    while places < _MOST_DECIMALS and any(
        bound != limit and round(bound, places) == round(limit, places) for bound in bounds for limit in limits
    ):
        places += 1
    return places


def ratio_text(value: float, places: int = 2) -> str:
    """A ratio in at least so many decimals, and in up to four so that what is above 0 never prints as 0."""
    for digits in range(places, _MOST_DECIMALS + 1):
        text = f"{value:.{digits}f}"
        if value <= 0.0 or float(text) > 0.0:
            return text
    return "<0.0001"


def interval_text(lower: float, upper: float, places: int = 2) -> str:
    """An interval of ratios."""
    return f"[{ratio_text(lower, places)}, {ratio_text(upper, places)}]"


def plural(count: int, noun: str) -> str:
    """1 pair, 2 pairs, 1,000 pairs."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(fraction: float) -> str:
    """A share in whole per cent."""
    return f"{100.0 * fraction:.0f} %"


def seconds_text(seconds: float | None) -> str:
    """A duration in the unit a person would say."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 119.5:
        return f"{seconds:.3g} s"
    if seconds < 7170:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def numbers(values: Sequence[int]) -> str:
    """5, 10, 20; more than six by their ends: 3, 4, … 200."""
    if len(values) > _MOST_NUMBERS:
        return f"{values[0]}, {values[1]}, … {values[-1]}"
    return ", ".join(map(str, values))


def listed(names: Sequence[str], most: int | None = None) -> str:
    """a; a and b; a, b and c; and where only so many are to be named, a, b and 3 others."""
    shown = list(names) if most is None or len(names) <= most else [*names[:most], plural(len(names) - most, "other")]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
