"""What a reader should know before believing a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.plan.coarse_test_set import coarse_words
from harness.plan.model import CONTROL, Cell, Plan
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.spec.schema import Gate
from harness.verdicts.comparable import Remedy, timing_difference
from harness.verdicts.disturbed import causes
from harness.verdicts.model import ComparisonVerdict, Control, Speed, TestSet
from harness.verdicts.non_inferiority import resolution
from harness.verdicts.order_effect import order_warnings
from harness.verdicts.over_smoothing import over_smoothing_warning
from harness.verdicts.training_curves import curve_warnings
from harness.verdicts.wording import plural

_COARSE_NODES = 20  # an allowed drop of fewer test nodes is within what chance moves


def warnings_of(
    plan: Plan,
    variants: Mapping[str, VariantResult],
    timings: Mapping[str, TimingResult],
    comparisons: Sequence[ComparisonVerdict],
    control: Control,
    test_set: TestSet | None,
) -> list[str]:
    """The plan's warnings, then what the results add to them."""
    found = list(plan.warnings)
    if control.state != "quiet":
        found.append(control.reason)
    climbing = [
        name for name, cell in plan.cells.items() if name in variants and still_climbing(cell, variants[name].runs)
    ]
    if climbing:
        found.append(
            f"training was still improving at its last epoch in {_listed(climbing)}: "
            "a verdict on unfinished training means little; raise training.epochs"
        )
    known = {name: variants[name] for name in plan.cells if name in variants}
    found += curve_warnings(known)
    smoothed = over_smoothing_warning(known)
    if smoothed is not None:
        found.append(smoothed)
    coarse = coarse_test_set(plan.gate, test_set)
    if coarse is not None and test_set is not None:
        words = coarse_words(plan.gate.max_drop_pp, test_set.nodes)  # the plan had said so, before there were results
        found = [*(w for w in found if not w.startswith(words)), coarse]
    found += timing_warnings(plan, timings, comparisons, control)
    off = [c.variant for c in comparisons if c.memory.estimate_off]
    if off:
        found.append(f"peak memory is over 1.5 times its estimate, or under half of it, in {_listed(off)}")
    said = {name: memory_warnings(variants.get(name), timings.get(name)) for name in plan.cells}
    found += [f"{name}: {words}" for name, each in said.items() for words in each]
    return found


def timing_warnings(
    plan: Plan, timings: Mapping[str, TimingResult], comparisons: Sequence[ComparisonVerdict], control: Control
) -> list[str]:
    """Of blocks that were disturbed, processes that never settled, a control that is not for all, and the order."""
    found = []
    told: list[tuple[str, Control | Speed]] = [("the control", control), *((c.variant, c.speed) for c in comparisons)]
    disturbed = [name for name, of in told if of.disturbed_blocks]
    if disturbed:
        by = list(dict.fromkeys(word for _, of in told for word in of.disturbed_by))
        found.append(f"the machine was disturbed while timing {_listed(disturbed)}: {causes(by)}")
    restless = [name for name, of in told if of.unsettled_processes]
    if restless:
        found.append(f"epochs never settled in some timing processes of {_listed(restless)}: raise timing.epochs")
    own = timings.get(CONTROL)
    timed = [c.variant for c in comparisons if c.variant in timings]
    foreign = [name for name in timed if timing_difference(timings[name], own, Remedy(plan.spec)) is not None]
    if foreign:
        found.append(f"the control says nothing of {_listed(foreign)}: they were timed under other conditions")
    return found + order_warnings(comparisons, control, timings.values())


def memory_warnings(result: VariantResult | None, timing: TimingResult | None) -> list[str]:
    """What the first quality run that said something of its memory said, else the timing; and which of them it was.

    Their peaks differ: a quality run evaluates between its epochs, and its heap keeps what that took.
    """
    said = [(f"quality run, seed {run.seed}", run.memory_warnings) for run in ([] if result is None else result.runs)]
    said += [] if timing is None else [("timing", timing.memory_warnings)]
    return next(([f"{which}: {words}" for words in each] for which, each in said if each), [])


def coarse_test_set(gate: Gate, test_set: TestSet | None) -> str | None:
    """What to say where the allowed drop is within what the choice of test nodes moves; else None."""
    if test_set is None or gate.metric != "accuracy" or test_set.max_drop_nodes >= _COARSE_NODES:
        return None
    low, high = test_set.sampling_error_pp
    return (
        f"{coarse_words(gate.max_drop_pp, test_set.nodes)}, and "
        f"chance alone moves a difference by {low:.2f} to {high:.2f} pp: the verdicts hold for this test set only"
    )


def still_climbing(cell: Cell, runs: Sequence[SeedRun]) -> bool:
    """Whether most runs of a cell chose the last epoch they were allowed.

    Early stopping that was reached counts as settled; `selection: last` always takes the last epoch and says nothing.
    """
    if cell.training.selection == "last":
        return False
    chosen = [run.best_epoch for run in runs if run.status == "ok" and run.best_epoch is not None]
    at_the_end = [epoch for epoch in chosen if epoch > cell.training.epochs - cell.training.eval_every]
    return len(at_the_end) > len(chosen) / 2


def measure_test_set(plan: Plan, variants: Mapping[str, VariantResult]) -> TestSet | None:
    """The test set's resolution; None where no result says how large it is, or results disagree."""
    sizes = {v.test_nodes for v in variants.values() if v.test_nodes}
    if len(sizes) != 1:
        return None
    found = resolution(sizes.pop(), plan.gate.max_drop_pp)
    return TestSet(
        nodes=found.test_nodes, max_drop_nodes=found.max_drop_nodes, sampling_error_pp=found.sampling_error_pp
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {plural(len(names) - 4, 'other')}"
