"""How the classes of a batch's targets lie against those of the training split."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.batches.batch import Batch
from harness.graphs.graph import Graph

_DEALS = 1000  # random batches that the most skewed one is compared with
_SEED = 20_210_907  # any: they are a yardstick, and the same each time


class LabelBalance:
    """Class shares of the targets of the batches that it is shown, those of one epoch."""

    def __init__(self, graph: Graph) -> None:
        self._y, self._names = graph.y, graph.meta.class_names
        self._due = np.bincount(np.asarray(graph.y[graph.train]), minlength=graph.num_classes)
        self._found = np.zeros_like(self._due)
        self._batches = 0
        self._distance = self._by_chance = self._entropy = 0.0
        self._worst = (-1.0, 0.0, 0)  # distance over that of a random batch, distance, targets

    def count(self, batch: Batch) -> None:
        """Add a batch; one without a target says nothing."""
        labels = np.asarray(self._y[batch.nodes[batch.targets]])
        classes = np.bincount(labels[labels >= 0], minlength=len(self._due))
        if not classes.sum():
            return
        self._found += classes
        share, size = self._due / self._due.sum(), int(classes.sum())
        distance = 0.5 * float(np.abs(classes / size - share).sum())
        chance = random_distance(share, size, int(self._due.sum()))
        self._batches += 1
        self._distance += distance
        self._by_chance += chance
        self._entropy += entropy_bits(classes)
        ratio = distance / chance if chance > 0 else 0.0
        self._worst = max(self._worst, (ratio, distance, size))

    def counters(self) -> dict[str, Any]:
        """``classes_without_target``: names of those that training nodes are of, and no target was. ``distance`` is the
        total variation distance between the class shares of a batch and of the training split, half the sum of the
        absolute differences: its ``mean`` over the batches, and that of random batches of their sizes (``by_chance``).
        ``worst``: of the batch that is furthest above chance, its ``distance`` and ``targets``, and ``by_chance`` and
        ``by_chance_q99``, mean and 99 % quantile of simulated random batches of as many. ``entropy_bits``: of the
        classes, the mean over the batches, and of the training split. None before the first batch with a target."""
        if not self._batches:
            return {"label_balance": None}
        missed = np.flatnonzero((self._due > 0) & (self._found == 0))
        _, distance, size = self._worst
        simulated = self._simulated(size)
        return {
            "label_balance": {
                "classes_without_target": [self._names[c] if c < len(self._names) else str(c) for c in missed],
                "distance": {"mean": self._distance / self._batches, "by_chance": self._by_chance / self._batches},
                "worst": {
                    "distance": distance,
                    "targets": size,
                    "by_chance": float(simulated.mean()),
                    "by_chance_q99": float(np.quantile(simulated, 0.99)),
                },
                "entropy_bits": {"batches": self._entropy / self._batches, "train": entropy_bits(self._due)},
            }
        }

    def _simulated(self, size: int) -> np.ndarray:
        """Distances of batches dealt without replacement from the training nodes."""
        of, random = int(self._due.sum()), np.random.default_rng(_SEED)
        dealt = random.multivariate_hypergeometric(self._due, min(size, of), size=_DEALS, method="marginals")
        return np.asarray(0.5 * np.abs(dealt / max(1, min(size, of)) - self._due / of).sum(axis=1))


def random_distance(share: np.ndarray, size: int, of: int) -> float:
    """Expected total variation distance of a random batch, dealt without replacement, by the normal approximation.

    A class's share has the variance ``p (1-p) / size * (of - size) / (of - 1)``, and the mean absolute deviation of
    a normal variable is ``sqrt(2/pi)`` times its standard deviation.

    Args:
        share: of the classes, float64, ``[classes]``.
        size, of: nodes of the batch, and nodes that it is dealt from.
    """
    if size >= of:
        return 0.0
    left = (of - size) / (of - 1) / size
    return 0.5 * math.sqrt(2.0 / math.pi) * float(np.sqrt(share * (1 - share) * left).sum())


def entropy_bits(counts: np.ndarray) -> float:
    """Shannon's entropy of the shares, in bits; 0 where all are of one class."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0
