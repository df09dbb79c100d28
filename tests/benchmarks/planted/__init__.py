"""Effects of known size, planted in real runs: does the harness find them, and none where there is none?"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks.result import Result

TITLE = "verdicts on effects that were planted, in so many repetitions"
HOW = (
    "Synthetic graphs of 2,000 to 8,000 nodes; specs, plans, runs, timings and verdicts as of any spec, nothing "
    "replaced. Pauses: a model that waits a known time in each step, timed against one that waits less; the truth is "
    "the steps of an epoch times the pause, beside epochs of the baseline timed apart, before and after. Busy: the "
    "baseline under another name, beside a process with two busy threads, judged with a control that was timed before "
    "it came. Samplers: other seeds in each repetition."
)
REPETITIONS, QUICK_REPETITIONS = 20, 2


def run(asked: argparse.Namespace) -> Result:
    from tests.benchmarks.planted import busy, pauses, samplers

    repetitions = QUICK_REPETITIONS if asked.quick else REPETITIONS
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        lines = [line for part in (samplers, pauses, busy) for line in part.lines(Path(folder), repetitions)]
    return Result("planted", TITLE, HOW, lines)
