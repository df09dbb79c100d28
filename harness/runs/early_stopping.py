"""Which epoch counts, and when to stop: decided on the validation split alone."""

from __future__ import annotations

from typing import Literal

Rule = Literal["best_val_loss", "best_val_accuracy", "last"]


class Selection:
    """Follows the evaluations of one training.

    Of equal epochs the first counts. With ``last`` every evaluation counts more than those before it, so the last one
    is chosen and patience never runs out.

    Attributes:
        best_epoch: epoch chosen so far, from 1; 0 before the first evaluation.
    """

    def __init__(self, rule: Rule, patience: int | None) -> None:
        self._rule = rule
        self._patience = patience
        self._best: float | None = None
        self.best_epoch = 0

    def update(self, epoch: int, val_loss: float, val_accuracy: float) -> bool:
        """Take the evaluation after this epoch; True where it is the best so far (then keep the weights)."""
        value = {"best_val_loss": -val_loss, "best_val_accuracy": val_accuracy, "last": float(epoch)}[self._rule]
        if self._best is not None and value <= self._best:
            return False
        self._best, self.best_epoch = value, epoch
        return True

    def exhausted(self, epoch: int) -> bool:
        """True where `patience` epochs have passed since the best one."""
        return self._patience is not None and epoch - self.best_epoch >= self._patience
