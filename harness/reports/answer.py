"""The question a report answers, the answer in one sentence, and what it rests on. Plain text, no markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import PurePath

from harness.plan.model import Plan
from harness.reports.caveats import caveats
from harness.reports.digits import fixed, shortened, shortened_apart
from harness.reports.in_one_line import in_one_line
from harness.spec.dataset import Files
from harness.spec.schema import Gate
from harness.verdicts.dataset_label import dataset_label
from harness.verdicts.disturbed import causes
from harness.verdicts.model import ComparisonVerdict, Confirmation, Verdict, Verdicts
from harness.verdicts.rule import NOT_RUN
from harness.verdicts.wording import METRICS, interval_text, plural, ratio_text

ORDER: tuple[Verdict, ...] = ("accept", "enables", "inconclusive", "no-gain", "reject", "dnf", "skipped")
MEANINGS: dict[Verdict, str] = {
    "accept": "the drop is shown to be within the limit, and the gain is real",
    "enables": "it trains where its reference cannot, so there is nothing to compare with",
    "inconclusive": "the data decide neither way yet",
    "no-gain": "accuracy may be kept, but it is not faster (or smaller) by the least gain asked for",
    "reject": "the drop is shown to exceed the limit, or what was declared exact is not",
    "dnf": "a run did not finish, or diverged, where its reference ran",
    "skipped": "this machine or library cannot run it",
}
_NAMED = 4
_IN_FULL = 2  # accepted variants whose every figure stands in the answer


def metric(gate: Gate) -> str:
    """The gate's metric as people write it."""
    return METRICS[gate.metric]


def dataset_name(plan: Plan) -> str:
    """The data set in a few words."""
    dataset = plan.dataset.dataset
    if isinstance(dataset, Files):  # a file's name alone, say edges.csv, says less than the spec's
        return f"{plan.spec} ({PurePath(dataset.path or dataset.edges or 'files').name})"
    return dataset_label(dataset)


def model_name(plan: Plan) -> str:
    """The network in a few words."""
    model = next(iter(plan.cells.values())).model
    if model.conv is None:
        return str(model.class_path)
    return f"a {model.layers}-layer {model.conv.upper()} of width {model.hidden}"


def question(plan: Plan, verdicts: Verdicts) -> str:
    """What the spec asks."""
    gate = verdicts.gate
    where = f" on {verdicts.device}" if verdicts.device else ""
    return (
        f"Which of these training options are worth having for {model_name(plan)} on {dataset_name(plan)}{where}, "
        f"if they may cost at most {gate.max_drop_pp:g} percentage points of {metric(gate)}?"
    )


def answer(verdicts: Verdicts) -> str:
    """The answer in one sentence, and in another one what it would leave out otherwise."""
    return " ".join(part for part in (headline(verdicts), caveat(verdicts)) if part)


def headline(verdicts: Verdicts) -> str:
    """The answer in one sentence."""
    compared = [c for c in verdicts.comparisons if c.verdict != "skipped"]
    if not compared:
        return "Nothing was compared: every variant was skipped."
    accepted = _accepted(verdicts)
    enabling = [c for c in compared if c.verdict == "enables"]
    if accepted:
        names = _listed([f"{shortened(c.variant, 40)} ({gain(c)})" for c in accepted])
        if verdicts.confirmation is not None:
            return _confirmed(verdicts, verdicts.confirmation, names, len(accepted), len(compared))
        return _unconfirmed(verdicts, accepted, len(compared))
    why = _why_none(verdicts, compared, enabling)
    return f"None of {plural(len(compared), 'variant')} is shown to be worth having: {why}."


def caveat(verdicts: Verdicts) -> str:
    """What the headline would leave out, in one sentence; empty where nothing is."""
    found = verdicts.confirmation
    if found is None:
        return caveats([(c.variant, c) for c in _accepted(verdicts)])
    if found.comparison is None or not found.accepted:
        return ""
    return caveats([("the stack" if len(found.names) > 1 else _listed(found.names), found.comparison)])


def _accepted(verdicts: Verdicts) -> list[ComparisonVerdict]:
    return [c for c in verdicts.comparisons if c.verdict == "accept" and not c.exploratory]


def looks_line(verdicts: Verdicts) -> str:
    """At which look each accuracy stands, with the level of a look; empty where none was judged."""
    at: dict[int, list[str]] = {}
    for c in verdicts.comparisons:
        if c.accuracy is not None and c.accuracy.look is not None:
            at.setdefault(c.accuracy.look, []).append(c.variant)
    if not at:
        return ""
    shown = "; ".join(f"{look_text(look, verdicts.looks)}: {_listed(names)}" for look, names in sorted(at.items()))
    return f"Accuracy stands at {shown}. Alpha {verdicts.alpha_per_look:.4f} a look."


def look_text(look: int, looks: list[int]) -> str:
    """look 2 of 3 (10 pairs)."""
    number = f" {looks.index(look) + 1} of {len(looks)}" if look in looks else ""
    return f"look{number} ({plural(look, 'pair')})"


def _unconfirmed(verdicts: Verdicts, accepted: list[ComparisonVerdict], compared: int) -> str:
    """The answer that rests on each variant alone, on the seeds that it was chosen by."""
    names = shortened_apart([c.variant for c in accepted], 40)
    told = [(name, in_one_line(c, verdicts.gate)) for name, c in zip(names, accepted, strict=True)]
    of_all = f"{len(accepted)} of {plural(compared, 'variant')}"
    shown = f"with a drop of {metric(verdicts.gate)} shown to be at most {verdicts.gate.max_drop_pp:g} pp"
    if len(told) == 1:
        return f"Turn on {told[0][0]}: {told[0][1]}; {of_all} is worth having, {shown}."
    if len(told) > _IN_FULL:
        told = [(name, gain(c)) for (name, _), c in zip(told, accepted, strict=True)]
    listed = _listed([f"{name} ({words})" for name, words in told])
    return f"{of_all} are worth having alone: {listed}, each {shown}."


def _confirmed(verdicts: Verdicts, found: Confirmation, alone: str, accepted: int, compared: int) -> str:
    """The answer that rests on what was run as one, on fresh seeds."""
    together = _listed([shortened(name, 40) for name in found.names])
    many = len(found.names) > 1
    pass_alone = f"{accepted} of {plural(compared, 'variant')} {'passes' if accepted == 1 else 'pass'} alone"
    if found.comparison is None:
        return f"Not confirmed: {pass_alone} ({alone}), and {'they have' if many else 'it has'} not been run again yet."
    if not found.accepted:
        outcome = f"{'together they end' if many else 'it ends'} as {found.comparison.verdict} on fresh seeds"
        outcome += ", which is exploratory" if found.comparison.exploratory else ""
        return f"Not confirmed: {pass_alone} ({alone}), but {outcome}."
    words = in_one_line(found.comparison, verdicts.gate)
    return f"Turn on {together}: {words}, confirmed on fresh seeds; {pass_alone}."


def gain(comparison: ComparisonVerdict) -> str:
    """The gain that the comparison's goal asks for."""
    if comparison.goal == "memory":
        return f"{fixed(comparison.memory.ratio, 2)} times less memory"
    return f"{fixed(comparison.speed.ratio, 2)} times as fast"


def _why_none(verdicts: Verdicts, compared: list[ComparisonVerdict], enabling: list[ComparisonVerdict]) -> str:
    broken = [r.name for r in verdicts.references if r.n == 0]
    counts = Counter(c.verdict for c in compared)
    summary = ", ".join(f"{counts[v]} {v}" for v in ORDER if counts[v])
    if enabling:
        return f"{_listed([c.variant for c in enabling])} can train where the reference cannot ({summary})"
    if broken:
        return f"{_listed(broken)}, with which they are compared, did not train to the end"
    if compared and all(c.reason == NOT_RUN for c in compared):
        return "none has been run yet"
    if counts["dnf"] == len(compared):
        return "none trained to the end"
    waiting = [c for c in compared if c.verdict == "inconclusive" and c.accuracy and c.accuracy.state == "pass"]
    if verdicts.control.state != "quiet" and waiting:
        noisy = verdicts.control.state == "noisy"
        if len(waiting) == len(compared):
            why = "the machine is too noisy to measure a gain" if noisy else "no control was timed to its end"
            return f"{why} ({summary})"
        stay = f"{len(waiting)} of {len(compared)} {'stays' if len(waiting) == 1 else 'stay'} undecided"
        why = "since the machine is too noisy" if noisy else "since no control was timed to its end"
        return f"{stay} {why} ({summary})"
    return summary


def _listed(names: list[str]) -> str:
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def ratios_note(verdicts: Verdicts) -> str:
    """What ratios and intervals of the verdict table are, with their levels."""
    alpha = verdicts.alpha_per_look
    levels = {c.speed.level for c in verdicts.comparisons if c.speed.level is not None}
    note = (
        "Ratios are reference over variant: above 1 is faster, or smaller. CI: the interval that the verdict rests on, "
        f"of {metric(verdicts.gate)} at {_level(1 - 2 * alpha)} (each bound alone at {_level(1 - alpha)})"
    )
    return note + (f", of ratios at {_listed([_level(level) for level in sorted(levels)])}." if levels else ".")


def _level(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def baseline_line(plan: Plan) -> str:
    """What every variant departs from, in the words of the spec; all its values stand with how it was measured."""
    name, cell = next(iter(plan.cells.items()))
    options, training = cell.options, cell.training
    fanout = ", ".join(map(str, options.sampling.fanout))
    batches = {
        "full": "one batch of the whole graph",
        "neighbor": f"batches of {training.batch_size:,} with their neighbours ({options.sampling.method}, fan-out "
        f"{fanout})",
        "cluster": f"batches of {options.partition.per_batch} of {options.partition.parts} parts "
        f"({options.partition.method})",
    }[options.batching]
    cached = f"{options.features.cache_ratio:g} of the features cached, " if options.features.cache_ratio else ""
    kept = ", checkpointing" if options.checkpointing else ""
    model = model_name(plan)
    if cell.model.class_path is None:
        model += f", dropout {cell.model.dropout:g}, norm {cell.model.norm}"
    return (
        f"{name.capitalize()}: {model}; {batches}; {cached}"
        f"{options.precision}, {options.aggregation}{kept}; {training.epochs} epochs at a learning rate of "
        f"{training.lr:g}."
    )


def control_line(verdicts: Verdicts) -> str:
    """The noise floor in one line, with what it leaves room for."""
    control = verdicts.control
    if control.ratio is None or control.ci is None:
        return f"Control: {control.state}; {sentence(control.reason, capital=False)}"
    lower, upper = control.ci
    measured = (
        f"the baseline against itself: {ratio_text(control.ratio)} {interval_text(lower, upper)} "
        f"over {plural(control.blocks, 'block')}"
    )
    if control.disturbed_blocks:
        measured += f", {control.disturbed_blocks} of them disturbed ({causes(control.disturbed_by)})"
    if lower > 1.0 or upper < 1.0:
        return f"Control: {control.state}; {measured}, off 1.00: no gain can be accepted."
    if control.state == "noisy" and control.smallest_gain is not None:
        floor = f"only gains above {control.smallest_gain:.2f} can be accepted"
        return f"Control: {control.state}; {measured}: {floor}, with a lower bound above {verdicts.gate.min_speedup:g}."
    return f"Control: {control.state}; {measured}."


def cell_names(verdicts: Verdicts) -> set[str]:
    """Of variants and their references: a sentence that begins with one begins as the name does."""
    return {name for c in verdicts.comparisons for name in (c.variant, c.reference)} | {
        r.name for r in verdicts.references
    }


def sentence(text: str, capital: bool = True, names: Collection[str] = ()) -> str:
    """With a full stop, and a capital where it begins with a word rather than with a name or an option's path.

    Args:
        text: anything.
        capital: whether it begins with a capital at all.
        names: of cells, which are printed as they are.
    """
    text = text.strip()
    if not text:
        return ""
    word = text.split()[0].rstrip(",;")
    first = text[0].upper() if capital and word.isalpha() and word not in names else text[0]
    return first + text[1:] + ("" if text[-1] in ".!?" else ".")


def resolution_line(verdicts: Verdicts) -> str:
    """What the test set can resolve."""
    test = verdicts.test_set
    if test is None:
        return "Resolution: the number of test nodes is not known, since no run ended well."
    low, high = test.sampling_error_pp
    nodes = plural(test.nodes, "test node")
    return (
        f"Resolution: {verdicts.gate.max_drop_pp:g} pp = {test.max_drop_nodes:.3g} of {nodes}; "
        f"another test set of this size would move a difference by about {low:.2g} to {high:.2g} pp "
        "(one standard error), so every verdict is conditional on this one."
    )


def reasons(comparisons: list[ComparisonVerdict]) -> list[str]:
    """`variant: reason`, equal reasons joined, in the order of the table."""
    joined: dict[str, list[str]] = {}
    for comparison in comparisons:
        joined.setdefault(comparison.reason, []).append(comparison.variant)
    return [f"{_listed(names)}: {reason}" for reason, names in joined.items()]
