"""Which of the layers' spreads of embeddings tells whether a network's classifier can tell nodes apart."""

from __future__ import annotations

from collections.abc import Sequence


def spread_read(by_layer: Sequence[float | None], jumping: str) -> float | None:
    """The spread of what the classifier reads: the last hidden layer's, or with jumping knowledge the widest of all.

    With `cat` and with `max` the classifier reads every layer's output, so that nodes which one of them keeps apart
    can be told apart.

    Args:
        by_layer: of the features, of each hidden layer's output, and of the logits; None where all rows are zero.
        jumping: as in `model.jumping`.

    Returns:
        None without a hidden layer, or where all rows of all that is read are zero.
    """
    hidden = by_layer[1:-1]
    read = hidden[-1:] if jumping == "none" else hidden
    return max((spread for spread in read if spread is not None), default=None)
