"""Which accepted variants to switch on together: patches that do not contradict each other and can run as one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from harness.plan.capabilities import Candidate, cannot_run
from harness.plan.machine import Machine
from harness.plan.model import BASELINE, Plan
from harness.plan.no_effect import without_effect
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.spec.options import Options
from harness.spec.variant_checks import check_settings
from harness.verdicts.model import ComparisonVerdict

NOTE = "accepted alone does not mean accepted together; the combination is not confirmed"


@dataclass(frozen=True)
class Recommendation:
    """Accepted variants whose patches fit together."""

    names: tuple[str, ...]
    patch: dict[str, Any]
    note: str
    left_out: tuple[str, ...] = ()  # accepted variants that do not fit the others, and why


def recommend(comparisons: Sequence[ComparisonVerdict], plan: Plan) -> Recommendation:
    """Accepted patches on the baseline, larger measured gains first; the note says which were left out, and why.

    A patch is left out where a taken one sets the same option to another value, where one of both would have no effect
    beside the other (a fan-out with cluster batches), and where the options together cannot run. Comparisons with
    another reference (leave one out) say what a part adds to a stack, not what to add to the baseline.
    """
    accepted = [c for c in comparisons if c.verdict == "accept" and c.reference == BASELINE and not c.exploratory]
    if not accepted:
        explored = any(c.verdict == "accept" for c in comparisons if c.exploratory)
        return Recommendation((), {}, "no variant was accepted" + (" but by exploration" if explored else ""))
    together = _Together(plan)
    lost: list[str] = []
    for candidate in sorted(accepted, key=lambda c: (-_gain(c), c.variant)):
        objection = together.add(candidate)
        if objection is not None:
            lost.append(f"{candidate.variant} {objection}")
    names = {c.variant for c in together.taken}
    return Recommendation(
        tuple(c.variant for c in comparisons if c.variant in names),
        dict(sorted(together.patch.items())),
        "; ".join([NOTE, *lost]),
        tuple(lost),
    )


class _Together:
    """Variants taken so far, and their patches as one."""

    def __init__(self, plan: Plan) -> None:
        base = plan.cells[BASELINE]
        self._sections = tree_of(Settings(base.model, base.training, base.options))
        self.taken: list[ComparisonVerdict] = []
        self.patch: dict[str, Any] = {}

    def add(self, candidate: ComparisonVerdict) -> str | None:
        """Take a variant; else why not."""
        rival = next((t for t in self.taken if _conflicts(t.patch, candidate.patch)), None)
        if rival is not None:
            return f"gives way to {rival.variant}, which sets the same option and gains more"
        if self.taken:
            reason = self._cannot_join(candidate)
            if reason is not None:
                return f"is left out beside {', '.join(t.variant for t in self.taken)}: {reason}"
        self.taken.append(candidate)
        self.patch |= candidate.patch
        return None

    def _cannot_join(self, candidate: ComparisonVerdict) -> str | None:
        merged = self.patch | candidate.patch
        try:
            settings = self._settings(merged)
        except ValidationError as error:
            return str(error.errors()[0]["msg"])
        contradictions = check_settings(settings, merged)
        if contradictions:
            return contradictions[0][1]
        members = [*self.taken, candidate]
        idle = [reason for member in members if (reason := self._idle(member.patch, settings)) is not None]
        return "; ".join(idle) or cannot_run(Candidate(settings, "cpu"), _able()) or self._untried(settings, members)

    def _settings(self, patch: dict[str, Any]) -> Settings:
        return settings_of(patched(self._sections, patch))

    def _idle(self, patch: dict[str, Any], together: Settings) -> str | None:
        """An option that had an effect in its own cell and has none in the joined one."""
        alone = self._settings(patch)
        found = (without_effect(path, together) for path in patch if without_effect(path, alone) is None)
        return next((reason for reason in found if reason is not None), None)

    def _untried(self, together: Settings, members: Sequence[ComparisonVerdict]) -> str | None:
        """A kernel that none of the variants alone has run: half-precision aggregation other than scatter."""
        precision, aggregation = together.options.precision, together.options.aggregation
        if precision not in ("fp16", "bf16") or aggregation == "scatter":
            return None
        ran = [self._settings(member.patch).options for member in members]
        if any((o.precision, o.aggregation) == (precision, aggregation) for o in ran):
            return None
        return f"precision {precision} with aggregation {aggregation} was not run; a variant that sets both would tell"


def _able() -> Machine:
    """A machine that can do what each accepted variant did alone, so that only the combination can be at fault."""
    precisions = get_args(Options.model_fields["precision"].annotation)
    aggregations = get_args(Options.model_fields["aggregation"].annotation)
    kernels = {*precisions, *(f"{p}+{a}" for p in precisions for a in aggregations)}
    works = dict.fromkeys(kernels)
    return Machine(torch="", pyg="", cuda=True, kernels={"cpu": works}, libraries={"pymetis": "", "ogb": ""})


def _gain(comparison: ComparisonVerdict) -> float:
    ratio = comparison.memory.ratio if comparison.goal == "memory" else comparison.speed.ratio
    return math.log(ratio) if ratio else 0.0


def _conflicts(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two patches set one option to different values."""
    return any(
        (a == b and one[a] != other[b]) or a.startswith(f"{b}.") or b.startswith(f"{a}.") for a in one for b in other
    )
