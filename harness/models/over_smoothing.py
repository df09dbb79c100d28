"""Over-smoothing: whether a network's layers have drawn the embeddings of all nodes together."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from harness.records.spread import over_smoothed

PIECE_BYTES = 4 * 2**20  # of the rows looked at together, in float64: a run within a memory limit may have little left


class SpreadProbe:
    """The spread of the node embeddings of each layer, from what `Inference.logits` shows of one pass.

    The spread is the mean cosine distance over all pairs of nodes, ``1 - mean_ij cos(h_i, h_j)``: MAD of Chen et al.
    (2020) over all pairs. It has a closed form, ``1 - |m|^2`` with m the mean of ``h_i / |h_i|``, so that it takes one
    pass over the rows; pairs of a node with itself, of distance 0, are among them. It is 0 where all embeddings
    have one direction, and near 1 where they have none in common. Rows of zeros have no direction and are left out.

    Args:
        jumping: the network's `model.jumping`: whether its classifier reads every layer.
    """

    def __init__(self, jumping: str = "none") -> None:
        self._jumping = jumping
        self._spread: list[float | None] = []
        self._zero_rows: list[int] = []

    def see(self, embeddings: Tensor) -> None:
        """The next layer's embeddings of all nodes, ``[num_nodes, F]``."""
        spread, zero_rows = spread_of(embeddings)
        self._spread.append(spread)
        self._zero_rows.append(zero_rows)

    def counters(self) -> dict[str, Any]:
        """The spread of each layer, rows left out, and the verdict of `harness.records.spread`."""
        return {
            "embedding_spread": list(self._spread),
            "embedding_zero_rows": list(self._zero_rows),
            "over_smoothed": over_smoothed(self._spread, self._jumping),
        }


def spread_of(embeddings: Tensor) -> tuple[float | None, int]:
    """Mean cosine distance over all pairs of rows, and how many rows are zero and left out.

    Args:
        embeddings: ``[n, F]``.

    Returns:
        The distance from 0 to 1, None where every row is zero; and the count. A row that is not finite has no
        direction either.
    """
    total, rows = 0.0, 0
    for piece in embeddings.split(max(1, PIECE_BYTES // (8 * max(1, embeddings.shape[1])))):
        norm = torch.linalg.vector_norm(piece, dim=1, keepdim=True, dtype=torch.float64)
        directed = ((norm > 0) & torch.isfinite(norm)).squeeze(1)
        total = total + (piece[directed] / norm[directed]).sum(dim=0)
        rows += int(directed.sum())
    if rows == 0:
        return None, len(embeddings)
    mean = total / rows
    return max(0.0, 1.0 - float(mean @ mean)), len(embeddings) - rows
