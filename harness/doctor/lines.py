"""Findings as lines of 80 columns; what is wrong is said in words, never by colour."""

from __future__ import annotations

import textwrap

from harness.doctor.finding import Diagnosis, Finding, Section

WIDTH = 79
_INDENT = " " * 10


def lines_of(section: Section) -> list[str]:
    """Its title and findings, and an empty line."""
    return [section.title, *(line for finding in section.findings for line in _lines(finding)), ""]


def _lines(finding: Finding) -> list[str]:
    lines = _wrapped(finding.text, f"  {finding.level:<8}")
    return [*lines, *(_wrapped(finding.remedy, f"{_INDENT}to do: ") if finding.remedy else [])]


def _wrapped(text: str, start: str) -> list[str]:
    """Words are never cut: a path stays one that can be copied."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=start, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )


def summary(found: Diagnosis) -> list[str]:
    """How many of each, and whether runs are possible."""
    levels = [finding.level for section in found.sections for finding in section.findings]
    notes, problems = levels.count("note"), levels.count("problem")
    counted = f"{problems} problem{'s' if problems != 1 else ''}, {notes} note{'s' if notes != 1 else ''}"
    return [f"{counted}: " + ("runs are possible" if found.can_run else "no run is possible before it is mended")]
