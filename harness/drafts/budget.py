"""How much: variants, seeds, epochs that are timed and the limit of a run, from the plan's estimate of an epoch."""

from __future__ import annotations

import math
from collections.abc import Callable

from harness.drafts.parts import Draft, Entry
from harness.plan.cost import cost
from harness.plan.model import Plan
from harness.reports.digits import bytes_text, seconds_text

LOOKS = ((5, 10, 20), (5, 10), (5,))
LAST = "aggregate"  # of the families, to be left out
MANY_NODES = 1_000_000  # on a GPU, whose seconds are not estimated
TIMED_S = 1.0  # of steady epochs in a timed process, about
LIMITS_S = (300, 600, 1800, 3600, 7200, 14400, 36000, 86400)
SAFETY = 30  # times the estimate of a run, which is off by a few times, before it is stopped


def timing_entry(plan: Plan) -> Entry:
    """Epochs in a timed process: many where one takes milliseconds."""
    epoch = _reference_s(plan)
    epochs = min(30, max(3, math.ceil(TIMED_S / epoch)))
    warmup = min(10, max(1, epochs // 3))
    blocks = "two to four blocks of baseline, variant, variant, baseline"
    why = f"an epoch takes about {seconds_text(epoch)} by the plan's guess; {blocks}"
    return Entry("timing", {"looks": [4, 6, 8], "warmup_epochs": warmup, "epochs": epochs}, why)


def within(draft: Draft, hours: float, planned: Callable[[Draft], Plan]) -> Draft:
    """The draft with so many variants that the fewest seeds fit into the hours; the others are offered, as comments.

    Whose epochs are the slowest by the plan's guess goes first: it costs most and is least likely to gain. One stays,
    at best the one that costs no accuracy.
    """
    plan = planned(draft)
    kept = draft.block("variants").keys()
    while len(kept) > 1 and _most_s(plan, LOOKS[-1]) > 3600 * hours:
        slowest = max(reversed(kept), key=lambda family: (family != LAST, _epoch_s(plan, family)))
        why = f"left out to keep within {hours:g} h by the plan's guess; take the # away to have it"
        draft = draft.offering("variants", slowest, why)
        plan = planned(draft)
        kept = draft.block("variants").keys()
    return draft


def seeds_entry(plan: Plan, device: str, nodes: int, hours: float) -> Entry:
    """Pairs of runs at which a variant is judged: as many as the hours allow."""
    if device == "cuda":
        looks = LOOKS[0] if nodes < MANY_NODES else LOOKS[1]
        return _seeds(looks, "the guess of an epoch is of a CPU: on a GPU it is no guide to how many are affordable")
    fits = [looks for looks in LOOKS if _most_s(plan, looks) <= 3600 * hours]
    looks = fits[0] if fits else LOOKS[-1]
    if looks == LOOKS[0]:
        return _seeds(looks, "judged after 5 pairs of runs, and after 10 and 20 where that decides nothing yet")
    most = _rounded(_most_s(plan, LOOKS[0]))
    why = f"[5, 10, 20] decides most, and would take up to about {most} by the plan's guess"
    return _seeds(looks, why if fits else f"{why}; even these take more than the {hours:g} h that were allowed")


def limits_entry(plan: Plan) -> Entry:
    """Seconds after which a run is stopped: far beyond what it should take."""
    longest = max((cell.estimate.epoch_s or 0.0) * cell.training.epochs for cell in plan.cells.values())
    limit = next((s for s in LIMITS_S if s >= SAFETY * longest), LIMITS_S[-1])
    return Entry("limits", {"time_s": limit}, "seconds; a run that takes longer is stopped, and is a row of the report")


def costs_line(plan: Plan) -> str:
    """What the whole is expected to take, for the head of the spec."""
    found = cost(plan)
    times = (
        [] if found is None else [found.quality_min_s + found.timing_min_s, found.quality_max_s + found.timing_max_s]
    )
    span = " to ".join(dict.fromkeys(_rounded(seconds) for seconds in times))
    memory = max(cell.estimate.memory_bytes or 0 for cell in plan.cells.values())
    what = f"{span} of training, timing and starting processes on a CPU"
    more = "" if found is None else f"; at most about {_rounded(found.confirmation_max_s)} more to confirm"
    return f"Costs: about {what}{more}. {bytes_text(memory)} in the largest run. Rough guesses."


def _rounded(seconds: float) -> str:
    return seconds_text(float(f"{seconds:.1e}"))


def _seeds(looks: tuple[int, ...], why: str) -> Entry:
    return Entry("seeds", {"looks": list(looks)}, why)


def _most_s(plan: Plan, looks: tuple[int, ...]) -> float:
    """Training and timing of everything, every comparison at its last look; without the confirmation."""
    found = cost(plan.model_copy(update={"seeds": plan.seeds.model_copy(update={"looks": looks})}))
    return math.inf if found is None else found.quality_max_s + found.timing_max_s


def _epoch_s(plan: Plan, family: str) -> float:
    """The slowest epoch among a key's variants."""
    own = [cell for name, cell in plan.cells.items() if name == family or name.startswith(f"{family}-")]
    return max((cell.estimate.epoch_s or 0.0 for cell in own), default=0.0)


def _reference_s(plan: Plan) -> float:
    return next(iter(plan.cells.values())).estimate.epoch_s or 1.0
