"""A known pause in each step: does the interval of the speed-up hold the truth?

Pauses are short. Caches cool in one, by what other work on the processor leaves in them: on a shared machine with two
cores a step of 1.3 ms took 0.01 ms longer after a pause of 0.5 ms where it was quiet, 0.05 after 2 and 0.2 after 8.
That is no fault of the interval, which is a few per cent wide, so it has to stay far below that. A step whose pause is
taken away altogether has another state of the caches, which only the slowed variant shares with its baseline: of the
freed one the figures are shown, and nothing is required.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from harness.plan.model import BASELINE, CONTROL
from harness.records.results import TimingResult, VariantResult
from harness.verdicts.model import ComparisonVerdict
from tests.benchmarks.planted.grid import Grid, planned
from tests.benchmarks.result import Line

HELD = 0.9  # of the repetitions: 18 of 20
EPOCHS = 30  # of the baseline, in each of eight processes, before and again after
PATIENCE_S = 30.0
FREED = 3  # repetitions, at most


@dataclass(frozen=True)
class Found:
    """All repetitions of a variant."""

    verdicts: list[ComparisonVerdict]
    disturbed: int  # repetitions with a disturbed block


def lines(results: Path, repetitions: int) -> list[Line]:
    grid = planned("pauses", results)
    quality = {name: grid.run(name) for name in ("slowed", "freed")}
    control = grid.time(CONTROL, PATIENCE_S)
    epochs = baseline_epochs(grid)
    slowed = _repeated(grid, quality["slowed"], control, repetitions)
    freed = _repeated(grid, quality["freed"], control, min(repetitions, FREED))
    epochs += baseline_epochs(grid)
    return [*_lines(grid, "slowed", slowed, epochs), *_lines(grid, "freed", freed, epochs)]


def baseline_epochs(grid: Grid) -> list[float]:
    """Median seconds of an epoch of the baseline in each of eight fresh processes, which no repetition sees."""
    timing = grid.time(CONTROL, PATIENCE_S, epochs=EPOCHS)
    return [median(p.epoch_s) for block in timing.blocks for p in block.processes]


def true_ratio(baseline_s: float, paused_s: float) -> float:
    """Baseline over variant, whose epoch waits ``paused_s`` seconds longer (less, where negative)."""
    return baseline_s / (baseline_s + paused_s)


def _repeated(grid: Grid, quality: VariantResult, control: TimingResult, repetitions: int) -> Found:
    timings = [grid.time(quality.variant, PATIENCE_S, first_seed=100 * i) for i in range(repetitions)]
    disturbed = sum(any(block.disturbed for block in timing.blocks) for timing in timings)
    return Found([grid.verdict(quality, timing, control) for timing in timings], disturbed)


def _lines(grid: Grid, variant: str, found: Found, epochs: list[float]) -> list[Line]:
    ms = grid.pause_ms(variant) - grid.pause_ms(BASELINE)
    baseline_s = math.exp(fmean(map(math.log, epochs)))
    truth = true_ratio(baseline_s, grid.steps * ms / 1e3)
    intervals = [v.speed.ci for v in found.verdicts if v.speed.ci is not None]
    ratios = [v.speed.ratio for v in found.verdicts if v.speed.ratio is not None]
    n = len(found.verdicts)
    accepted = sum(v.verdict == "accept" for v in found.verdicts)
    what = f"{ms:+.3g} ms in each of {grid.steps} steps"
    samples = {
        "baseline_epoch_s": epochs,
        "ratio": ratios,
        "lower": [low for low, _ in intervals],
        "upper": [high for _, high in intervals],
    }
    width = median(high / low for low, high in intervals)
    return [
        Line(
            f"{what}: intervals that hold the truth, of {n}",
            sum(low <= truth <= high for low, high in intervals),
            at_least=math.ceil(HELD * n) if ms > 0 else None,
            note=f"truth {truth:.3f}; an epoch of the baseline {1e3 * baseline_s:.1f} ms; upper over lower {width:.3f} "
            f"in the median; {found.disturbed} beside other load",
            samples=samples,
        ),
        Line(f"{what}: measured speed-up over the true one", math.exp(fmean(map(math.log, ratios))) / truth, "x"),
        Line(f"{what}: accepted, of {n}", accepted, at_most=0 if ms > 0 else None),
    ]
