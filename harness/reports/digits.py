"""Numbers as people read them: as many digits as the interval supports, and no more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.verdicts.wording import places_apart, ratio_text
from harness.verdicts.wording import seconds_text as seconds_text

MINUS = "\u2212"
MOST_DECIMALS = 4


def decimals(
    lower: float | None, upper: float | None, *limits: float, default: int = 2, most: int = MOST_DECIMALS
) -> int:
    """Decimals of a value and of its interval.

    The rule, of the Particle Data Group ("Review of Particle Physics", Introduction, section on rounding): take the
    first three digits of half the interval's width; 100 to 354 keep two significant digits of it, 355 to 949 keep one,
    950 to 999 round up to 1000 and keep two. The value and both bounds are then printed to that decimal place.
    One exception, so that a table never contradicts its verdict: while a bound that is off a limit would print as the
    limit (-0.4996 as -0.50), a decimal is added, up to four.

    Args:
        lower: lower bound; None, or not finite, where there is none.
        upper: upper bound.
        limits: values that the bounds are judged against.
        default: decimals where there is no interval, or one without width.
        most: no more decimals than that where columns are narrow; the exception then adds one at most.

    Returns:
        Decimals, 0 to 4.
    """
    places = default
    known = [b for b in (lower, upper) if b is not None and math.isfinite(b)]
    if len(known) == 2 and upper is not None and lower is not None and upper > lower:
        half = (upper - lower) / 2
        exponent = math.floor(math.log10(half))
        leading = round(half / 10.0**exponent * 100)
        if leading >= 950:
            exponent, leading = exponent + 1, 100
        places = max((1 if leading <= 354 else 0) - exponent, 0)
    places = min(places, most)
    return min(places_apart(known, *limits, places=places), most + 1)


def fixed(value: float | None, places: int, signed: bool = False) -> str:
    """A number with a true minus sign and no negative zero; `signed` puts a plus before gains."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{places}f}"
    if float(text) == 0.0:
        return text
    return (MINUS if value < 0 else "+" if signed else "") + text


def with_interval(
    value: float | None,
    interval: tuple[float | None, float | None] | list[float] | None,
    *limits: float,
    signed: bool = False,
    most: int = MOST_DECIMALS,
) -> str:
    """`value [lower, upper]` by the rule of `decimals`; a dash where nothing was measured."""
    if value is None:
        return "–"
    lower, upper = interval if interval is not None else (None, None)
    places = decimals(lower, upper, *limits, most=most)
    if lower is None and upper is None:
        return fixed(value, places, signed)
    return f"{fixed(value, places, signed)} [{fixed(lower, places, signed)}, {fixed(upper, places, signed)}]"


def ratio_with_interval(
    value: float | None, interval: tuple[float, float] | None, *limits: float, most: int = MOST_DECIMALS
) -> str:
    """`with_interval` of a ratio: what is above 0 never prints as 0, however wide the interval is."""
    if value is None or not math.isfinite(value):
        return "–"
    lower, upper = interval if interval is not None else (None, None)
    places = decimals(lower, upper, *limits, most=most)
    if value > 0 and round(min(value, value if lower is None else lower), places) == 0:
        places = max(places, min(2, most))
    if lower is None or upper is None:
        return ratio_text(value, places)
    bounds = [ratio_text(bound, places) if math.isfinite(bound) else "–" for bound in (lower, upper)]
    return f"{ratio_text(value, places)} [{bounds[0]}, {bounds[1]}]"


def bytes_text(count: float | None) -> str:
    """Bytes in the unit that leaves one to three digits before the point; 1 MB is 10^6 bytes."""
    if count is None:
        return "–"
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(count) >= 0.9995 * size:
            scaled = count / size
            return f"{scaled:.{0 if abs(scaled) >= 99.95 else 1}f} {unit}"
    return f"{count:.0f} B"


def shortened(text: str, width: int, head: int | None = None) -> str:
    """At most `width` characters, cut in the middle: the ends of a variant's name tell it from its neighbours.

    Args:
        text: anything.
        width: characters.
        head: characters kept before the cut; half of them by default.
    """
    if len(text) <= width:
        return text
    if width < 3:
        return text[:width]
    head = (width - 1) // 2 if head is None else head
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def shortened_apart(names: Sequence[str], width: int) -> list[str]:
    """`shortened`, with names that are cut alike told apart: by another place for the cut, else by a number."""
    middle = (width - 1) // 2
    for head in sorted(range(1, max(width - 2, 2)), key=lambda head: abs(head - middle)):
        cut = [shortened(name, width, head) for name in names]
        if len(set(cut)) == len(set(names)):
            return cut
    seen: dict[str, list[str]] = {}
    for name in names:
        alike = seen.setdefault(shortened(name, width), [])
        if name not in alike:
            alike.append(name)
    return [_numbered(name, width, seen[shortened(name, width)]) for name in names]


def _numbered(name: str, width: int, alike: list[str]) -> str:
    if len(alike) == 1:
        return shortened(name, width)
    number = f"#{alike.index(name) + 1}"
    return shortened(name, width - len(number)) + number if len(name) > width else name
