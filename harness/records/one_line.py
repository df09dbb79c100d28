"""A message in one line, for records, progress and tables."""

from __future__ import annotations


def one_line(text: str, limit: int = 400) -> str:
    """The first line with words on it, cut to ``limit`` characters; one that ends in a colon takes the next along."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[0] if lines else ""
    if line.endswith(":") and len(lines) > 1:
        line = f"{line} {lines[1]}"
    return line if len(line) <= limit else line[: limit - 1] + "…"
