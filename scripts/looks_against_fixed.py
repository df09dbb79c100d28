"""What looking early would have saved, and changed: verdicts on accuracy by looks against a fixed number of seeds.

    python scripts/looks_against_fixed.py results/wordnet --looks 5,10,20 --looks 5,20

Takes results whose variants hold all seeds (a spec with ``seeds: {looks: [20]}``) and replays other looks on them.
Writes Markdown to stdout. Exit code 1 where a pass turned into a fail or back, 2 for bad input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.plan.model import Plan
from harness.records.files import read_model
from harness.records.record import Record
from harness.records.results import SeedRun, VariantResult
from harness.reports.tables import markdown_table
from harness.spec.errors import InputError, Problem
from harness.spec.schema import Gate
from harness.verdicts.pairs import judge_quality
from harness.verdicts.sequential import alpha_per_look
from harness.verdicts.wording import interval_pp, numbers, signed

LOOKS = [(5, 10, 20), (3, 5, 10, 20), (5, 20), (10, 20)]
DECIDED = ("pass", "fail")


@dataclass(frozen=True)
class Outcome:
    """One variant by one list of looks."""

    state: str  # of the gate, or dnf, enables
    seeds: int  # that the variant's job trains
    shown: str  # difference with its interval


@dataclass(frozen=True)
class Cost:
    """What all variants and their references train by one list of looks."""

    runs: int
    seconds: float | None  # None where a record is missing


def outcome(result: VariantResult, gate: Gate, looks: Sequence[int]) -> Outcome:
    """How the gate judges, and how many seeds that took: a job always finishes the seeds of its look."""
    quality = judge_quality(result, gate, looks)
    judged, accuracy = quality.judgement, quality.accuracy
    state = judged.state if quality.outcome == "ran" else quality.outcome
    seeds = max(judged.seen, next((n for n in looks if n >= judged.seen), looks[-1]))
    shown = "" if accuracy.delta_pp is None else f"{signed(accuracy.delta_pp)}"
    return Outcome(state, seeds, shown if accuracy.ci_pp is None else f"{shown} {interval_pp(*accuracy.ci_pp)}")


def cost(results: Mapping[str, VariantResult], seeds: Mapping[str, int], records: Path) -> Cost:
    """Runs and seconds where each variant trains so many seeds, and each reference as many as its neediest variant."""
    wanted: dict[str, SeedRun] = {}
    for name, result in results.items():
        for runs in (result.runs, result.reference_runs):
            wanted |= {run.run_id: run for run in sorted(runs, key=lambda run: run.seed)[: seeds[name]]}
    seconds = [run_seconds(records / f"{run_id}.json") for run_id in wanted]
    known = [s for s in seconds if s is not None]
    return Cost(len(wanted), sum(known) if len(known) == len(seconds) else None)


def run_seconds(path: Path) -> float | None:
    """Seconds of training: of the epochs where they are recorded, else from start to end; None without a record."""
    if not path.exists():
        return None
    record = read_model(path, Record)
    if record.epoch_s:
        return sum(record.epoch_s)
    started, ended = (datetime.fromisoformat(t) for t in (record.started_at, record.ended_at))
    return (ended - started).total_seconds()


def read_results(folder: Path) -> dict[str, VariantResult]:
    """Every variant's quality results below a results folder, by name; references have nothing to compare with."""
    found = {}
    for path in sorted(folder.rglob("variants/*.json")):
        result = read_model(path, VariantResult)
        if result.reference is not None:
            inside = path.parent.parent.relative_to(folder).as_posix()
            found[path.stem if inside == "." else f"{inside}/{path.stem}"] = result
    return found


def complete_pairs(result: VariantResult) -> int:
    """Seeds that both arms have run."""
    return len({run.seed for run in result.runs} & {run.seed for run in result.reference_runs})


def compare(folder: Path, lists: Sequence[tuple[int, ...]], fixed: int | None) -> tuple[str, bool]:
    """The Markdown, and whether no pass turned into a fail or back.

    Raises:
        InputError: no variant holds all seeds, a list looks beyond them, or a file is missing or damaged.
    """
    plan = read_model(folder / "plan.json", Plan)
    size = plan.seeds.looks[-1] if fixed is None else fixed
    beyond = next((looks for looks in lists if looks[-1] > size), None)
    if beyond is not None:
        raise InputError(Problem("--looks", f"{numbers(beyond)} goes beyond the {size} fixed seeds"))
    every = read_results(folder)
    by_fixed = {name: outcome(result, plan.gate, (size,)) for name, result in every.items()}
    # A failed run ends a job at either design; what merely has too few seeds has nothing to replay.
    short = [n for n, r in every.items() if complete_pairs(r) < size and by_fixed[n].state == "invalid"]
    results = {name: result for name, result in every.items() if name not in short}
    if not results:
        raise InputError(Problem(str(folder), f"no variant holds {size} seeds; a spec with looks [{size}] makes them"))
    replayed = {looks: {n: outcome(r, plan.gate, looks) for n, r in results.items()} for looks in lists}
    records = folder.parent / "runs"
    costs = {looks: cost(results, {n: o.seeds for n, o in found.items()}, records) for looks, found in replayed.items()}
    all_seeds = cost(results, dict.fromkeys(results, size), records)
    parts = [f"## {plan.spec}: {len(results)} variants, looks against {size} fixed seeds"]
    parts.append(_summary(plan.gate, by_fixed, replayed, costs, all_seeds))
    parts.append(_verdicts(size, by_fixed, replayed))
    parts += [line for looks, found in replayed.items() for line in _changes(looks, by_fixed, found)]
    if short:
        parts.append(f"Left out, with fewer than {size} pairs: {', '.join(short)}.")
    if all_seeds.seconds is None:
        parts.append("Seconds are not known: records of some runs are missing.")
    reversed_ = any(_reversed(by_fixed[n].state, o.state) for found in replayed.values() for n, o in found.items())
    return "\n\n".join(parts) + "\n", not reversed_


def _summary(
    gate: Gate,
    fixed: Mapping[str, Outcome],
    replayed: Mapping[tuple[int, ...], Mapping[str, Outcome]],
    costs: Mapping[tuple[int, ...], Cost],
    all_seeds: Cost,
) -> str:
    header = ["looks", "alpha a look", "training runs", "saved", "training seconds", "saved", "same", "pass ↔ fail"]
    header += ["decided → inconclusive", "inconclusive → decided"]
    rows = []
    for looks, found in replayed.items():
        pairs = [(fixed[name].state, one.state) for name, one in found.items()]
        spent = costs[looks]
        rows.append(
            [
                numbers(looks),
                f"{alpha_per_look(looks, gate.alpha):.4f}",
                f"{spent.runs} of {all_seeds.runs}",
                f"{1 - spent.runs / all_seeds.runs:.0%}",
                _seconds(spent.seconds, all_seeds.seconds),
                _saved(spent.seconds, all_seeds.seconds),
                str(sum(a == b for a, b in pairs)),
                str(sum(_reversed(a, b) for a, b in pairs)),
                str(sum(a in DECIDED and b == "inconclusive" for a, b in pairs)),
                str(sum(a == "inconclusive" and b in DECIDED for a, b in pairs)),
            ]
        )
    return markdown_table(header, rows)


def _seconds(spent: float | None, all_seconds: float | None) -> str:
    return "–" if spent is None or all_seconds is None else f"{spent:,.0f} of {all_seconds:,.0f}"


def _saved(spent: float | None, all_seconds: float | None) -> str:
    return "–" if spent is None or not all_seconds else f"{1 - spent / all_seconds:.0%}"


def _verdicts(
    size: int, fixed: Mapping[str, Outcome], replayed: Mapping[tuple[int, ...], Mapping[str, Outcome]]
) -> str:
    header = ["variant", f"Δ pp at {size} seeds [LB, UB]", f"{size} seeds", *(numbers(looks) for looks in replayed)]
    names = next(iter(replayed.values()))
    rows = [
        [name, fixed[name].shown or "–", fixed[name].state]
        + [f"{found[name].state} ({found[name].seeds})" for found in replayed.values()]
        for name in names
    ]
    return markdown_table(header, rows)


def _changes(looks: tuple[int, ...], fixed: Mapping[str, Outcome], found: Mapping[str, Outcome]) -> list[str]:
    """What another design decides otherwise, in words."""
    changed = [
        f"{name}: {fixed[name].state} {fixed[name].shown} → {one.state} {one.shown} at {one.seeds}"
        for name, one in found.items()
        if one.state != fixed[name].state
    ]
    return [f"Otherwise by looks {numbers(looks)}:\n\n" + "\n".join(f"- {line}" for line in changed)] if changed else []


def _reversed(one: str, other: str) -> bool:
    return one != other and one in DECIDED and other in DECIDED


def _looks(text: str) -> tuple[int, ...]:
    looks = tuple(int(n) for n in text.split(","))
    if list(looks) != sorted(set(looks)) or looks[0] < 3:
        raise argparse.ArgumentTypeError(f"{text!r}: looks start at 3 or more and increase, e.g. 5,10,20")
    return looks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="results/<spec>, with all seeds of each variant")
    parser.add_argument("--looks", type=_looks, action="append", help="looks to replay; may be repeated")
    parser.add_argument("--fixed", type=int, help="seeds of the fixed design; default: the spec's last look")
    given = parser.parse_args()
    try:
        text, sound = compare(given.results, given.looks or LOOKS, given.fixed)
    except InputError as error:
        print("\n".join(map(str, error.problems)), file=sys.stderr)
        sys.exit(2)
    print(text, end="")
    if not sound:
        print("a pass turned into a fail, or back", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
