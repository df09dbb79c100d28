"""What a whole training costs: what is paid once and all epochs that the spec asks for, reference beside variant."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from harness.spec.options import Frozen

PaysOff = Literal["free", "within", "after", "never"]


class TotalCost(Frozen):
    """One training of each arm, evaluation left out. What is paid once is paid for every seed: no two seeds share a
    partition or a cache."""

    epochs: int = Field(description="That the variant is asked to train; patience may end it before.")
    reference_epochs: int
    once_s: float = Field(description="Preparation of the variant: partition, cache, weights; seconds, not an epoch's.")
    reference_once_s: float
    seconds: float = Field(description="once_s + epochs x median timed epoch.")
    reference_seconds: float
    pays_off: PaysOff = Field(
        description="free: nothing is paid beyond the reference's; within: in the epochs asked for; after: in more of "
        "them; never: no speed-up is shown."
    )


def total_cost(
    once_s: float,
    reference_once_s: float,
    epoch_s: float,
    reference_epoch_s: float,
    epochs: int,
    reference_epochs: int,
    payoff_epochs: float | None,
) -> TotalCost:
    """Add up a training of each arm.

    Args:
        once_s, reference_once_s: seconds before the first epoch.
        epoch_s, reference_epoch_s: median seconds of a timed epoch.
        epochs, reference_epochs: as the spec asks.
        payoff_epochs: epochs after which the extra preparation is earned back; None where it is not, or there is none.
    """
    pays_off: PaysOff
    if once_s <= reference_once_s:
        pays_off = "free"
    elif payoff_epochs is None:
        pays_off = "never"
    else:
        pays_off = "within" if whole_epochs(payoff_epochs) <= epochs else "after"
    return TotalCost(
        epochs=epochs,
        reference_epochs=reference_epochs,
        once_s=once_s,
        reference_once_s=reference_once_s,
        seconds=once_s + epochs * epoch_s,
        reference_seconds=reference_once_s + reference_epochs * reference_epoch_s,
        pays_off=pays_off,
    )


def whole_epochs(payoff_epochs: float) -> int:
    """The epoch at whose end a cost is earned back."""
    return max(1, math.ceil(payoff_epochs))


def payoff_text(total: TotalCost, payoff_epochs: float | None) -> str:
    """`pays off after 3 of 15 epochs`, or why it does not; empty where nothing is paid beyond the reference's."""
    if total.pays_off == "free":
        return ""
    if payoff_epochs is None:
        return "never pays off: no speed-up is shown"
    after = whole_epochs(payoff_epochs)
    if total.pays_off == "after":
        return f"never within this training: pays off after {after:,} epochs, and it has {total.epochs:,}"
    return f"pays off after {after:,} of {total.epochs:,} epochs"
