"""What is said of networks whose layers have drawn the embeddings of all nodes together."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from harness.records.results import SeedRun, VariantResult
from harness.verdicts.arms import mostly, note_of_arms, seeds_that
from harness.verdicts.wording import plural

_SHOWN = 8  # layers; of more, the first and the last ones


def spread_note(result: VariantResult | None) -> str | None:
    """One line with the spread of each layer's embeddings, of the variant and its reference; None where not known."""
    return note_of_arms("spread of embeddings by layer, from the features to the logits", result, _by_layer)


def _by_layer(name: str, runs: Sequence[SeedRun]) -> str:
    """Medians over the seeds that were looked at, and on how many of these a layer has collapsed."""
    layers = list(zip_longest(*(run.spread_by_layer for run in runs if run.spread_by_layer)))
    if not layers:
        return ""
    spreads = [_median(layer) for layer in layers]
    if len(spreads) > _SHOWN:
        spreads = [*spreads[: _SHOWN // 2], "…", *spreads[-_SHOWN // 2 :]]
    collapsed, seen = seeds_that(_is, runs)
    smoothed = f" (over-smoothed on {collapsed} of {plural(seen, 'seed')})" if collapsed else ""
    return f"{name} {', '.join(spreads)}{smoothed}"


def _median(spreads: Sequence[float | None]) -> str:
    known = [spread for spread in spreads if spread is not None]
    return f"{statistics.median(known):.3f}" if known else "all zero"


def _is(run: SeedRun) -> bool | None:
    return run.over_smoothed


def over_smoothing_warning(results: Mapping[str, VariantResult]) -> str | None:
    """One line that names the cells which are over-smoothed on most seeds; None where none is.

    Args:
        results: of the references and the variants, by name, in the order to name them.
    """
    named = [f"{name} ({_seeds(result.runs)})" for name, result in results.items() if mostly(_is, result.runs)]
    if not named:
        return None
    return (
        f"the layers have drawn all nodes together (over-smoothing) in {', '.join(named)}: fewer layers, "
        "`model.norm: pair`, `model.residual` or `model.jumping` may keep them apart"
    )


def _seeds(runs: Sequence[SeedRun]) -> str:
    """On how many seeds, and the median of how far apart the embeddings are."""
    collapsed, seen = seeds_that(_is, runs)
    spreads = [run.embedding_spread or 0.0 for run in runs if run.over_smoothed is not None]
    return f"{collapsed} of {plural(seen, 'seed')}, spread {statistics.median(spreads):.3f}"
