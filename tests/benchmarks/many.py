"""How long the harness itself takes over a large grid: 10,000 runs planned, analysed and reported."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from harness.plan.expand import make_plan
from harness.plan.files import write_plan
from harness.plan.machine import Machine, probe
from harness.plan.model import CONTROL, Plan
from harness.records.results import Block, SeedRun, TimedProcess, TimingResult, VariantResult
from harness.spec.load import load_spec
from harness.spec.places import cache_root
from tests.benchmarks.result import Line, Result

TITLE = "a large grid: 10,000 runs planned, analysed and reported"
HOW = (
    "Results of tests/verdicts/real/debian, with all their counters, as those of a grid: each variant's runs beside "
    "its reference's, six blocks of timing, noise on every number. Wall clock of the commands, their start and their "
    "files included; of planning, of `load_spec`, `make_plan` and `write_plan` in a process that has them imported."
)
REAL = Path(__file__).parents[1] / "verdicts" / "real" / "debian"
RUNS = 10_000
MOST_PLAN_S, MOST_REPORT_S = 3.0, 10.0
SHAPES = ((500, [5, 10, 20]), (50, [5, 20, 50, 200]))  # variants, looks: many variants, and many seeds
BLOCKS = 6

SPEC = """\
version: 1
name: {name}
dataset: {{source: builtin, name: wordnet, subset: verb}}
model: {{conv: sage, layers: 2, hidden: 64}}
training: {{epochs: 30, batch_size: 512, lr: 0.02}}
baseline: {{batching: neighbor, sampling: {{fanout: [10, 5]}}}}
variants:
  cache: {{grid: {{features.cache_ratio: {ratios}, training.lr: {rates}}}}}
seeds: {{looks: {looks}}}
"""


def run(asked: argparse.Namespace) -> Result:
    machine = probe(cache_root())
    shapes = [(variants // 50, looks) for variants, looks in SHAPES] if asked.quick else list(SHAPES)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for variants, looks in shapes:
            lines += _of_shape(Path(folder), machine, variants, looks, repeats=1 if asked.quick else 3)
    return Result("many", TITLE, HOW, lines)


def _of_shape(folder: Path, machine: Machine, variants: int, looks: list[int], repeats: int) -> list[Line]:
    """A line for planning, one for analysing and reporting, and what the page weighs."""
    spec = _write_spec(folder, variants, looks)
    results = folder / "results"
    planning, writing = [], []
    for _ in range(repeats):
        started = time.perf_counter()
        plan = make_plan(load_spec(spec), spec, machine, cores=2)
        planning.append(time.perf_counter() - started)
        write_plan(plan, results)
        writing.append(time.perf_counter() - started)
    place = results / plan.spec
    write_results(plan, place)
    analyze, report = (
        ("analyze", str(place / "plan.json"), "--output", str(place / "verdicts.json")),
        ("report", str(place)),
    )
    taken = [(_taken(folder, *analyze), _taken(folder, *report)) for _ in range(repeats)]
    wall, busy = ([[command[kind] for command in both] for both in zip(*taken, strict=True)] for kind in (0, 1))
    what = f"{variants} variants, {looks[-1]} seeds"
    return [
        Line(f"{what}: spec to plan", median(planning), "s", at_most=MOST_PLAN_S, samples={"plan_s": planning}),
        Line(f"{what}: and its files", median(writing), "s", samples={"plan_and_files_s": writing}),
        Line(
            f"{what}: results to report",
            median(map(sum, zip(*wall, strict=True))),
            "s",
            at_most=MOST_REPORT_S,
            note=f"verdicts {median(wall[0]):.1f} s, page and tables {median(wall[1]):.1f} s; of the processor's time "
            f"{median(busy[0]):.1f} and {median(busy[1]):.1f} s; load {os.getloadavg()[0]:.1f}",
            samples={"analyze_s": wall[0], "report_s": wall[1], "analyze_cpu_s": busy[0], "report_cpu_s": busy[1]},
        ),
        Line(f"{what}: the page", (place / "report.html").stat().st_size / 1e6, "MB", at_most=5.0),
    ]


def _write_spec(folder: Path, variants: int, looks: list[int]) -> Path:
    rates = 5 if variants % 5 == 0 else 1
    ratios = [round((i + 1) / (variants // rates + 1), 6) for i in range(variants // rates)]
    name = f"many-{variants}"
    path = folder / "specs" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SPEC.format(name=name, ratios=ratios, rates=[0.01 + 0.001 * i for i in range(rates)], looks=looks))
    return path


def write_results(plan: Plan, place: Path) -> None:
    """What the jobs of a plan would have left, as far as analysis and report read it.

    Args:
        plan: of one reference.
        place: `results/<spec>`.
    """
    baseline = VariantResult.model_validate_json((REAL / "variants" / "baseline.json").read_bytes())
    variant = VariantResult.model_validate_json((REAL / "variants" / "cache.json").read_bytes())
    timing = TimingResult.model_validate_json((REAL / "timing" / "cache.json").read_bytes())
    control = TimingResult.model_validate_json((REAL / "timing" / "control.json").read_bytes())
    seeds = range(plan.seeds.looks[-1])
    reference_name = next(iter(plan.cells))
    reference_cell = plan.cells[reference_name].cell_id
    reference_runs = [_run(baseline.runs[0], seed, 0) for seed in seeds]
    for number, (name, cell) in enumerate(plan.cells.items()):
        made = variant if number else baseline
        fields = {"variant": name, "cell_id": cell.cell_id}
        if number:
            runs = [_run(variant.runs[0], seed, number) for seed in seeds]
            fields |= {"runs": runs, "reference_runs": reference_runs, "reference_cell_id": reference_cell}
        else:
            fields |= {"runs": reference_runs}
        _write(place / "variants" / f"{name}.json", made.model_copy(update=fields))
        what = {"variant": name if number else CONTROL, "cell_id": cell.cell_id, "reference": reference_name}
        what |= {"reference_cell_id": reference_cell}
        source = timing if number else control
        _write(place / "timing" / f"{what['variant']}.json", _timed(source, number).model_copy(update=what))


def _run(run: SeedRun, seed: int, number: int) -> SeedRun:
    """The same run on another seed: another id, other predictions, a metric that scatters by half a point."""
    shift = 0.01 * (((seed * 37 + number * 101) % 97) / 97 - 0.5)
    curve = [value + shift for value in run.val_accuracy] * 8
    update = {"seed": seed, "run_id": f"{number:010d}{seed:010d}", "metric": (run.metric or 0.0) + shift}
    return run.model_copy(update=update | {"predictions_sha256": f"{number:032d}{seed:032d}", "val_accuracy": curve})


def _timed(timing: TimingResult, number: int) -> TimingResult:
    """Six blocks of the first one, with ratios that scatter."""
    first = timing.blocks[0]
    gain = 0.002 * (number % 100) if number else 0.0
    ratios = [gain + 0.01 * (((i * 53 + number * 29) % 89) / 89 - 0.5) for i in range(2 * BLOCKS)]
    blocks = [_block(first, i) for i in range(BLOCKS)]
    return timing.model_copy(update={"blocks": blocks, "log_ratios": ratios, "memory_log_ratios": ratios})


def _block(block: Block, index: int) -> Block:
    processes: list[TimedProcess] = [
        p.model_copy(update={"run_id": f"{index}-{i}"}) for i, p in enumerate(block.processes)
    ]
    return block.model_copy(update={"index": index, "processes": processes})


def _write(path: Path, result: VariantResult | TimingResult) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result.model_dump_json(indent=2))


def _taken(folder: Path, *arguments: str) -> tuple[float, float]:
    """Seconds of a command: by the wall's clock, and of the processor."""
    started, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, "-m", "harness.cli", *arguments], cwd=folder, check=True)
    after = os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, busy
