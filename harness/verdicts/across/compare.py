"""B against A: every set of options that both have, whatever it is called in each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

from harness.plan.model import Cell
from harness.records.results import SeedRun, TimingResult
from harness.spec.errors import InputError, Problem
from harness.spec.option_paths import Settings, flat, tree_of
from harness.verdicts.accuracy import judge_pairs
from harness.verdicts.across.differences import differences, refuse_incomparable, refuse_unexpected
from harness.verdicts.across.folder import ResultsFolder, options_key
from harness.verdicts.across.gains import memory_gain, speed_gain
from harness.verdicts.across.model import AccuracyAcross, Across, CellAcross
from harness.verdicts.costs import peak_bytes
from harness.verdicts.pairs import ending, mean_or_none, metric_of, same_predictions, seed_difference
from harness.verdicts.wording import listed

Figure = TypeVar("Figure", int, float)


def compare(a: ResultsFolder, b: ResultsFolder, allowed: str = "") -> Across:
    """What became of A's results in B.

    Accuracy is paired by seed and judged by A's gate at one look, over all seeds that both have. Times of the two were
    not measured in turn, so that only ratios within each folder are compared.

    Args:
        a, b: both opened.
        allowed: comma-separated names of what may differ; empty allows everything but data, split and metric.

    Raises:
        InputError: they are of different data or metrics, share no options, or differ in what is not allowed.
    """
    refuse_incomparable(a, b)
    found, unrecorded = differences(a, b)
    refuse_unexpected(found, allowed, f"{a.name} and {b.name}")
    of_a, of_b = a.cells(), b.cells()
    both = [key for key in of_a if key in of_b]
    left_out = _left_out(a, b, of_a, of_b)
    if not both:
        raise InputError(Problem(f"{a.name} and {b.name}", f"cannot be compared: no options in common; {left_out[0]}"))
    return Across(
        a=a.name,
        b=b.name,
        specs=(a.plan.spec, b.plan.spec),
        gate=a.plan.gate,
        differences=found,
        unrecorded=unrecorded,
        controls=(a.verdicts.control, b.verdicts.control),
        cells=[_cell(a, b, of_a[key], of_b[key]) for key in both],
        left_out=[*left_out, *_outdated(a, b), *_confirmations(a, b)],
    )


def accuracy_across(
    a: dict[int, SeedRun], b: dict[int, SeedRun], *, max_drop_pp: float, alpha: float, test_nodes: int | None
) -> AccuracyAcross:
    """The non-inferiority test of B against A, over the seeds of both in order.

    Args:
        a, b: runs of one set of options, by seed.
        max_drop_pp, alpha: of the gate.
        test_nodes: nodes in the test set, if known.
    """
    seeds = sorted(a.keys() & b.keys())
    pairs = [(a[seed], b[seed]) for seed in seeds]
    judged = judge_pairs(
        [metric_of(one) for one, _ in pairs],
        [metric_of(other) for _, other in pairs],
        max_drop_pp=max_drop_pp,
        alpha=alpha,
        looks=None,
        test_nodes=test_nodes,
        identical=lambda positions: all(same_predictions(*pairs[i]) for i in positions),
    )
    ran = [(one, other) for one, other in pairs if metric_of(one) is not None and metric_of(other) is not None]
    shown = [d for one, other in ran if (d := seed_difference(one, other, counted=True)) is not None]
    failed = None if judged.failed_at is None else pairs[judged.failed_at][1]
    return AccuracyAcross(
        a=mean_or_none([s.reference for s in shown]),
        b=mean_or_none([s.variant for s in shown]),
        delta_pp=mean_or_none([s.delta_pp for s in shown]),
        ci_pp=judged.interval_pp,
        level=judged.level,
        n_pairs=len(shown),
        state=judged.state,
        same_predictions=sum(same_predictions(one, other) for one, other in ran),
        identical=judged.identical,
        why="" if failed is None else f"seed {failed.seed} of B ended as {ending(failed)}, though A ran",
        seeds=shown,
    )


def _cell(a: ResultsFolder, b: ResultsFolder, one: Cell, other: Cell) -> CellAcross:
    gate, result = a.plan.gate, a.variants.get(one.name)
    timings = a.timing(one.name), b.timing(other.name)
    found = CellAcross(
        a=one.name,
        b=other.name,
        accuracy=accuracy_across(
            a.runs(one.name),
            b.runs(other.name),
            max_drop_pp=gate.max_drop_pp,
            alpha=gate.alpha,
            test_nodes=None if result is None else result.test_nodes,
        ),
        epoch_s=(a.epoch_seconds(one.name), b.epoch_seconds(other.name)),
        peak_bytes=(_of(timings[0], peak_bytes), _of(timings[1], peak_bytes)),
    )
    compared = a.comparison(one.name), b.comparison(other.name)
    if compared[0] is None or compared[1] is None:
        return found
    if not _same_options(a.plan.cells.get(compared[0].reference), b.plan.cells.get(compared[1].reference)):
        return found
    found = found.model_copy(
        update={
            "speed": speed_gain(timings[0], a.plan, timings[1], b.plan),
            "memory": memory_gain(timings[0], a.plan, timings[1], b.plan),
        }
    )
    if a.judged_otherwise(one.name) or b.judged_otherwise(other.name):
        return found
    return found.model_copy(
        update={
            "verdicts": (compared[0].verdict, compared[1].verdict),
            "reasons": (compared[0].reason, compared[1].reason),
        }
    )


def _of(
    timing: TimingResult | None, figure: Callable[[TimingResult, Literal["variant"]], Figure | None]
) -> Figure | None:
    return None if timing is None else figure(timing, "variant")


def _same_options(one: Cell | None, other: Cell | None) -> bool:
    return one is not None and other is not None and options_key(one) == options_key(other)


def _left_out(a: ResultsFolder, b: ResultsFolder, of_a: dict[str, Cell], of_b: dict[str, Cell]) -> list[str]:
    """Cells of one folder whose options the other lacks; of one name, with what differs."""
    lines = []
    alone = [cell for key, cell in of_b.items() if key not in of_a]
    for key, cell in of_a.items():
        if key in of_b:
            continue
        namesake = next((other for other in alone if other.name == cell.name), None)
        if namesake is None:
            lines.append(f"{cell.name} is in {a.name} alone")
        else:
            alone.remove(namesake)
            lines.append(f"{cell.name} has other options in each: {listed(_other_options(cell, namesake), 4)}")
    return lines + [f"{cell.name} is in {b.name} alone" for cell in alone]


def _outdated(*folders: ResultsFolder) -> list[str]:
    """Verdicts on variants that the folder's plan would judge in another way now."""
    lines = []
    for folder in folders:
        names = [c.variant for c in folder.plan.comparisons if folder.judged_otherwise(c.variant)]
        if names:
            lines.append(f"the verdicts in {folder.name} on {listed(names, 4)}: of an earlier plan than its plan.json")
    return lines


def _confirmations(*folders: ResultsFolder) -> list[str]:
    """The grids are compared and no confirmation, whose stacks may be of other parts and seeds."""
    stacks = [(folder, folder.verdicts.confirmation) for folder in folders]
    return [
        f"the confirmation in {folder.name}, of {listed(stack.names)}: only the grid is read"
        for folder, stack in stacks
        if stack is not None and stack.comparison is not None
    ]


def _other_options(one: Cell, other: Cell) -> list[str]:
    flats = [flat(tree_of(Settings(cell.model, cell.training, cell.options))) for cell in (one, other)]
    return [
        f"{path} {flats[0].get(path)} and {flats[1].get(path)}"
        for path in flats[0] | flats[1]
        if flats[0].get(path) != flats[1].get(path)
    ]
