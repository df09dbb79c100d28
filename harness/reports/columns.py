"""The columns of a table of verdicts: what each says to a reader, and which fields stand behind it.

One source for `report.csv`, for `harness report --format` in all its forms and for their schema.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from harness.reports.answer import metric
from harness.reports.column_names import COLUMN_NAMES, REPORTED
from harness.reports.details import patch_text
from harness.reports.digits import bytes_text, seconds_text
from harness.reports.fields import Field
from harness.reports.tables import headings, verdict_cells
from harness.reports.where_time_goes import sooner_text
from harness.spec.errors import InputError, Problem
from harness.spec.schema import Gate
from harness.verdicts.model import ComparisonVerdict, Verdicts
from harness.verdicts.wording import ratio_text

NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: as `--columns` takes it.
        fields: what CSV and JSON hold of it.
        heading: what Markdown and LaTeX print above it; the metric's name follows the gate.
        text: what they print of a comparison, in as many digits as the interval supports.
        width: of a LaTeX column of running text, millimetres; None for one of short words.
    """

    name: str
    fields: tuple[Field, ...]
    heading: Callable[[Gate], str]
    text: Callable[[ComparisonVerdict, Verdicts], str]
    width: int | None = None


def chosen(names: str) -> tuple[Column, ...]:
    """The columns of a comma-separated list.

    Raises:
        InputError: a name is none of a column, stands twice, or there is none.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    problems = [_unknown(name) for name in dict.fromkeys(wanted) if name not in COLUMNS]
    problems += [f"'{name}' stands twice" for name in dict.fromkeys(wanted) if wanted.count(name) > 1]
    if not wanted:
        problems.append("names no column")
    if problems:
        raise InputError(Problem("--columns", f"{'; '.join(problems)}; allowed: {', '.join(COLUMNS)}"))
    return tuple(COLUMNS[name] for name in wanted)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, COLUMNS, 1)
    owner = next((column.name for column in COLUMNS.values() if name in (f.name for f in column.fields)), None)
    hint = f", it is part of '{owner}'" if owner else f", did you mean '{near[0]}'?" if near else ""
    return f"'{name}' is no column{hint}"


def _reported(name: str) -> tuple[Callable[[Gate], str], Callable[[ComparisonVerdict, Verdicts], str]]:
    """Heading and text as in the verdict table of a report."""
    place = REPORTED.index(name)
    return (lambda gate: headings(gate)[place]), (lambda c, v: verdict_cells(c, v.gate)[place])


def _means_text(c: ComparisonVerdict) -> str:
    found = c.accuracy
    if found is None or found.baseline is None or found.variant is None:
        return NOTHING
    return f"{100 * found.baseline:.2f} → {100 * found.variant:.2f}"


def _pair(reference: str, variant: str) -> str:
    return NOTHING if NOTHING in (reference, variant) else f"{reference} → {variant}"


def _training_text(c: ComparisonVerdict) -> str:
    total = c.costs.total
    return NOTHING if total is None else _pair(seconds_text(total.reference_seconds), seconds_text(total.seconds))


_BOUNDS = "bound of its interval, at the level that the verdict rests on"

_MADE = (
    Column("spec", (Field("spec", "text", "Name of the spec."),), lambda g: "spec", lambda c, v: v.spec),
    Column(
        "variant",
        (Field("variant", "text", "The variant; `control` is the baseline against itself."),),
        *_reported("variant"),
        42,
    ),
    Column(
        "reference",
        (Field("reference", "text", "What it is compared with."),),
        lambda g: "reference",
        lambda c, v: c.reference,
    ),
    Column(
        "goal",
        (Field("goal", "text", "The gain that it is judged by: speed or memory."),),
        lambda g: "goal",
        lambda c, v: c.goal,
    ),
    Column(
        "exact",
        (Field("exact", "true or false", "Whether the spec declares it mathematically equal to its reference."),),
        lambda g: "exact",
        lambda c, v: "yes" if c.exact else "no",
    ),
    Column(
        "verdict",
        (
            Field("verdict", "text", "The verdict; of the control quiet, noisy or missing."),
            Field("exploratory", "true or false", "Not by the looks and the gate that were declared beforehand."),
        ),
        *_reported("verdict"),
    ),
    Column(
        "pairs",
        (
            Field("n_pairs", "whole number", "Complete pairs that were looked at."),
            Field("look", "whole number", "Pairs at the look that counts."),
            Field("alpha", "number", "One-sided level of this look."),
        ),
        lambda g: "pairs",
        lambda c, v: str(c.n_pairs),
    ),
    Column(
        "means",
        (
            Field("metric", "text", "The gate's metric: accuracy, roc_auc or macro_f1."),
            Field("reference_metric", "number", "Mean of the reference's runs, a fraction."),
            Field("variant_metric", "number", "Mean of the variant's runs, a fraction."),
        ),
        lambda g: f"{metric(g)}, %, reference → variant",
        lambda c, v: _means_text(c),
    ),
    Column(
        "accuracy",
        (
            Field("delta_pp", "number", "Variant minus reference, percentage points."),
            Field("delta_lower_pp", "number", f"Lower {_BOUNDS}."),
            Field("delta_upper_pp", "number", f"Upper {_BOUNDS}."),
            Field("accuracy_state", "text", "pass, fail, inconclusive, invalid or dnf."),
            Field("more_seeds", "whole number", "Rough; only where inconclusive."),
        ),
        *_reported("accuracy"),
    ),
    Column(
        "speed",
        (
            Field("speedup", "number", "Seconds an epoch, reference over variant: above 1 is faster."),
            Field("speedup_lower", "number", f"Lower {_BOUNDS}."),
            Field("speedup_upper", "number", f"Upper {_BOUNDS}."),
            Field("blocks", "whole number", "Timing blocks behind it, two ratios each."),
            Field("speed_state", "text", "gain, no-gain, loss or unknown."),
        ),
        *_reported("speed"),
    ),
    Column(
        "epoch",
        (
            Field("reference_epoch_s", "number", "Median steady-state epoch of the reference, seconds."),
            Field("variant_epoch_s", "number", "Likewise of the variant."),
        ),
        lambda g: "an epoch, reference → variant",
        lambda c, v: _pair(seconds_text(c.speed.reference_epoch_s), seconds_text(c.speed.variant_epoch_s)),
    ),
    Column(
        "memory",
        (
            Field("memory_ratio", "number", "Peak bytes over the base, reference over variant: above 1 is smaller."),
            Field("memory_lower", "number", f"Lower {_BOUNDS}."),
            Field("memory_upper", "number", f"Upper {_BOUNDS}."),
            Field("memory_state", "text", "gain, no-gain, loss or unknown."),
        ),
        *_reported("memory"),
    ),
    Column(
        "sooner",
        (
            Field("epochs_to_reference", "number", "Median epochs until the reference's validation accuracy."),
            Field("reference_epochs_to_reference", "number", "Likewise of the reference itself."),
            Field("seconds_to_reference", "number", "These epochs times the median timed epoch, seconds."),
            Field("reference_seconds_to_reference", "number", "Likewise of the reference."),
            Field("pairs_that_reached", "whole number", "Pairs in which the variant reached it."),
            Field("sooner", "number", "Seconds until it, reference over variant, over the pairs that reached it."),
            Field("sooner_lower", "number", "Lower bound of its t interval at 95 %."),
            Field("sooner_upper", "number", "Upper bound of its t interval at 95 %."),
        ),
        lambda g: "sooner at the reference's accuracy [CI]",
        lambda c, v: sooner_text(c),
    ),
    Column(
        "training",
        (
            Field("once_s", "number", "Preparation of one training of the variant, seconds."),
            Field("reference_once_s", "number", "Likewise of the reference."),
            Field("training_s", "number", "Preparation and all epochs asked for, evaluation left out, seconds."),
            Field("reference_training_s", "number", "Likewise of the reference."),
            Field("payoff_epochs", "number", "Epochs until dearer preparation is earned back."),
        ),
        lambda g: "a whole training, reference → variant",
        lambda c, v: _training_text(c),
    ),
    Column(
        "ceiling",
        (Field("ceiling", "number", "Amdahl: the speed-up if the stages that it shortens took no time."),),
        lambda g: "at most (Amdahl)",
        lambda c, v: NOTHING if c.costs.ceiling is None else ratio_text(c.costs.ceiling),
    ),
    Column(
        "peak",
        (
            Field("reference_bytes", "whole number", "Median peak of the reference's timing processes, bytes."),
            Field("variant_bytes", "whole number", "Likewise of the variant."),
            Field("estimated_bytes", "whole number", "Expected for the variant before it ran, bytes."),
        ),
        lambda g: "peak memory, reference → variant",
        lambda c, v: _pair(bytes_text(c.memory.reference_bytes), bytes_text(c.memory.variant_bytes)),
    ),
    Column(
        "patch",
        (Field("patch", "patch", "Dotted path of an option to its value: what the variant changes."),),
        lambda g: "changes",
        lambda c, v: patch_text(c.patch) or NOTHING,
        60,
    ),
    Column("why", (Field("reason", "text", "Why, one sentence with its numbers."),), *_reported("why"), 78),
)
COLUMNS = {column.name: column for column in _MADE}
assert tuple(COLUMNS) == COLUMN_NAMES
