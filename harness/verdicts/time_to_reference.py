"""How long until the baseline's accuracy? Epochs on the validation curve, and seconds where epochs were timed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.records.results import SeedRun
from harness.spec.options import Training
from harness.verdicts.means import exp_interval, mean_of
from harness.verdicts.model import TimeToReference


@dataclass(frozen=True)
class Curve:
    """One run's validation accuracies, a fraction at each evaluation, and the training that made them."""

    accuracy: Sequence[float]
    training: Training

    def epoch(self, index: int) -> int:
        """Epoch of an evaluation: every `eval_every`-th, and the last one allowed."""
        return min((index + 1) * self.training.eval_every, self.training.epochs)

    def first(self, target: float) -> int | None:
        """The first evaluated epoch that reaches ``target``; None where none does."""
        return next((self.epoch(i) for i, reached in enumerate(self.accuracy) if reached >= target), None)

    def at(self, epoch: int) -> float | None:
        """Accuracy after an epoch; None where it was not evaluated."""
        return next((a for i, a in enumerate(self.accuracy) if self.epoch(i) == epoch), None)


def time_to_reference(
    pairs: Sequence[tuple[SeedRun, SeedRun]],
    reference_training: Training,
    training: Training,
    reference_epoch_s: float | None,
    variant_epoch_s: float | None,
    speed_log_ratios: Sequence[float] = (),
) -> TimeToReference | None:
    """Epochs until the variant's validation accuracy is what the reference has at the epoch it chose.

    Args:
        pairs: reference and variant of each seed.
        reference_training, training: of the two cells.
        reference_epoch_s, variant_epoch_s: median seconds of a timed epoch; None without timing.
        speed_log_ratios: log(reference / variant) of epoch seconds, those that the speed-up rests on.

    Returns:
        Medians over the pairs that reached it; seconds are epochs times the median epoch, evaluation excluded; ratios
        with `exp_interval`'s interval. None where no pair has its validation curves.
    """
    found = [_epochs(*pair, reference_training, training) for pair in pairs]
    known = [pair for pair in found if pair is not None]
    if not known:
        return None
    reached = [(ours, theirs) for ours, theirs in known if ours is not None]
    epochs = statistics.median(ours for ours, _ in reached) if reached else None
    reference_epochs = statistics.median(theirs for _, theirs in reached) if reached else None
    return TimeToReference(
        epochs=epochs,
        reference_epochs=reference_epochs,
        seconds=_seconds(epochs, variant_epoch_s),
        reference_seconds=_seconds(reference_epochs, reference_epoch_s),
        **_ratios(reached, training.eval_every, speed_log_ratios),
        reached=len(reached),
        pairs=len(known),
    )


def _ratios(reached: Sequence[tuple[int, int]], eval_every: int, speed_log_ratios: Sequence[float]) -> dict[str, Any]:
    """`epochs_ratio` and `ratio` with their intervals; only what there is.

    An epoch is known to half an evaluation's step: the spread of the pairs counts as at least that, or pairs that
    happen to agree would make an interval without width.
    """
    if not reached:
        return {}
    logs = [math.log(theirs / ours) for ours, theirs in reached]
    floor = 0.5 * eval_every / statistics.fmean(ours for ours, _ in reached)
    epochs = mean_of(logs, floor)
    found = {"epochs_ratio": math.exp(epochs.mean), "epochs_ci": exp_interval([epochs])}
    if speed_log_ratios:
        both = [epochs, mean_of(speed_log_ratios)]
        found |= {"ratio": math.exp(math.fsum(m.mean for m in both)), "ci": exp_interval(both)}
    return found


def _epochs(
    reference: SeedRun, variant: SeedRun, reference_training: Training, training: Training
) -> tuple[int | None, int] | None:
    """First epochs of variant and reference at the reference's accuracy; None where a curve is missing."""
    theirs, ours = Curve(reference.val_accuracy, reference_training), Curve(variant.val_accuracy, training)
    target = theirs.at(reference.best_epoch) if reference.best_epoch is not None else None
    if target is None or not ours.accuracy:
        return None
    first = theirs.first(target)
    assert first is not None  # at the latest the epoch it chose
    return ours.first(target), first


def _seconds(epochs: float | None, epoch_s: float | None) -> float | None:
    return None if epochs is None or epoch_s is None else epochs * epoch_s
