"""A sampler that keeps one neighbour in ten, and two options that change nothing but time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, stdev

from harness.plan.model import CONTROL
from harness.records.results import VariantResult
from harness.verdicts.model import ComparisonVerdict
from tests.benchmarks.planted.grid import Grid, planned
from tests.benchmarks.result import Line

POOR, EXACT = "one-in-ten", ("cache", "spmm")
PATIENCE_S = 30.0
JOBS = 2  # trainings share the machine


def lines(results: Path, repetitions: int) -> list[Line]:
    grid = planned("samplers", results)
    seeds = grid.plan.seeds.looks[0]
    firsts = [i * seeds for i in range(repetitions)]
    every = grid.run(POOR, seeds=repetitions * seeds)  # the repetitions below find these runs
    with ThreadPoolExecutor(JOBS) as pool:
        found = {name: list(pool.map(lambda first, n=name: grid.run(n, first), firsts)) for name in (POOR, *EXACT)}
    return [*_poor(grid, found[POOR], every), *(line for name in EXACT for line in _exact(grid, name, found[name]))]


def _poor(grid: Grid, found: list[VariantResult], every: VariantResult) -> list[Line]:
    """It is faster, so that its accuracy alone stands between it and an accept."""
    timing, control = grid.time(POOR, PATIENCE_S), grid.time(CONTROL, PATIENCE_S)
    verdicts = [grid.verdict(quality, timing, control) for quality in found]
    reached = [v.verdict for v in verdicts]
    drops = [
        100.0 * (r.metric - v.metric)
        for v, r in zip(every.runs, every.reference_runs, strict=True)
        if v.metric is not None and r.metric is not None
    ]
    lower = verdicts[0].speed.ci[0] if verdicts[0].speed.ci is not None else None
    error = stdev(drops) / len(drops) ** 0.5
    return [
        Line(
            f"one neighbour in ten: accepted, of {len(found)}",
            reached.count("accept"),
            at_most=0,
            note=", ".join(f"{word} {reached.count(word)}" for word in sorted(set(reached))),
        ),
        Line(
            f"one neighbour in ten: accuracy lost, mean of {len(drops)} seeds",
            fmean(drops),
            "points",
            at_least=grid.plan.gate.max_drop_pp,
            note=f"standard error {error:.2f}",
            samples={"drop_pp": drops},
        ),
        Line(
            "one neighbour in ten: lower bound of its speed-up",
            lower,
            "x",
            at_least=grid.plan.gate.min_speedup,
            note="else it could not be accepted anyway",
        ),
    ]


def _exact(grid: Grid, name: str, found: list[VariantResult]) -> list[Line]:
    verdicts = [grid.verdict(quality) for quality in found]
    differences = [abs(pair.delta_pp) for v in verdicts if v.accuracy is not None for pair in v.accuracy.seeds]
    identical = sum(v.accuracy is not None and v.accuracy.identical for v in verdicts)
    return [
        Line(
            f"{name}: found exact, of {len(found)}",
            sum(map(found_exact, verdicts)),
            at_least=len(found),
            note=f"predictions identical in {identical}",
        ),
        Line(f"{name}: largest difference of {len(differences)} pairs", max(differences), "points", at_most=0),
    ]


def found_exact(verdict: ComparisonVerdict) -> bool:
    """The accuracy passes, and the parity check found the variant equal to the baseline."""
    parity, accuracy = verdict.parity, verdict.accuracy
    return parity is not None and parity.ok and accuracy is not None and accuracy.state == "pass"
