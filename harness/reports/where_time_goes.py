"""The section 'Where the time goes': bottleneck, ceilings, what each variant saved, and what a training costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.reports.digits import MINUS, ratio_with_interval, seconds_text
from harness.reports.figures.drawing import Figure
from harness.spec.stages import STAGES
from harness.verdicts.diagnosis import ceiling_text
from harness.verdicts.diagnosis_model import ArmProfile, Diagnosis, Gain, Saving, ToggleCeiling
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.total_cost import TotalCost, payoff_text
from harness.verdicts.wording import percent, ratio_text

HEADING = "Where the time goes"
COSTS_HEADING = "Time to accuracy, and a whole training"
NOTHING = "No timing run recorded its stages."

Rows = list[list[str]]


@dataclass(frozen=True)
class Table:
    """Headings and rows in plain text, with a sentence that says how to read them; no rows: nothing to show."""

    headings: tuple[str, ...]
    rows: Rows
    note: str


@dataclass(frozen=True)
class TimeSection:
    """All that the section says."""

    sentences: list[str]
    figure: Figure
    stages: Table
    toggles: Table
    savings: Table
    trainings: Table

    @property
    def tables(self) -> list[Table]:
        """Of the stages, those with rows."""
        return [table for table in (self.stages, self.toggles, self.savings) if table.rows]


def time_section(verdicts: Verdicts, figure: Figure) -> TimeSection:
    """Diagnosis and costs as tables."""
    found = verdicts.diagnosis
    return TimeSection(
        sentences=found.sentences or [NOTHING],
        figure=figure,
        stages=_stages(found.baseline),
        toggles=_toggles(found),
        savings=_savings(found.gains),
        trainings=_trainings(verdicts.comparisons),
    )


def _stages(profile: ArmProfile | None) -> Table:
    headings = ("stage", "share of a step", "over processes", "an epoch")
    if profile is None:
        return Table(headings, [], "")
    rows = [
        [
            f"{t.stage}, waiting for the loader" if t.stage == "sample" and profile.wait_s is not None else t.stage,
            percent(t.share),
            f"{100 * t.lowest:.0f} to {percent(t.highest)}" if profile.processes > 1 else "–",
            seconds_text(t.seconds),
        ]
        for t in profile.stages
    ]
    over = f" over {profile.processes} timing process{'es' * (profile.processes > 1)}" if profile.processes else ""
    note = f"Of {profile.name}{over}"
    if profile.left_out:
        note += f"; {profile.left_out} more, of disturbed blocks, are left out"
    if profile.disturbed:
        note += ", in disturbed blocks"
    if profile.slower is not None:
        note += f"; the epoch in which stages were looked at took {ratio_text(profile.slower)} times a timed one"
    return Table(headings, rows, f"{note}.")


def _toggles(found: Diagnosis) -> Table:
    note = (
        "At most: the baseline's speed-up if those stages took no time at all (Amdahl 1967); none where every stage "
        "has less to do; one over 10 is of no use. Reached: the fastest variant that changes nothing else, one shown "
        "to gain before one that is undecided."
    )
    headings = ("toggle", "option", "shortens", "share", "at most", "reached", "by")
    return Table(headings, [_toggle_row(row) for row in found.toggles], note)


def _toggle_row(row: ToggleCeiling) -> list[str]:
    return [
        row.toggle,
        row.option,
        ", ".join(row.targets),
        percent(row.share),
        ceiling_text(row.ceiling),
        ratio_with_interval(row.reached, row.reached_ci, 1.0, most=2),
        _by(row),
    ]


def _by(row: ToggleCeiling) -> str:
    if row.best is not None:
        return f"{row.best}, undecided" if row.state == "undecided" else row.best
    return row.closed or (f"not tried: {row.doubt}" if row.doubt else "not tried")


def _savings(gains: Sequence[Gain]) -> Table:
    note = (
        "Seconds of an epoch saved in each stage against the variant's reference, on the same batches unless the "
        "option changes them; below zero it took longer. In brackets: the 95 % interval over pairs of processes "
        "contains zero, or there is none. A star: a stage that the option is to shorten."
    )
    rows = [
        [gain.variant, *(_saving_text(s) for s in gain.savings), _wait_text(gain), _batches_text(gain)]
        if gain.savings
        else [gain.variant, "–", "–", "–", "–", _wait_text(gain), "not compared: other batches"]
        for gain in gains
    ]
    return Table(("variant", *STAGES, "waits for its loader", "batches"), rows, note)


def _saving_text(saving: Saving) -> str:
    text = (MINUS if saving.seconds < 0 else "") + seconds_text(abs(saving.seconds)) + "*" * saving.expected
    clear = saving.ci is not None and (saving.ci[0] > 0.0 or saving.ci[1] < 0.0)
    return text if clear else f"({text})"


def _wait_text(gain: Gain) -> str:
    return "–" if gain.wait_s is None else seconds_text(gain.wait_s)


def _batches_text(gain: Gain) -> str:
    if gain.same_batches is None:
        return "not recorded"
    if gain.same_batches or gain.nodes_ratio is None or gain.edges_ratio is None:
        return "the same"
    return f"{gain.nodes_ratio:.2f} times the nodes, {gain.edges_ratio:.2f} the edges"


def _trainings(comparisons: Sequence[ComparisonVerdict]) -> Table:
    note = (
        "Sooner: seconds until the reference's validation accuracy, reference over variant, with a 95 % t interval of "
        "log ratios (epochs over pairs, joined with seconds an epoch), of the pairs that reached it; preparation left "
        "out. A whole training: preparation once, for its seed, and all epochs asked for, evaluation left out."
    )
    headings = ("variant", "sooner [CI]", "epochs", "pairs that reached it", "once", "a whole training", "pays off")
    rows = [_training_row(c) for c in comparisons if c.time_to_reference is not None or c.costs.total is not None]
    return Table(headings, rows, note)


def _training_row(comparison: ComparisonVerdict) -> list[str]:
    found, total = comparison.time_to_reference, comparison.costs.total
    return [
        comparison.variant,
        sooner_text(comparison),
        "–" if found is None or found.epochs is None else f"{found.epochs:g}, reference {found.reference_epochs:g}",
        "–" if found is None else f"{found.reached} of {found.pairs}",
        _once_text(total),
        "–" if total is None else f"{seconds_text(total.seconds)}, reference {seconds_text(total.reference_seconds)}",
        "–" if total is None else payoff_text(total, comparison.costs.payoff_epochs) or "nothing to earn back",
    ]


def _once_text(total: TotalCost | None) -> str:
    if total is None:
        return "–"
    if total.once_s == total.reference_once_s == 0.0:
        return "nothing"
    return f"{seconds_text(total.once_s)}, reference {seconds_text(total.reference_once_s)}"


def sooner_text(comparison: ComparisonVerdict) -> str:
    """How many times as soon it has the reference's accuracy, in seconds; in epochs where they were not timed."""
    found = comparison.time_to_reference
    if found is None or found.epochs_ratio is None:
        return "–"
    if found.ratio is None:
        return f"{ratio_with_interval(found.epochs_ratio, found.epochs_ci, 1.0, most=2)} in epochs"
    return ratio_with_interval(found.ratio, found.ci, 1.0, most=2)
