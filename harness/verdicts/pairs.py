"""Quality runs to pairs: which seeds count, which failed, and whether the variant ran at all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.records.one_line import one_line
from harness.records.results import SeedRun, VariantResult
from harness.spec.schema import Gate
from harness.verdicts.accuracy import Judgement, judge_pairs
from harness.verdicts.model import Accuracy, FailedRun, SeedDifference
from harness.verdicts.non_inferiority import collapse_bound, paired_differences
from harness.verdicts.wording import plural


@dataclass(frozen=True)
class Quality:
    """The quality runs of a comparison."""

    outcome: Literal["ran", "dnf", "enables"]
    why: str  # of dnf and enables
    judgement: Judgement
    accuracy: Accuracy
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Pair:
    seed: int
    reference: SeedRun
    variant: SeedRun

    @property
    def undefined(self) -> bool:
        """Both runs ended well, but the metric does not exist on this test set, whatever the variant says."""
        return self.reference.status == self.variant.status == "ok" and self.reference.metric is None

    @property
    def dnf(self) -> bool:
        """The variant failed though the reference ran, or diverged, whatever the reference did."""
        if self.variant.status == "ok":
            return self.variant.metric is None and self.reference.metric is not None
        return self.reference.status == "ok" or self.variant.status == "diverged"


def judge_quality(result: VariantResult, gate: Gate, looks: Sequence[int]) -> Quality:
    """The accuracy gate on one variant's results.

    Pairs are formed in seed order. A variant that fails where the reference ran, or diverges, before the deciding look
    is **dnf**; failures beyond it are ignored like all later seeds. It **enables** where all of its runs end well and
    none of the reference's does. Where the reference fails on some seeds only, those are no pairs, and a note says so.
    """
    pairs = [pair for pair in _pairs(result) if not pair.undefined]
    judgement = judge_pairs(
        [metric_of(p.reference) for p in pairs],
        [metric_of(p.variant) for p in pairs],
        max_drop_pp=gate.max_drop_pp,
        alpha=gate.alpha,
        looks=looks,
        test_nodes=result.test_nodes,
        identical=lambda at: all(same_predictions(pairs[i].reference, pairs[i].variant) for i in at),
        parity_equal=result.parity is not None and result.parity.state == "equal",
    )
    outcome, why = _outcome(result, pairs, judgement)
    notes = _notes(result, pairs, judgement, gate)
    return Quality(outcome, why, judgement, _accuracy(result, pairs, judgement), notes)


def failed_runs(arm: Literal["reference", "variant"], runs: Iterable[SeedRun]) -> list[FailedRun]:
    """Every quality run of an arm that did not end well."""
    return [
        FailedRun(
            arm=arm,
            purpose="quality",
            seed=run.seed,
            run_id=run.run_id,
            status=run.status,
            message=one_line(run.message),
        )
        for run in runs
        if run.status != "ok"
    ]


def _pairs(result: VariantResult) -> list[_Pair]:
    """Seeds that both arms have run, in order; a seed that one arm has not reached yet is none."""
    reference = {run.seed: run for run in result.reference_runs}
    variant = {run.seed: run for run in result.runs}
    return [_Pair(seed, reference[seed], variant[seed]) for seed in sorted(reference.keys() & variant.keys())]


def metric_of(run: SeedRun) -> float | None:
    """The gate's metric of a run that ended well; None of any other."""
    return run.metric if run.status == "ok" else None


def same_predictions(reference: SeedRun, variant: SeedRun) -> bool:
    """Whether the predicted classes of all test nodes are known to be the same."""
    return reference.predictions_sha256 is not None and reference.predictions_sha256 == variant.predictions_sha256


def ending(run: SeedRun) -> str:
    """How a run ended, and what it said, in one line."""
    message = one_line(run.message)
    if run.status == "ok":
        return "ok, but without the metric"
    return f"{run.status}: {message}" if message else run.status


def seed_difference(reference: SeedRun, variant: SeedRun, counted: bool) -> SeedDifference | None:
    """Variant minus reference of one seed; None where either has no metric."""
    theirs, ours = metric_of(reference), metric_of(variant)
    if theirs is None or ours is None:
        return None
    (d,) = paired_differences([theirs], [ours])
    return SeedDifference(seed=variant.seed, reference=theirs, variant=ours, delta_pp=d, counted=counted)


def mean_or_none(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def _outcome(
    result: VariantResult, pairs: Sequence[_Pair], judgement: Judgement
) -> tuple[Literal["ran", "dnf", "enables"], str]:
    # Beyond a decision nothing counts. Before it, a seed that the reference failed is no pair, yet may be a dnf.
    seen = pairs[: judgement.seen] if judgement.decided else pairs
    failed = next((p for p in seen if p.dnf), None)
    if failed is not None:
        though = ", though the reference ran" if failed.reference.status == "ok" else ""
        return "dnf", f"seed {failed.seed} ended as {ending(failed.variant)}{though}"
    if not result.runs or not result.reference_runs:
        return "dnf", "no seed was run by both the variant and its reference"
    reference_ran = any(run.status == "ok" for run in result.reference_runs)
    broken = next((run for run in result.runs if run.status != "ok"), None)
    if reference_ran and any(run.status == "ok" for run in result.runs):
        return "ran", ""
    # One arm never ran to its end. A cell that keeps failing is given up before its last seed.
    count = plural(len(result.reference_runs), "seed")
    if broken is not None:
        too = "" if reference_ran else f", and the reference failed on {count} too"
        return "dnf", f"seed {broken.seed} ended as {ending(broken)}{too}"
    return "enables", f"the reference failed on {count} ({ending(result.reference_runs[0])}) and the variant ran"


def _notes(result: VariantResult, pairs: Sequence[_Pair], judgement: Judgement, gate: Gate) -> tuple[str, ...]:
    notes = []
    undefined = [p.seed for p in _pairs(result) if p.undefined]
    if undefined:
        notes.append(f"{gate.metric} is undefined on {len(undefined)} seeds: a class is missing from the test split")
    absent = [p.seed for p in pairs if p.reference.status != "ok"]
    if absent and judgement.pairs:
        notes.append(f"the reference failed on {len(absent)} of {len(pairs)} seeds, which form no pair")
    return tuple(notes)


def _accuracy(result: VariantResult, pairs: Sequence[_Pair], judgement: Judgement) -> Accuracy:
    seeds = _differences(pairs, judgement)
    shown = [s for s in seeds if s.counted] or seeds
    # Without a pair there is no difference to show, but still what either arm reached.
    reference = [s.reference for s in shown] or _reached(result.reference_runs)
    variant = [s.variant for s in shown] or _reached(result.runs)
    ran_well = bool(result.runs) and all(run.status == "ok" for run in result.runs)
    return Accuracy(
        baseline=mean_or_none(reference),
        variant=mean_or_none(variant),
        delta_pp=mean_or_none([s.delta_pp for s in shown]),
        ci_pp=judgement.interval_pp,
        level=judgement.level,
        alpha=judgement.alpha,
        look=judgement.look,
        state=judgement.state,
        more_seeds=judgement.more_seeds,
        identical=judgement.identical,
        seeds=seeds,
        collapse_rate_below=collapse_bound(len(result.runs)) if ran_well else None,
    )


def _differences(pairs: Sequence[_Pair], judgement: Judgement) -> list[SeedDifference]:
    """Every complete pair, marked with whether it counts."""
    counted = set(judgement.pairs) if judgement.look is not None else set()
    found = (seed_difference(pair.reference, pair.variant, i in counted) for i, pair in enumerate(pairs))
    return [difference for difference in found if difference is not None]


def _reached(runs: Iterable[SeedRun]) -> list[float]:
    return [m for run in runs if (m := metric_of(run)) is not None]
