"""The baseline under another name, timed beside other load: is it ever accepted?"""

from __future__ import annotations

from pathlib import Path

from harness.plan.model import CONTROL
from tests.benchmarks.planted.grid import planned
from tests.benchmarks.planted.load import busy_threads
from tests.benchmarks.result import Line

THREADS = 2
QUIET_PATIENCE_S, BUSY_PATIENCE_S = 30.0, 0.0


def lines(results: Path, repetitions: int) -> list[Line]:
    """The control is timed before the load comes, so that it leaves room for the largest gains."""
    grid = planned("busy", results)
    quality = grid.run("renamed")
    control = grid.time(CONTROL, QUIET_PATIENCE_S)
    with busy_threads(THREADS):
        timings = [grid.time("renamed", BUSY_PATIENCE_S, first_seed=100 * i) for i in range(repetitions)]
    verdicts = [grid.verdict(quality, timing, control) for timing in timings]
    blocks = [block for timing in timings for block in timing.blocks]
    gains = sum(v.speed.state == "gain" for v in verdicts)
    return [
        Line(
            f"beside {THREADS} busy threads: the baseline against itself accepted, of {repetitions}",
            sum(v.verdict == "accept" for v in verdicts),
            at_most=0,
            note=f"above {grid.plan.gate.min_speedup:.2f} by the interval alone: {gains}",
            samples={"ratio": [v.speed.ratio for v in verdicts if v.speed.ratio is not None]},
        ),
        Line(
            f"beside {THREADS} busy threads: blocks seen as disturbed, of {len(blocks)}",
            sum(block.disturbed for block in blocks),
            at_least=len(blocks),
            samples={"other_load": [block.other_load for block in blocks]},
        ),
    ]
