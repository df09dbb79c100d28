"""Bytes in words."""

from __future__ import annotations


def in_words(size: float) -> str:
    """``4.1 GB``, ``312 MB``: decimal, two digits at least."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while abs(size) >= 999.5 and len(units) > 1:
        size /= 1000
        del units[0]
    unit = units[0]
    return f"{size:.1f} {unit}" if abs(size) < 9.95 and unit != "B" else f"{size:.0f} {unit}"
