"""What a benchmark found: lines with a number each, the requirement it is held to, and every raw sample."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """One number of a table.

    Attributes:
        what: what was measured.
        value: the number; None where there is none, for the reason in `note`.
        unit: ``x`` for a ratio, else seconds, bytes and so on; shown behind the number.
        at_least, at_most: the requirement, if there is one.
        note: beside the number, a few words.
        samples: what the number is the median of, or made from, by name.
    """

    what: str
    value: float | None
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def requirement(self) -> str:
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return f"<= {self.at_most:g}" if self.at_most is not None else ""

    @property
    def met(self) -> bool | None:
        """None where nothing is required, or nothing could be measured."""
        if self.value is None or not self.requirement:
            return None
        return self.value >= self.at_least if self.at_least is not None else self.value <= (self.at_most or 0.0)


@dataclass(frozen=True)
class Result:
    """One benchmark's table.

    Attributes:
        name: of the benchmark, as on the command line.
        title: what is compared with what.
        how: how it was measured, a sentence or two.
        lines: the table.
        environment: versions, cores, threads (`harness.runs.environment`).
        finished: seconds since 1970.
    """

    name: str
    title: str
    how: str
    lines: list[Line]
    environment: dict[str, Any] = field(default_factory=dict)
    finished: float = field(default_factory=time.time)


def write(result: Result, folder: Path) -> None:
    """The result as ``<folder>/<name>.json``, and all results there as ``bench.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / f"{result.name}.json", asdict(result))
    _replace(folder / "bench.json", {r.name: asdict(r) for r in read_all(folder)})


def read_all(folder: Path) -> list[Result]:
    """Results kept so far, in the order of their names."""
    return [_read(path) for path in sorted(folder.glob("*.json")) if path.name != "bench.json"]


def _read(path: Path) -> Result:
    kept = json.loads(path.read_text())
    return Result(**{**kept, "lines": [Line(**line) for line in kept["lines"]]})


def _replace(path: Path, content: Any) -> None:
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(content, indent=1))
    beside.replace(path)
