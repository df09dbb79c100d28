"""Was a comparison judged by what was declared beforehand? Else it is exploratory: a hint for fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence

from harness.records.results import DecisionRule, VariantResult
from harness.verdicts.pairs import Quality
from harness.verdicts.wording import METRICS, numbers, plural


def exploratory_reason(result: VariantResult | None, quality: Quality | None, declared: DecisionRule) -> str:
    """Why a comparison is exploratory, in words; empty where it is not.

    The error that a gate promises holds for looks and a gate that were fixed before anyone saw the seeds. So it is
    exploratory where the job stopped its seeds by another rule than the plan has now, where some of its runs were
    looked at by another rule before, and where an undecided job stands between two looks. A file that does not say by
    what it was decided is taken to follow its plan.

    Args:
        result: what the job left; None is no comparison.
        quality: how the gate judges it by the declared rule.
        declared: of the plan.
    """
    if result is None or quality is None or result.reference is None or quality.outcome != "ran":
        return ""
    if result.decided_by is not None and result.decided_by != declared:
        return f"its seeds were decided by {_difference(result.decided_by, declared)}"
    others = [rule for rule in result.looked_before if rule != declared]
    if others:
        return f"its seeds had been looked at by {_difference(others[-1], declared)}, before they were by these"
    return _between_looks(quality, declared.looks)


def looks_text(looks: Sequence[int]) -> str:
    """looks 5, 10, 20; or one look at 20."""
    return f"looks {numbers(looks)}" if len(looks) > 1 else f"one look at {looks[0]}"


def _difference(other: DecisionRule, declared: DecisionRule) -> str:
    """What another rule has, and the declared one has not."""
    sides = [
        (other.looks, declared.looks, looks_text(other.looks), looks_text(declared.looks)),
        (
            other.max_drop_pp,
            declared.max_drop_pp,
            f"drops up to {other.max_drop_pp:g} pp",
            f"{declared.max_drop_pp:g} pp",
        ),
        (other.alpha, declared.alpha, f"alpha {other.alpha:g}", f"{declared.alpha:g}"),
        (other.metric, declared.metric, METRICS[other.metric], METRICS[declared.metric]),
        (other.first, declared.first, f"seeds from {other.first}", f"from {declared.first}"),
    ]
    return " and ".join(f"{theirs}, not {ours}" for one, two, theirs, ours in sides if one != two)


def _between_looks(quality: Quality, looks: Sequence[int]) -> str:
    """Pairs beyond the last complete look that nobody has judged; before the first look there is nothing to judge."""
    judged, there = quality.judgement.look, len(quality.accuracy.seeds)
    if quality.judgement.decided or judged is None or there <= judged or judged == looks[-1]:
        return ""
    following = looks[list(looks).index(judged) + 1]
    return f"its job stopped between looks, with {plural(there, 'pair')} after {judged} and before {following}"
