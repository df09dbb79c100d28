"""Why a training in float16 is not finite, as far as the counters tell, and what helps."""

from __future__ import annotations

from typing import Any


def explained(message: str, precision: str, conv: str | None, counters: dict[str, Any]) -> str:
    """The message, and where float16 was left first, with the remedy.

    Args:
        message: what is not finite, and when.
        precision: as in the options; the others have float32's range, and their message stays as it is.
        conv: the model's convolution, None for a person's own.
        counters: of the run so far.
    """
    if precision not in ("fp16", "fp16-linear"):
        return message
    where, remedy = _where(counters), _remedy(conv, counters)
    return f"{message}: {where} (loss scale {counters['loss_scale']:g}); {remedy}"


def _where(counters: dict[str, Any]) -> str:
    """Each place counted had finite values to read: so each is a beginning, and none a consequence of another."""
    places = [
        f"{100 * share:.2g} % of the sums of layer {layer} overflowed"
        for layer, share in enumerate(counters.get("aggregation_overflow_by_layer") or [], start=1)
        if share
    ]
    if not places and counters.get("nonfinite_aggregations"):
        looked = f"{counters['nonfinite_aggregations']} of {counters['nonfinite_checked']}"
        places.append(f"{looked} aggregations looked at were not finite")
    if counters["linear_overflows"]:
        places.append(f"linear layer {next(iter(counters['linear_overflows']))} overflowed")
    if not places:
        return "no overflow of float16 was seen in the layers' outputs looked at"
    return f"in float16 {' and '.join(places[:2])}{', and more' if len(places) > 2 else ''}"


def _remedy(conv: str | None, counters: dict[str, Any]) -> str:
    """Sums in float32 help only where it is the sums that overflow, and no linear layer reads them as gin's does."""
    if counters["linear_overflows"] or (counters.get("nonfinite_aggregations") and conv == "gin"):
        return "use bf16 or bf16-linear, or scale the features (dataset.transform.scale)"
    if counters.get("nonfinite_aggregations"):
        return "use fp16-linear or bf16, or scale the features (dataset.transform.scale)"
    return "use bf16, scale the features (dataset.transform.scale), or lower training.lr"
