"""Where to write the names beside the points of a scatter plot, so that they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHARACTER_PX = 6.3  # mean advance of a sans-serif face at 12 px, on the wide side
LINE_PX = 14.0
_GAP = 9.0
_POINT_RADIUS = 6.0
_FARTHEST = 30.0


@dataclass(frozen=True)
class Label:
    """A text with its left edge and its vertical centre, in pixels from the plot's top left corner."""

    text: str
    left: float
    middle: float


@dataclass(frozen=True)
class Box:
    """What takes room: pixels from the plot's top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


@dataclass(frozen=True)
class Point:
    """A point with its name; `high` and `low` are the ends of its upright bar, in pixels from the top."""

    x: float
    y: float
    text: str
    high: float
    low: float


def text_box(text: str, left: float, middle: float) -> Box:
    """The room of a text of one line."""
    return Box(left, middle - LINE_PX / 2, left + len(text) * CHARACTER_PX, middle + LINE_PX / 2)


def place_labels(points: Sequence[Point], width: float, height: float, taken: Sequence[Box] = ()) -> list[Label]:
    """Give each point, in order of importance, the first free place beside it; a point without one stays bare.

    Args:
        points: in pixels from the top left corner.
        width: of the plot, pixels.
        height: of the plot, pixels.
        taken: bars, lines and texts that stand there already.

    Returns:
        Labels of those points that have room, in the same order.
    """
    marks = [Box(p.x - _POINT_RADIUS, p.y - _POINT_RADIUS, p.x + _POINT_RADIUS, p.y + _POINT_RADIUS) for p in points]
    occupied = [*marks, *taken]
    labels = []
    for point in points:
        box = _free_place(point, width, height, occupied)
        if box is not None:
            occupied.append(box)
            labels.append(Label(point.text, box.left, (box.top + box.bottom) / 2))
    return labels


def _free_place(point: Point, width: float, height: float, occupied: list[Box]) -> Box | None:
    x, y, text = point.x, point.y, point.text
    wide = len(text) * CHARACTER_PX
    beside, above = x + _GAP / 2, y - _POINT_RADIUS - LINE_PX / 2
    before, below = x - _GAP / 2 - wide, y + _POINT_RADIUS + LINE_PX / 2
    # No farther than that: a name must not seem to belong to another point.
    for left, middle in (
        (beside, above),
        (beside, below),
        (before, above),
        (before, below),
        (x - wide / 2, above),
        (x - wide / 2, below),
        (x + _GAP, y),
        (x - _GAP - wide, y),
        (x - wide / 2, max(point.high - LINE_PX / 2, y - _FARTHEST)),
        (x - wide / 2, min(point.low + LINE_PX / 2, y + _FARTHEST)),
    ):
        box = text_box(text, left, middle)
        inside = box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height
        if inside and not any(box.overlaps(other) for other in occupied):
            return box
    return None
