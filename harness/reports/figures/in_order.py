"""The figures of a report, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.plan.model import Plan
from harness.records.results import VariantResult
from harness.reports.answer import ORDER
from harness.reports.figures.cache import cache_hits
from harness.reports.figures.degrees import degrees
from harness.reports.figures.drawing import Figure
from harness.reports.figures.forest import forest
from harness.reports.figures.learning_curves import learning_curves
from harness.reports.figures.memory import memory
from harness.reports.figures.partitions import partitions
from harness.reports.figures.stack import stack_figures
from harness.reports.figures.stage_shares import stage_shares
from harness.reports.figures.subgraph import sampled_subgraph
from harness.reports.figures.trade_off import trade_off
from harness.reports.figures.training_curves import training_curves
from harness.verdicts.model import Verdicts

MOST_DRAWN = 60  # variants: more are no picture, and make the page heavy and slow


def figures(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> list[Figure]:
    """In the order of the page, each with a caption, or with why it is missing.

    Of more than `MOST_DRAWN` variants those are drawn whose verdicts come first in the order of a report, of equal
    verdicts the fastest; captions say so.
    """
    drawn = _drawn(verdicts)
    left = len(verdicts.comparisons) - len(drawn.comparisons)
    names = {c.variant for c in verdicts.comparisons} - {c.variant for c in drawn.comparisons}
    shown = {name: result for name, result in variants.items() if name not in names}
    made = [
        *trade_off(drawn),
        forest(drawn),
        stage_shares(drawn),
        memory(plan, drawn),
        cache_hits(drawn),
        partitions(drawn),
        *stack_figures(verdicts),
        learning_curves(plan, verdicts, variants),
        training_curves(plan, verdicts, shown),
        sampled_subgraph(variants),
        degrees(drawn, variants),
    ]
    if not left:
        return made
    note = f" Of {len(verdicts.comparisons)} variants {left} are not drawn; the tables have all."
    whole = ("stack", "learning", "batch", "degrees")  # of all variants, or of those that they name
    return [replace(f, caption=f.caption + note) if f.wide and f.name not in whole else f for f in made]


def _drawn(verdicts: Verdicts) -> Verdicts:
    """The same, or with the comparisons that are drawn, in their order."""
    if len(verdicts.comparisons) <= MOST_DRAWN:
        return verdicts
    first = sorted(verdicts.comparisons, key=lambda c: (ORDER.index(c.verdict), -(c.speed.ratio or 0.0)))
    names = {c.variant for c in first[:MOST_DRAWN]}
    return verdicts.model_copy(update={"comparisons": [c for c in verdicts.comparisons if c.variant in names]})
