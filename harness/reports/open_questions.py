"""Warnings, and what the data leave undecided: a line a question, with the variants it is asked of. Plain text."""

from __future__ import annotations

from harness.reports.answer import cell_names, metric, sentence
from harness.verdicts.control import noise_objection
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.rule import INCOMPLETE, NOT_RUN
from harness.verdicts.warnings import coarse_test_set
from harness.verdicts.wording import plural

HEADING = "Warnings and open questions"
EXPLORATORY = "Exploratory, so never recommended"
NONE = "No warnings, and nothing that was asked is left open."

SHOWN = {"gain": "a gain", "no-gain": "no gain", "loss": "a loss"}

Question = tuple[str, str]  # what is open, and why or what it would take; the second may be empty


def open_questions(verdicts: Verdicts, named: int | None = None) -> list[str]:
    """Warnings and questions, a line each.

    What the lines of the control and of the resolution say, which every form of a report prints, is not said again.

    Args:
        verdicts: as analysed.
        named: the most variants that a line names; all of them by default.
    """
    said = {verdicts.control.reason, coarse_test_set(verdicts.gate, verdicts.test_set)}
    names = cell_names(verdicts)
    found = [sentence(warning, names=names) for warning in verdicts.warnings if warning not in said]
    passed = [c for c in verdicts.comparisons if c.verdict == "accept" and not c.exploratory]
    if verdicts.confirmation is None and len(passed) > 1:
        found.append(
            sentence(verdicts.recommended_note, names=names)
            or "Whether the accepted variants hold together: each was compared alone."
        )
    asked: dict[str, list[tuple[str, str]]] = {}
    for comparison in verdicts.comparisons:
        if comparison.verdict == "inconclusive":
            for what, why in _questions(comparison, verdicts):
                asked.setdefault(what, []).append((comparison.variant, why))
    for comparison in verdicts.comparisons:
        if comparison.exploratory:
            asked.setdefault(EXPLORATORY, []).append((comparison.variant, comparison.exploratory_reason))
    return found + [_line(what, entries, named) for what, entries in asked.items()]


def _line(what: str, entries: list[tuple[str, str]], named: int | None) -> str:
    """`Speed undecided: a, b (why); c (another)`."""
    shown = entries if named is None or len(entries) <= named else entries[: named - 1]
    alike: dict[str, list[str]] = {}
    for variant, why in shown:
        alike.setdefault(why, []).append(variant)
    groups = [", ".join(names) + (f" ({why})" if why else "") for why, names in alike.items()]
    more = f"; and {len(entries) - len(shown)} more" if len(shown) < len(entries) else ""
    return f"{what}: {'; '.join(groups)}{more}."


def _questions(comparison: ComparisonVerdict, verdicts: Verdicts) -> list[Question]:
    if comparison.reason == NOT_RUN:
        return [("Not run yet", "")]
    if comparison.not_comparable:  # until they are, neither seeds nor blocks would settle anything
        return [("Not decided", comparison.not_comparable)]
    found = [*_of_the_gain(comparison, verdicts), *_of_the_accuracy(comparison, verdicts)]
    parity = comparison.parity
    if comparison.exact and (parity is None or parity.state == "not-checked"):
        found.append(("Declared exact, but parity was not checked", parity.note if parity is not None else ""))
    return found or [("Not decided", comparison.reason)]


def _of_the_gain(comparison: ComparisonVerdict, verdicts: Verdicts) -> list[Question]:
    saves_memory = comparison.goal == "memory"
    measured = comparison.memory if saves_memory else comparison.speed
    name, gate, control = "Memory" if saves_memory else "Speed", verdicts.gate, verdicts.control
    if measured.ratio is None or measured.ci is None:
        return [(f"{name} not measured", "")]
    smallest = gate.min_memory_saving if saves_memory else gate.min_speedup
    if measured.state == "unknown":
        inside = measured.ci[0] > smallest
        return [(f"{name} undecided", "within the control's spread" if inside else f"interval straddles {smallest:g}")]
    interval = (control.memory_ci if saves_memory else control.ci) or (None, None)
    objection = noise_objection("peak memory" if saves_memory else "time", measured.ratio, *interval)
    if measured.state == "gain" and objection is not None and objection in comparison.reason:
        return [(f"{name} undecided", "a gain, but the control leaves no room for it")]
    if measured.state == "gain" and INCOMPLETE in comparison.reason:
        return [(f"{name} undecided", "a gain, but its timing is not complete")]
    if not saves_memory and comparison.speed.disturbed_blocks:
        return [(f"{name} undecided", f"{SHOWN[measured.state]}, but disturbed while timed")]
    return []


def _of_the_accuracy(comparison: ComparisonVerdict, verdicts: Verdicts) -> list[Question]:
    accuracy, name = comparison.accuracy, metric(verdicts.gate)
    name = name[0].upper() + name[1:]
    if accuracy is not None and accuracy.state == "inconclusive":
        return [(f"{name} undecided", more_seeds(comparison, verdicts))]
    if accuracy is not None and accuracy.state == "invalid":
        pairs = f"{plural(comparison.n_pairs, 'complete pair')} of the {verdicts.looks[0]} that the first look needs"
        return [(f"{name} not judged", pairs)]
    return []


def more_seeds(comparison: ComparisonVerdict, verdicts: Verdicts) -> str:
    """What it would take to decide an undecided accuracy, roughly."""
    accuracy = comparison.accuracy
    if accuracy is None:
        return "no pairs"
    if accuracy.more_seeds is None:
        return "more seeds would hardly decide it: over 200, or on the limit"
    failing = accuracy.delta_pp is not None and accuracy.delta_pp < -verdicts.gate.max_drop_pp
    text = f"about {accuracy.more_seeds} more seeds{' to show the failure' if failing else ''}"
    if (accuracy.look or comparison.n_pairs) + accuracy.more_seeds > verdicts.looks[-1]:
        return f"{text}, beyond the last look: a new spec with fresh seeds"
    return text
