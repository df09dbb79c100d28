"""The section on what is recommended together: the verdict on the whole, its parts, and its floors. Plain text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.reports.answer import cell_names, sentence
from harness.reports.details import patch_text
from harness.reports.digits import bytes_text, ratio_with_interval, seconds_text, with_interval
from harness.reports.tables import verdict_cells
from harness.verdicts.model import Confirmation, PartVerdict, StackHeight, Verdicts
from harness.verdicts.wording import plural

HEADING = "Recommended together"
PART_HEADINGS = ("left out", "metric without it, pp [95 % CI]", "time, stack over rest [CI]", "memory [CI]", "so")
HEIGHT_HEADINGS = ("stack", "times as fast as the baseline [CI]", "an epoch", "peak memory", "times smaller [CI]")
PARTS_CAPTION = (
    "Each part left out of the stack, on the seeds that the stack ran. Ratios are the stack over the stack without the "
    "part: below 1, the part makes it faster, or smaller. Described, not judged: each interval stands by itself."
)
HEIGHTS_CAPTION = (
    "The stack in the order of the spec, each height timed against the baseline by itself. A height whose interval "
    "holds the one before it adds nothing that was shown; another order may share the gain out differently. An epoch: "
    "the baseline's median beside the highest stack over the ratio, since the rows were timed at other moments."
)


@dataclass(frozen=True)
class Together:
    """What the section says; tables are empty where there is nothing to show."""

    lines: list[str]
    row: list[list[str]]  # of the verdict table's headings
    parts: list[list[str]]
    words: list[str]  # of the parts, a sentence each, and of heights without a ratio
    heights: list[list[str]]


def together(verdicts: Verdicts) -> Together | None:
    """The section; None where the spec asks for no confirmation."""
    found = verdicts.confirmation
    if found is None:
        return None
    names = cell_names(verdicts)
    return Together(
        lines=_lines(found, names),
        row=[] if found.comparison is None else [verdict_cells(found.comparison, verdicts.gate)],
        parts=[_part(p) for p in found.parts],
        words=[
            *(sentence(p.words, names=names) for p in found.parts),
            *(
                sentence(f"{_floor(i, h)} has no ratio: {h.missing}", capital=False)
                for i, h in enumerate(found.heights)
                if h.missing
            ),
        ],
        heights=[_height(i, h, _baseline_s(found)) for i, h in enumerate(found.heights)],
    )


def _lines(found: Confirmation, names: Collection[str]) -> list[str]:
    lines = [sentence(found.note, names=names)]
    if found.names:
        lines.append(f"Switched on: {', '.join(found.names)} ({patch_text(found.patch)}).")
    lines += [sentence(words, names=names) for words in found.left_out]
    if found.seeds:
        first, last = min(found.seeds), max(found.seeds)
        lines.append(
            f"Judged on {plural(len(found.seeds), 'seed')} that nothing was chosen by ({first} to {last}), against a "
            "new baseline on the same seeds; timed as one."
        )
    return lines


def _part(part: PartVerdict) -> list[str]:
    return [
        part.variant,
        with_interval(part.delta_pp, part.ci_pp, 0.0, signed=True, most=2),
        ratio_with_interval(part.speed.ratio, part.speed.ci, 1.0, most=2),
        ratio_with_interval(part.memory.ratio, part.memory.ci, 1.0, most=2),
        part.state,
    ]


def _baseline_s(found: Confirmation) -> float | None:
    """Seconds of the baseline's epoch that all heights are told by: a machine is not as fast in every row's blocks."""
    return next((h.speed.reference_epoch_s for h in reversed(found.heights) if h.speed.reference_epoch_s), None)


def _height(index: int, height: StackHeight, baseline_s: float | None) -> list[str]:
    ratio = height.speed.ratio
    return [
        _floor(index, height),
        ratio_with_interval(height.speed.ratio, height.speed.ci, 1.0, most=2),
        seconds_text(baseline_s / ratio if baseline_s is not None and ratio else None),
        bytes_text(height.memory.variant_bytes),
        ratio_with_interval(height.memory.ratio, height.memory.ci, 1.0, most=2),
    ]


def _floor(index: int, height: StackHeight) -> str:
    return f"{'baseline ' if index == 0 else ''}+ {height.adds}"
