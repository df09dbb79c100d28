"""What a headline must not leave out: a gain an epoch that a whole training does not get. Plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.reports.digits import seconds_text, shortened
from harness.verdicts.model import ComparisonVerdict
from harness.verdicts.total_cost import whole_epochs
from harness.verdicts.wording import listed, plural

_MOST_NAMES = 3
Named = tuple[str, ComparisonVerdict]  # what a sentence calls it


def caveats(praised: Sequence[Named]) -> str:
    """One sentence on those praised whose records say that a whole training gains less; empty where none does.

    Args:
        praised: the accepted variants, or the confirmed stack.
    """
    told = [
        words
        for one, many, what, why in (
            ("rarely reaches", "rarely reach", "the reference's validation accuracy", _rarely),
            ("needs", "need", "more epochs to the reference's validation accuracy", _more_epochs),
            ("does not earn", "do not earn", "the preparation back in this training", _not_earned),
            ("takes", "take", "longer over a whole training", _longer),
        )
        if (words := _told(praised, one, many, what, why))
    ]
    return f"But {'; '.join(told)}." if told else ""


def _told(praised: Sequence[Named], one: str, many: str, what: str, why: Callable[[ComparisonVerdict], str]) -> str:
    found = [f"{shortened(name, 40)} ({figures})" for name, c in praised if (figures := why(c))]
    return f"{listed(found, _MOST_NAMES)} {one if len(found) == 1 else many} {what}" if found else ""


def _rarely(comparison: ComparisonVerdict) -> str:
    """In a third of its pairs or fewer: an equal variant reaches it in about half of them."""
    found = comparison.time_to_reference
    if found is None or 3 * found.reached > found.pairs:
        return ""
    return f"in {found.reached} of {plural(found.pairs, 'pair')}"


def _more_epochs(comparison: ComparisonVerdict) -> str:
    found = comparison.time_to_reference
    if found is None or found.epochs_ci is None or found.epochs_ci[1] >= 1.0 or found.epochs is None:
        return ""
    return f"{found.epochs:g}, reference {found.reference_epochs:g}"


def _not_earned(comparison: ComparisonVerdict) -> str:
    """Of a variant for memory, no time is promised that could be earned back."""
    total, payoff = comparison.costs.total, comparison.costs.payoff_epochs
    if comparison.goal == "memory" or total is None or total.pays_off in ("free", "within"):
        return ""
    if payoff is None:
        return "never"
    return f"after {whole_epochs(payoff):,} epochs, and it has {total.epochs:,}"


def _longer(comparison: ComparisonVerdict) -> str:
    """More epochs are asked of it than of its reference; a preparation that is not earned back is told already."""
    total = comparison.costs.total
    if comparison.goal == "memory" or total is None or total.seconds <= total.reference_seconds:
        return ""
    if _not_earned(comparison):
        return ""
    return f"{seconds_text(total.seconds)}, reference {seconds_text(total.reference_seconds)}"
