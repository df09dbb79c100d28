"""Names beside points cover neither points nor each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.reports.figures.labels import Box, Point, place_labels, text_box

coordinates = st.tuples(st.floats(0, 578), st.floats(0, 400))


@given(st.lists(coordinates, max_size=60))
def test_labels_never_overlap_and_stay_inside(places: list[tuple[float, float]]) -> None:
    points = [Point(x, y, f"variant-{i}", y - 9, y + 9) for i, (x, y) in enumerate(places)]
    boxes = [text_box(label.text, label.left, label.middle) for label in place_labels(points, 578, 400)]
    for i, box in enumerate(boxes):
        assert box.left >= 0
        assert box.right <= 578
        assert box.top >= 0
        assert box.bottom <= 400
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_the_first_point_is_named_first_and_a_crowded_one_stays_bare() -> None:
    crowd = [Point(50.0, 50.0, name, 45.0, 55.0) for name in ("accepted", *"abcdefghijklmnopqrstuvw")]
    names = [label.text for label in place_labels(crowd, 130, 100)]
    assert names[0] == "accepted"
    assert len(names) < len(crowd)


def test_bars_are_kept_free() -> None:
    bar = Box(0.0, 49.0, 300.0, 51.0)
    (label,) = place_labels([Point(100.0, 50.0, "cache-0.3", 45.0, 55.0)], 300, 100, taken=[bar])
    assert not text_box(label.text, label.left, label.middle).overlaps(bar)
