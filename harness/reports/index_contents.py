"""What `results/index.html` and `index.md` say: all specs side by side, in plain text that each form escapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.reports.answer import MEANINGS, ORDER, metric
from harness.reports.details import patch_text
from harness.reports.digits import decimals, fixed, shortened
from harness.reports.tables import accuracy_text, memory_text, speed_text, verdict_text
from harness.spec.schema import Gate
from harness.verdicts.everywhere import Agreement, JudgedSpec, VariantAcross, across_specs, timed_ratio
from harness.verdicts.model import ComparisonVerdict, Verdict, Verdicts
from harness.verdicts.wording import listed, plural, ratio_text

SPEC_HEADINGS = ("spec", "data set", "variants", "accepted", "together", "control", "may drop", "on")
ONCE_HEADINGS = ("variant", "changes", "spec", "Δ, pp [CI]", "speed-up [CI]", "memory ratio [CI]", "verdict")
MEAN_HEADING = "speed-up, geometric mean"
_LONGEST_PATCH = 90  # characters
_AGREEMENTS: dict[Agreement, tuple[str, str]] = {
    "everywhere": ("Accepted everywhere", "accepted on every data set where they were tried"),
    "depends": ("Depends on the graph", "accepted on some data sets, shown not to be worth it on others"),
    "nowhere": ("Worth it nowhere", "shown on every data set not to be worth it, or not to train"),
    "open": ("Not known everywhere", "undecided, skipped or exploratory on at least one data set"),
}


@dataclass(frozen=True)
class Cell:
    """A variant in one spec: its verdict with the numbers; empty where the spec does not have it."""

    verdict: str = ""
    numbers: str = ""
    whole: str = ""  # with intervals


@dataclass(frozen=True)
class MatrixRow:
    """A variant on several data sets."""

    name: str
    changes: str
    cells: list[Cell]
    mean: str


@dataclass(frozen=True)
class Group:
    """Variants of which the same holds."""

    title: str
    meaning: str
    lines: list[str]


@dataclass(frozen=True)
class IndexContents:
    """All specs of a results folder."""

    title: str
    headline: str
    columns: list[tuple[str, str]]  # spec and data set of the matrix
    matrix: list[MatrixRow]
    groups: list[Group]
    once: list[list[str]]  # by ONCE_HEADINGS
    specs: list[list[str]]  # by SPEC_HEADINGS
    links: Mapping[str, str]  # spec to its report
    meanings: list[tuple[Verdict, str]]
    notes: list[str]
    left_out: list[str]


def index_contents(
    title: str, specs: Sequence[JudgedSpec], links: Mapping[str, str], left_out: Sequence[str]
) -> IndexContents:
    """Join the verdicts of all specs.

    Args:
        title: of the page, e.g. the folder.
        specs: at least one.
        links: spec to its report, relative to the page.
        left_out: a line for each spec whose verdicts could not be read, or are not there yet.
    """
    variants = across_specs(specs)
    shared = [v for v in variants if len(v.datasets) > 1]
    columns = [spec for spec in specs if any(spec.spec in v.cells for v in shared)]
    present = {c.verdict for spec in specs for c in spec.verdicts.comparisons}
    return IndexContents(
        title=title,
        headline=_headline(shared, specs),
        columns=[(spec.spec, spec.dataset) for spec in columns],
        matrix=[_matrix_row(v, columns) for v in shared],
        groups=_groups(shared, specs),
        once=[row for v in variants if len(v.datasets) == 1 for row in _once_rows(v, specs)],
        specs=[_spec_row(spec) for spec in specs],
        links=links,
        meanings=[(v, MEANINGS[v]) for v in ORDER if v in present],
        notes=_notes(specs),
        left_out=list(left_out),
    )


def _headline(shared: Sequence[VariantAcross], specs: Sequence[JudgedSpec]) -> str:
    datasets = plural(len({spec.dataset for spec in specs}), "data set")
    if not shared:
        return f"{plural(len(specs), 'spec')} on {datasets}; no variant was tried on more than one."
    counts = {name: [v for v in shared if v.agreement == name] for name in _AGREEMENTS}
    names = listed([_name(v) for v in counts["everywhere"]], 4)
    accepted = f"accepted on every one: {names}" if names else "none is accepted on every one"
    return (
        f"{plural(len(shared), 'variant')} {'was' if len(shared) == 1 else 'were'} tried on more than one of "
        f"{datasets}: {accepted}. Depending on the graph: {len(counts['depends'])}; worth it nowhere: "
        f"{len(counts['nowhere'])}; not known everywhere: {len(counts['open'])}."
    )


def _name(variant: VariantAcross) -> str:
    name = variant.names[0] if len(variant.names) == 1 else f"{variant.names[0]} ({', '.join(variant.names[1:])})"
    return _of_goal(name, variant.goal)


def _of_goal(name: str, goal: str) -> str:
    return name if goal == "speed" else f"{name}, for memory"


def _matrix_row(variant: VariantAcross, columns: Sequence[JudgedSpec]) -> MatrixRow:
    cells = [
        _cell(variant.cells[spec.spec], spec.verdicts.gate) if spec.spec in variant.cells else Cell()
        for spec in columns
    ]
    changes = shortened(patch_text(variant.patch) or "–", _LONGEST_PATCH)
    return MatrixRow(_name(variant), changes, cells, mean_text(variant))


def mean_text(variant: VariantAcross) -> str:
    """1.23 over 2 of 3 data sets."""
    mean = variant.speedup
    if mean is None:
        return "–"
    over = f"{mean.measured} of {mean.tried}" if mean.measured < mean.tried else str(mean.tried)
    return f"{ratio_text(mean.ratio)} over {over} data set{'s' * (mean.tried > 1)}"


def _cell(c: ComparisonVerdict, gate: Gate) -> Cell:
    numbers = [text for text in (_ratio(c, gate), _memory(c, gate), _delta(c, gate)) if text]
    whole = f"{c.variant}: speed-up {speed_text(c, gate)}, {metric(gate)} {accuracy_text(c, gate)} pp"
    whole += f", memory {memory_text(c, gate)}" if c.goal == "memory" else ""
    return Cell(verdict_text(c), ", ".join(numbers), whole)


def _ratio(c: ComparisonVerdict, gate: Gate) -> str:
    ratio = timed_ratio(c)
    if ratio is None:
        return ""
    lower, upper = c.speed.ci if c.speed.ci is not None else (None, None)
    return f"{ratio_text(ratio, decimals(lower, upper, 1.0, gate.min_speedup, most=2))}×"


def _memory(c: ComparisonVerdict, gate: Gate) -> str:
    """Where it is what the variant is for."""
    ratio = c.memory.ratio
    if c.goal != "memory" or ratio is None or c.not_comparable:
        return ""
    lower, upper = c.memory.ci if c.memory.ci is not None else (None, None)
    return f"memory {ratio_text(ratio, decimals(lower, upper, 1.0, gate.min_memory_saving, most=2))}×"


def _delta(c: ComparisonVerdict, gate: Gate) -> str:
    found = c.accuracy
    if found is None or found.delta_pp is None:
        return ""
    if found.identical and found.state == "pass":
        return "identical"
    lower, upper = found.ci_pp if found.ci_pp is not None else (None, None)
    return f"{fixed(found.delta_pp, decimals(lower, upper, -gate.max_drop_pp, most=2), signed=True)} pp"


def _groups(shared: Sequence[VariantAcross], specs: Sequence[JudgedSpec]) -> list[Group]:
    made = []
    for name, (title, meaning) in _AGREEMENTS.items():
        lines = [_line(v, specs) for v in shared if v.agreement == name]
        if lines:
            made.append(Group(title, meaning, lines))
    return made


def _line(variant: VariantAcross, specs: Sequence[JudgedSpec]) -> str:
    """`name: accept on a and b; reject on c; 1.23 times as fast in the geometric mean over 3 data sets.`"""
    by_verdict: dict[str, list[str]] = {}
    for spec in specs:
        if spec.spec in variant.cells:
            by_verdict.setdefault(verdict_text(variant.cells[spec.spec]), []).append(spec.spec)
    rank = {verdict: place for place, verdict in enumerate(ORDER)}
    ordered = sorted(by_verdict.items(), key=lambda item: rank[item[0].split()[0]])  # type: ignore[index]
    told = "; ".join(f"{verdict} in {listed(names)}" for verdict, names in ordered)
    mean = "" if variant.speedup is None else f"; speed-up {mean_text(variant)}"
    return f"{_name(variant)}: {told}{mean}"


def _once_rows(variant: VariantAcross, specs: Sequence[JudgedSpec]) -> list[list[str]]:
    rows = []
    for spec in specs:
        c = variant.cells.get(spec.spec)
        if c is not None:
            gate = spec.verdicts.gate
            texts = [accuracy_text(c, gate, most=2), speed_text(c, gate, most=2), memory_text(c, gate, most=2)]
            rows.append([_of_goal(c.variant, c.goal), patch_text(c.patch) or "–", spec.spec, *texts, verdict_text(c)])
    return rows


def _spec_row(spec: JudgedSpec) -> list[str]:
    verdicts = spec.verdicts
    accepted = [c for c in verdicts.comparisons if c.verdict == "accept" and not c.exploratory]
    return [
        spec.spec,
        spec.dataset,
        str(len(verdicts.comparisons)),
        str(len(accepted)),
        _together(verdicts),
        verdicts.control.state,
        f"{verdicts.gate.max_drop_pp:g} pp of {metric(verdicts.gate)}",
        verdicts.device or "–",
    ]


def _together(verdicts: Verdicts) -> str:
    found = verdicts.confirmation
    if found is None or found.comparison is None:
        return "not confirmed" if verdicts.recommended else "–"
    if not found.accepted:
        return f"{listed(found.names)}: {verdict_text(found.comparison)}"
    return f"{listed(found.names)}: {ratio_text(found.comparison.speed.ratio or 1.0)} times as fast"


def _notes(specs: Sequence[JudgedSpec]) -> list[str]:
    notes = [
        "The same variant: the same options set to the same values, for the same goal, whatever its name.",
        "Each is judged against the baseline of its own spec. Between specs, model, batches, machine and baseline may "
        "differ as well as the graph; each report says which they are.",
        "Accepted on all is an AND of tests, each at its own level: it needs no correction. Accuracies are not pooled.",
        "The geometric mean is a summary and no test: over data sets in which the variant was timed, accepted or not; "
        "several specs on one data set count once.",
    ]
    limits = {(s.verdicts.gate.metric, s.verdicts.gate.max_drop_pp, s.verdicts.gate.min_speedup) for s in specs}
    if len(limits) > 1:
        notes.append("The specs do not all have the same gate: a verdict is by the gate of its own spec.")
    left = [spec.spec for spec in specs if spec.verdicts.design == "leave-one-out"]
    if left:
        notes.append(f"Not in the matrix, since they leave options out of a whole: {listed(left)}.")
    return notes
