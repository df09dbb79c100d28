"""Results as text of 80 columns, and as Markdown for docs/benchmarks.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime

from tests.benchmarks.result import Line, Result

WIDTH = 80
_WHAT, _VALUE, _REQUIRED, _MET = 38, 12, 9, 4


def as_text(result: Result) -> str:
    """A title, how it was measured, and a line for each number."""
    lines = [f"{result.name}: {result.title}", *textwrap.wrap(result.how, WIDTH), ""]
    lines.append(f"{'':{_WHAT}} {'':>{_VALUE}} {'required':>{_REQUIRED}} {'met':>{_MET}}")
    for line in result.lines:
        lines += _row(line)
    return "\n".join(lines)


def _row(line: Line) -> Iterator[str]:
    what = textwrap.wrap(line.what, _WHAT) or [""]
    yield from what[:-1]
    left = f"{what[-1]:{_WHAT}} {number(line):>{_VALUE}} {line.requirement:>{_REQUIRED}} {_met(line):>{_MET}}"
    note = f"  {line.note}" if line.note else ""
    if len(left + note) <= WIDTH:
        yield (left + note).rstrip()
        return
    yield left.rstrip()
    yield from textwrap.wrap(line.note, WIDTH, initial_indent="    ", subsequent_indent="    ")


def as_markdown(results: list[Result]) -> str:
    """What they were measured on, and a table for each."""
    return "\n".join([*_machines(results), *(line for result in results for line in _markdown_table(result))])


def _machines(results: list[Result]) -> Iterator[str]:
    """One line for each machine and set of versions that results come from."""
    shown = ("cores", "cpu_capability", "memory_bytes", "python", "torch", "pyg", "numba", "numpy", "scipy", "pymetis")
    found: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        known = {**result.environment, "memory_bytes": f"{(result.environment['memory_bytes'] or 0) / 2**30:.0f} GiB"}
        found.setdefault(tuple(f"{key.removesuffix('_bytes')} {known[key]}" for key in shown), []).append(result.name)
    for machine, names in found.items():
        yield f"Measured with {', '.join(machine)}" + (f" ({', '.join(names)})." if len(found) > 1 else ".")
        yield ""


def _markdown_table(result: Result) -> Iterator[str]:
    finished = datetime.fromtimestamp(result.finished, UTC).date()
    yield from (f"### {result.name}: {result.title}", "")
    yield from (f"{result.how} `python -m tests.benchmarks {result.name}`, {finished}.", "")
    yield from ("| | measured | required | met |", "|---|---:|---:|---|")
    for line in result.lines:
        note = f" ({line.note})" if line.note else ""
        yield f"| {line.what}{note} | {number(line)} | {line.requirement} | {_met(line)} |"
    yield ""


def number(line: Line) -> str:
    """Three digits that count, with the unit."""
    if line.value is None:
        return "-"
    value = line.value
    digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{digits} {line.unit}".rstrip()


def _met(line: Line) -> str:
    if line.met is None:
        return "-" if line.requirement else ""
    return "yes" if line.met else "NO"
