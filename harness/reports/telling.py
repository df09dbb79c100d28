"""Which of a run's counters tell that an option was on: the few that are shown; the record has all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# By the start of an option's path; docs/counters.md says what each counter is and what it proves.
_OF_OPTION: dict[str, tuple[str, ...]] = {
    "batching": ("batching", "batches_per_epoch", "nodes", "edges", "kept_edge_share"),
    "sampling": ("sampling_method", "fanout", "fanout_mean", "nodes", "edges", "node_edge_budget", "reweighted"),
    "features": ("feature_home", "cache_policy", "cache_ratio", "cache_hits", "cache_requests", "fetched_bytes"),
    "partition": ("parts_found", "part_sizes", "parts_joined", "kept_edge_share"),
    "loader": ("loader",),
    "precision": (
        *("feature_dtype", "aggregation_dtype", "linear_dtype", "skipped_steps", "loss_scale"),
        *("nonfinite_aggregations", "aggregation_overflow_share", "aggregation_underflow_share", "linear_overflows"),
    ),
    "aggregation": ("aggregation", "aggregation_calls", "padding_share"),
    "checkpointing": ("checkpoint_recomputations",),
    "retain": ("retained_bytes", "retained_outputs"),
    "deterministic": ("deterministic_algorithms",),
    "model.norm": ("norm",),
    "model.residual": ("residual",),
    "model.jumping": ("jumping",),
    "model.input_dropout": ("input_dropout",),
    "model.conv": ("edge_features_read",),
    "training.accumulate": ("batches_per_step", "targets_per_step", "steps"),
    "training.accumulate_targets": ("batches_per_step", "targets_per_step", "steps"),
    "training.clip": ("clipped_steps", "gradient_norm"),
    "training.batch_size": ("seeds_per_batch", "batches_per_epoch"),
    "training.lr": ("optimiser",),
    "training.weight_decay": ("optimiser",),
}


def telling_counters(counters: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """The counters that are about the options changed, in the order of `paths`, of those that the run has.

    Options that no counter is about, as `model.hidden`, add none: epochs and steps are then what there is to say.

    Args:
        counters: of a run, by name.
        paths: dotted paths of the options that a variant changes.
    """
    wanted = [name for path in paths for start in (path, path.split(".")[0]) for name in _OF_OPTION.get(start, ())]
    return {name: counters[name] for name in dict.fromkeys([*wanted, "epochs", "steps"]) if name in counters}
