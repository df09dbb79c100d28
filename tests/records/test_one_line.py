"""Messages in one line."""

from __future__ import annotations

import pytest

from harness.records.one_line import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("\n  first \nsecond", "first"),
        ("given:\n  twice\n  more", "given: twice"),
        ("alone:", "alone:"),
        ("x" * 401, "x" * 399 + "…"),
    ],
)
def test_the_first_line_with_words(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_limit_of_ones_own() -> None:
    assert one_line("abcdef", limit=4) == "abc…"
