"""What a training's loss and gradients say of it, whatever accuracy it reached."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.arms import mostly, note_of_arms, seeds_that
from harness.verdicts.wording import plural

ORDERS = 1000.0  # largest over smallest norm of an epoch: as gradients fade, a factor of 100 is common


def curve_warnings(results: Mapping[str, VariantResult]) -> list[str]:
    """A line for the cells whose loss did not fall on most seeds, and one for those whose gradients span orders of
    magnitude.

    Args:
        results: of the references and the variants, by name, in the order to name them.
    """
    risen = _named(results, rose)
    wide = _named(results, lambda run: (spread := norm_range(run)) is not None and spread >= ORDERS)
    found = []
    if risen:
        found.append(
            f"the training loss ended above where it began in {risen}: nothing was learned; lower training.lr, or "
            "train longer"
        )
    if wide:
        found.append(
            f"gradient norms span three orders of magnitude or more from epoch to epoch in {wide}: look at the loss; "
            "training.clip bounds them"
        )
    return found


def rose(run: SeedRun) -> bool | None:
    """Whether the last epoch's training loss is above the first one's; None with fewer than two epochs."""
    if len(run.train_loss) < 2:
        return None
    return run.train_loss[-1] > run.train_loss[0]


def norm_range(run: SeedRun) -> float | None:
    """Largest over smallest gradient norm of the epochs that have one above zero; None with fewer than two."""
    norms = [norm for norm in run.gradient_norm if norm is not None and norm > 0]
    return max(norms) / min(norms) if len(norms) > 1 else None


def curves_note(result: VariantResult | None) -> str | None:
    """Loss from the first to the last epoch, and the range of gradient norms: medians over seeds; None if unknown."""
    return note_of_arms("training loss in the first and the last epoch", result, _of_arm)


def _of_arm(name: str, runs: Sequence[SeedRun]) -> str:
    curves = [run.train_loss for run in runs if run.train_loss]
    if not curves:
        return ""
    first, last = (statistics.median(curve[at] for curve in curves) for at in (0, -1))
    ranges = [spread for run in runs if (spread := norm_range(run)) is not None]
    wide = f", gradient norms within a factor of {statistics.median(ranges):.3g}" if ranges else ""
    return f"{name} {first:.3f} to {last:.3f}{wide}"


def by_epoch(curves: Sequence[Sequence[float | None]]) -> list[float | None]:
    """Median over seeds of each epoch, of the seeds that have a finite value there; None where none has."""
    length = max((len(curve) for curve in curves), default=0)
    found: list[float | None] = []
    for epoch in range(length):
        values = [curve[epoch] for curve in curves if epoch < len(curve)]
        known = [value for value in values if value is not None and math.isfinite(value)]
        found.append(statistics.median(known) if known else None)
    return found


def _named(results: Mapping[str, VariantResult], holds: Callable[[SeedRun], bool | None]) -> str:
    """Cells in which it holds on most of the seeds that tell, with how many."""
    named = []
    for name, result in results.items():
        if mostly(holds, result.runs):
            on, seen = seeds_that(holds, result.runs)
            named.append(f"{name} ({on} of {plural(seen, 'seed')})")
    return ", ".join(named[:4]) + (f" and {plural(len(named) - 4, 'other')}" if len(named) > 4 else "")
