"""Whether a network's layers have drawn all nodes together: judged by the spread of each layer's embeddings."""

from __future__ import annotations

from collections.abc import Sequence

COLLAPSED = 0.03  # calibrated on Cora: docs/counters.md


def spread_judged(by_layer: Sequence[float | None], jumping: str) -> float | None:
    """The narrowest hidden layer's spread, or with jumping knowledge the widest.

    Every later layer reads what the narrowest one left: it may pull the nodes apart again, by what little differs, and
    cannot tell again which is which. With `cat` and with `max` the classifier reads every layer's output, so that nodes
    which one of them keeps apart can be told apart.

    Args:
        by_layer: of the features, of each hidden layer's output, and of the logits; None where all rows are zero.
        jumping: as in `model.jumping`.

    Returns:
        None without a hidden layer, and where all rows of the layer that is judged are zero.
    """
    hidden = by_layer[1:-1]
    known = [spread for spread in hidden if spread is not None]
    if jumping != "none":
        return max(known, default=None)
    return min(known) if known and len(known) == len(hidden) else None


def over_smoothed(by_layer: Sequence[float | None], jumping: str) -> bool | None:
    """Whether that layer is collapsed, or zero; None without a hidden layer. Arguments as in `spread_judged`.

    Never of nodes whose features are alike from the start: no layer has drawn those together.
    """
    if len(by_layer) < 3:
        return None
    if by_layer[0] is None or by_layer[0] < COLLAPSED:
        return False
    spread = spread_judged(by_layer, jumping)
    return spread is None or spread < COLLAPSED
