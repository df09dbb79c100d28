"""What every form of a report says, in plain text; each form adds its own markup and escapes what it prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.plan.model import Plan
from harness.records.results import TimingResult, VariantResult
from harness.reports.answer import (
    MEANINGS,
    ORDER,
    baseline_line,
    caveat,
    cell_names,
    control_line,
    headline,
    looks_line,
    question,
    ratios_note,
    resolution_line,
    sentence,
)
from harness.reports.claims.rows import claim_rows
from harness.reports.details import (
    Facts,
    Failure,
    command,
    environment_facts,
    facts,
    failures,
    method,
    pair_rows,
    reference_rows,
    run_facts,
    value_text,
)
from harness.reports.figures.drawing import Figure
from harness.reports.figures.stage_shares import STAGES
from harness.reports.open_questions import open_questions
from harness.reports.sort_keys import SortKey, sort_keys
from harness.reports.tables import headings, reference_cells, verdict_cells, verdict_text
from harness.reports.telling import telling_counters
from harness.reports.together import Together, together
from harness.reports.where_time_goes import TimeSection, time_section
from harness.verdicts.claims.ledger import ClaimOutcome
from harness.verdicts.model import ComparisonVerdict, Verdict, Verdicts

REFERENCE_LABELS = ("mean", "time", "peak memory")  # where a screen has no room for the table's headings
CONTROL_LABELS = ("change", "times as fast as itself [CI]", "memory, ratio to itself")
PAIR_HEADINGS = ("seed", "reference", "variant", "Δ, pp", "counted")
REFERENCE_HEADINGS = ("reference", "runs", "mean", "spread over seeds (sd)", "failed")
CLAIM_HEADINGS = ("claim", "measured", "value [interval]", "holds where", "here")
CLAIM_NOTE = (
    "A claim holds where the interval lies wholly inside the region stated beforehand, and is refuted where it lies "
    "wholly outside; `harness claims` has all of them, over all graphs."
)
FAILURE_HEADINGS = ("variant", "run", "status", "reason")


@dataclass(frozen=True)
class VariantDetails:
    """What stands behind one row of the verdict table."""

    variant: str
    verdict: str  # with `(exploratory)` where it is
    reason: str
    facts: Facts
    counters: Facts  # those that are about what the variant changes
    counters_of: str  # where all of them are
    pairs: list[list[str]]


@dataclass(frozen=True)
class Contents:
    """A report."""

    spec: str
    description: str
    question: str
    headline: str
    caveat: str  # what the headline would leave out
    headings: list[str]
    anchors: list[list[str]]  # of the references and the control, above the rows
    anchor_labels: list[tuple[str, ...]]  # of each of them
    rows: list[list[str]]
    keys: list[tuple[SortKey, ...]]  # what the rows are sorted by, by `headings`
    counts: list[tuple[Verdict, int]]  # rows by verdict
    meanings: list[tuple[Verdict, str]]
    control: str
    control_state: str
    resolution: str
    baseline: str
    ratios_note: str
    looks: str  # at which look each accuracy stands
    open_questions: list[str]
    together: Together | None  # where the spec asks for a confirmation
    figures: Sequence[Figure]
    time: TimeSection
    details: list[VariantDetails]
    claims: list[list[str]]  # that the results test
    references: list[list[str]]
    failures: list[Failure]
    method: list[str]
    run: Facts
    environment: Facts
    command: str

    @property
    def answer(self) -> str:
        """Headline and caveat."""
        return " ".join(part for part in (self.headline, self.caveat) if part)


def contents_of(
    plan: Plan,
    verdicts: Verdicts,
    variants: Mapping[str, VariantResult],
    timings: Mapping[str, TimingResult],
    drawn: Sequence[Figure],
    claims: Sequence[ClaimOutcome] = (),
) -> Contents:
    """Join plan, verdicts, results and the claims that these test into what a report says."""
    anchors = reference_cells(verdicts)
    present = Counter(c.verdict for c in verdicts.comparisons)
    return Contents(
        spec=plan.spec,
        description=verdicts.description or plan.description,
        question=question(plan, verdicts),
        headline=headline(verdicts),
        caveat=caveat(verdicts),
        headings=headings(verdicts.gate),
        anchors=anchors,
        anchor_labels=[REFERENCE_LABELS if state == "reference" else CONTROL_LABELS for *_, state, _ in anchors],
        rows=[verdict_cells(c, verdicts.gate) for c in verdicts.comparisons],
        keys=[sort_keys(c) for c in verdicts.comparisons],
        counts=[(v, present[v]) for v in ORDER if present[v]],
        meanings=[(v, MEANINGS[v]) for v in ORDER if v in present],
        control=control_line(verdicts),
        control_state=verdicts.control.state,
        resolution=resolution_line(verdicts),
        baseline=baseline_line(plan),
        ratios_note=ratios_note(verdicts),
        looks=looks_line(verdicts),
        open_questions=open_questions(verdicts),
        together=together(verdicts),
        figures=[figure for figure in drawn if figure.name != STAGES],
        time=time_section(verdicts, next(figure for figure in drawn if figure.name == STAGES)),
        details=[_details(c, verdicts) for c in verdicts.comparisons],
        claims=claim_rows(claims, plan.spec),
        references=reference_rows(verdicts),
        failures=failures(plan, verdicts, variants),
        method=method(plan, verdicts),
        run=run_facts(plan, verdicts, variants),
        environment=environment_facts(verdicts, timings),
        command=command(plan),
    )


def _details(comparison: ComparisonVerdict, verdicts: Verdicts) -> VariantDetails:
    return VariantDetails(
        variant=comparison.variant,
        verdict=verdict_text(comparison),
        reason=sentence(comparison.reason, names=cell_names(verdicts)),
        facts=facts(comparison, verdicts),
        counters=[
            (name, value_text(value)) for name, value in telling_counters(comparison.counters, comparison.patch).items()
        ],
        counters_of=f"results/runs/{comparison.counters_run}.json" if comparison.counters_run else "the record",
        pairs=pair_rows(comparison),
    )
