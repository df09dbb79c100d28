"""A claim's measured quantities in words."""

from __future__ import annotations

from collections.abc import Iterator

from harness.reports.digits import fixed
from harness.spec.claims import Measure, Region
from harness.verdicts.claims.ledger import ClaimOutcome, Finding, GraphOutcome
from harness.verdicts.claims.model import Measured
from harness.verdicts.wording import plural

DECIDED = "Measured: what decided on each graph, with its interval; a ratio is reference over variant."
_UNITS = {"pairs": "pair", "ratios": "ratio", "runs": "run", "processes": "process"}


def quantity_text(measure: Measure, against: str | None = None) -> str:
    """What is measured, e.g. ``accuracy, fanout-5-5 minus baseline``."""
    variant, reference = measure.variant, measure.reference_name
    if against is not None:
        variant, reference = "this spec", against
        if measure.variant != "baseline" or measure.reference is not None:
            variant, reference = f"{measure.variant} of this spec", f"{measure.reference_name} of {against}"
    between = f"{reference} over {variant}"
    what = " + ".join(measure.stages)
    path = (measure.path or "").removeprefix("counters.")
    counted = f"{path} / {measure.over.removeprefix('counters.')}" if measure.over else path
    return {
        "accuracy_delta_pp": f"accuracy in pp, {variant} minus {reference}",
        "speed_ratio": f"speed-up, {between}",
        "memory_ratio": f"peak memory, {between}",
        "stage_ratio": f"seconds of {what}, {between}",
        "stage_share": f"share of {what} in a step of {measure.variant}",
        "counter": f"{counted} of {measure.variant}",
        "counter_ratio": f"{counted}, {between}",
        "sd_ratio": f"sd of accuracy over seeds, {between}",
        "epochs_to_reference_ratio": f"epochs to the accuracy of {reference}, {between}",
        "loss_jitter_ratio": f"jitter of the training loss, {between}",
        "peak_over_formula": f"peak of {measure.variant} over (F·N + 16·E)·4·L",
    }[measure.quantity]


def label_text(measure: Measure) -> str:
    """What is measured in a word or two, for a table that names the claim beside it."""
    what = " + ".join(measure.stages)
    path = ".".join((measure.path or "").split(".")[1:])
    return {
        "accuracy_delta_pp": "accuracy in pp",
        "speed_ratio": "speed-up",
        "memory_ratio": "memory ratio",
        "stage_ratio": f"ratio of {what}",
        "stage_share": f"share of {what}",
        "counter": path,
        "counter_ratio": f"ratio of {path}",
        "sd_ratio": "ratio of sd",
        "epochs_to_reference_ratio": "ratio of epochs",
        "loss_jitter_ratio": "ratio of jitter",
        "peak_over_formula": "peak over formula",
    }[measure.quantity]


def region_text(region: Region, measure: Measure) -> str:
    """``at least 1.30``, ``at most −4.00``, ``0.50 to 1.50``."""
    ends = [None if x is None else number_text(x, measure) for x in (region.at_least, region.at_most)]
    if ends[0] is not None and ends[1] is not None:
        return f"{ends[0]} to {ends[1]}"
    return f"at least {ends[0]}" if ends[0] is not None else f"at most {ends[1]}"


def number_text(value: float, measure: Measure) -> str:
    """Signed where it is a difference; three significant digits else."""
    if measure.quantity == "accuracy_delta_pp":
        return fixed(value, 2, signed=True)
    if value != 0 and (abs(value) >= 1e5 or abs(value) < 1e-3):
        return f"{value:.1e}".replace("-", "−")
    return fixed(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4)


def measured_text(measured: Measured | None, measure: Measure) -> str:
    """``−0.31 [−0.52, −0.10]``, or why there is nothing."""
    if measured is None:
        return "not run yet"
    if measured.value is None or measured.ci is None:
        return measured.reason
    value = number_text(measured.value, measure)
    lower, upper = (number_text(x, measure) for x in measured.ci)
    return value if measured.level == 1.0 else f"{value} [{lower}, {upper}]"


def basis_text(measured: Measured) -> str:
    """``98.0 %, 10 pairs``; nothing where there is no interval."""
    if measured.ci is None:
        return ""
    noun = _UNITS.get(measured.unit, measured.unit)
    count = f"{measured.n} processes" if noun == "process" and measured.n != 1 else plural(measured.n, noun)
    return count if measured.level == 1.0 or measured.level is None else f"{100 * measured.level:.4g} %, {count}"


def finding_text(finding: Finding, graph: GraphOutcome) -> str:
    """One line: quantity, value with interval, what it rests on, where it holds, and the outcome."""
    return f"{_measurement(finding, graph)}; holds where {_region(finding)}: {finding.state}"


def condition_text(condition: Finding, graph: GraphOutcome) -> str:
    """Likewise of a condition."""
    return f"{_measurement(condition, graph)}; tested where {_region(condition)}: {condition_state(condition)}"


def condition_state(condition: Finding) -> str:
    """A condition is met or not; that it does not hold refutes nothing."""
    return {"holds": "met", "refuted": "not met"}.get(condition.state, condition.state)


def _measurement(finding: Finding, graph: GraphOutcome) -> str:
    basis = basis_text(finding.measured) if finding.measured is not None else ""
    what = quantity_text(finding.expected, graph.test.against)
    return f"{what}: {measured_text(finding.measured, finding.expected)}{f' ({basis})' if basis else ''}"


def _region(finding: Finding) -> str:
    return region_text(finding.expected.holds, finding.expected)


def table_rows(graph: GraphOutcome) -> Iterator[list[str]]:
    """A row for each quantity of a claim on one graph: what, its value, where the claim holds, and the outcome."""
    for finding in (*graph.conditions, *graph.findings):
        condition = finding in graph.conditions
        yield [
            quantity_text(finding.expected, graph.test.against),
            measured_text(finding.measured, finding.expected),
            f"only where {_region(finding)}" if condition else _region(finding),
            condition_state(finding) if condition else finding.state,
        ]


def deciding(graph: GraphOutcome) -> Finding | None:
    """The quantity that makes the claim's state on a graph: the first that is refuted, else the first.

    None where the graph was not run, or does not test the claim.
    """
    if graph.state in ("not run yet", "not testable here") or not graph.findings:
        return None
    return next((f for f in graph.findings if f.state == "refuted"), graph.findings[0])


def deciding_text(outcome: ClaimOutcome) -> str:
    """``accuracy in pp: wordnet −0.31 [−0.52, −0.10], debian −0.26 [−0.41, −0.12]``; empty where nothing was run.

    Of a claim about more than one variant it says which: ``accuracy in pp of cluster-random: …``.
    """
    found: dict[str, list[str]] = {}
    several = len({f.expected.variant for graph in outcome.graphs for f in graph.findings}) > 1
    for graph in outcome.graphs:
        finding = deciding(graph)
        if finding is not None:
            value = finding.measured is not None and finding.measured.value is not None
            text = measured_text(finding.measured, finding.expected) if value else "not measured"
            whose = f" of {finding.expected.variant}" if several else ""
            found.setdefault(f"{label_text(finding.expected)}{whose}", []).append(f"{graph.test.graph} {text}")
    return "; ".join(f"{label}: {', '.join(graphs)}" for label, graphs in found.items())


def state_text(outcome: ClaimOutcome) -> str:
    """``holds on 2 of 2``; a graph that has not run is counted apart."""
    waiting = outcome.count("not run yet")
    run = len(outcome.graphs) - waiting - outcome.count("not testable here")
    if not run:
        return outcome.state
    later = f", {waiting} not run" if waiting else ""
    if outcome.state == "depends on the graph":
        return f"holds on {outcome.count('holds')} of {run}{later}"
    if outcome.state == "undecided" and outcome.count("undecided") < run:
        decided: list[str] = [
            f"{words} on {outcome.count(state)}" for state, words in _DECIDED.items() if outcome.count(state)
        ]
        return f"{' and '.join(decided)} of {run}, else open{later}"
    return f"{outcome.state} on {run} of {run}{later}"


_DECIDED = {"holds": "holds", "refuted": "refuted"}
