"""Where to write the names beside the points of a scatter plot, so that they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CHARACTER_PX = 6.3  # mean advance of a sans-serif face at 12 px, on the wide side
LINE_PX = 14.0
_GAP = 9.0
_POINT_RADIUS = 6.0


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


def text_box(text: str, left: float, middle: float) -> Box:
    """The room of a text of one line."""
    return Box(left, middle - LINE_PX / 2, left + len(text) * CHARACTER_PX, middle + LINE_PX / 2)


def place_labels(
    points: Sequence[tuple[float, float, str]], width: float, height: float, taken: Sequence[Box] = ()
) -> list[Label]:
    """Give each point, in order of importance, the first free place beside it; a point without one stays bare.

    Args:
        points: x and y in pixels from the top left corner, and the text.
        width: of the plot, pixels.
        height: of the plot, pixels.
        taken: bars, lines and texts that stand there already.

    Returns:
        Labels of those points that have room, in the same order.
    """
    marks = [Box(x - _POINT_RADIUS, y - _POINT_RADIUS, x + _POINT_RADIUS, y + _POINT_RADIUS) for x, y, _ in points]
    occupied = [*marks, *taken]
    labels = []
    for x, y, text in points:
        box = _free_place(x, y, text, width, height, occupied)
        if box is not None:
            occupied.append(box)
            labels.append(Label(text, box.left, (box.top + box.bottom) / 2))
    return labels


def _free_place(x: float, y: float, text: str, width: float, height: float, occupied: list[Box]) -> Box | None:
    wide = len(text) * CHARACTER_PX
    for rise in (_GAP + 2, 0.0):  # no farther: a name must not seem to belong to another point
        for left, middle in (
            (x + _GAP / 2, y - rise),
            (x + _GAP / 2, y + rise),
            (x - _GAP / 2 - wide, y - rise),
            (x - _GAP / 2 - wide, y + rise),
            (x - wide / 2, y - rise - 4),
            (x - wide / 2, y + rise + 4),
            (x + _GAP, y - rise / 2),
            (x - _GAP - wide, y - rise / 2),
        ):
            box = text_box(text, left, middle)
            inside = box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height
            if inside and not any(box.overlaps(other) for other in occupied):
                return box
    return None
