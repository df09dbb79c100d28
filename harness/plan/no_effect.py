"""Which option does nothing beside which others: one table, each row answering with the cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from pydantic import ValidationError

from harness.spec.option_paths import Settings, flat, patched, settings_of, tree_of

__all__ = ["NO_EFFECT", "NoEffect", "change_without_effect", "without_effect"]


@dataclass(frozen=True)
class NoEffect:
    """One row: options that nothing reads under these settings, by the start of their path."""

    paths: tuple[str, ...]
    when: Callable[[Settings], str | None]  # what makes it so, e.g. "batching: cluster"


def _batching_is_not(*kinds: str) -> Callable[[Settings], str | None]:
    return lambda s: None if s.options.batching in kinds else f"batching: {s.options.batching}"


def _one_part_a_batch_of_all(s: Settings) -> str | None:
    whole = s.options.batching == "cluster" and s.options.partition.per_batch == s.options.partition.parts
    return "as many parts a batch as there are parts: each batch is the whole graph" if whole else None


def _method_is_not(method: str) -> Callable[[Settings], str | None]:
    return lambda s: None if s.options.sampling.method == method else f"sampling.method: {s.options.sampling.method}"


def _all_neighbours(s: Settings) -> str | None:
    drawn = any(k > 0 for k in s.options.sampling.fanout) or s.options.sampling.method == "importance"
    return None if drawn else f"sampling.fanout: {list(s.options.sampling.fanout)}, which takes all neighbours"


def _budget(s: Settings) -> str | None:
    return "a node_edge_budget, which closes the batches" if s.options.sampling.node_edge_budget is not None else None


def _each_batch_has_as_many(s: Settings) -> str | None:
    """Only the last batch of an epoch may hold fewer than `batch_size` targets, and it is a step either way."""
    asked, options = s.training.accumulate_targets, s.options
    sized = options.batching == "neighbor" and options.sampling.node_edge_budget is None
    if not sized or asked is None or asked > s.training.batch_size:
        return None
    return f"training.batch_size: {s.training.batch_size}, which holds as many"


def _all_on_device(s: Settings) -> str | None:
    return "features.home: device, which holds all rows" if s.options.features.home == "device" else None


def _no_cache(s: Settings) -> str | None:
    features = s.options.features
    return None if features.cached else f"no cache (cache_ratio {features.cache_ratio:g} and no cache_bytes)"


def _all_cached(s: Settings) -> str | None:
    return "cache_ratio: 1, which caches all rows" if s.options.features.cache_ratio == 1.0 else None


def _not_presampled(s: Settings) -> str | None:
    policy = s.options.features.policy
    return None if policy == "presample" else f"features.policy: {policy}"


def _not_streamed(s: Settings) -> str | None:
    method = s.options.partition.method
    return None if method == "fennel" else f"partition.method: {method}"


def _foreground(s: Settings) -> str | None:
    return "loader.threads: 0" if s.options.loader.threads == 0 else None


def _a_batch_a_thread(s: Settings) -> str | None:
    loader = s.options.loader
    return None if loader.depth > loader.threads else f"loader.threads: {loader.threads}, each with a batch of its own"


def _custom(s: Settings) -> str | None:
    return f"class: {s.model.class_path}, which is built from `args` alone" if s.model.class_path else None


def _no_hidden_layer(s: Settings) -> str | None:
    hidden = s.model.layers > 1 or s.model.jumping != "none"
    return None if hidden or s.model.conv is None else "model.layers: 1, which has no hidden layer"


def _nothing_to_drop(s: Settings) -> str | None:
    return None if s.model.conv == "gat" else _no_hidden_layer(s)  # gat drops attention in the last layer too


def _nothing_to_normalise(s: Settings) -> str | None:
    """gin's own network is normalised in the last layer too, but not by PairNorm."""
    return None if s.model.conv == "gin" and s.model.norm != "pair" else _no_hidden_layer(s)


def _one_epoch(s: Settings) -> str | None:
    return "training.epochs: 1, which is evaluated and tested" if s.training.epochs == 1 else None


def _ends_before(s: Settings) -> str | None:
    asked, epochs = s.training.patience, s.training.epochs
    return None if asked is None or asked < epochs else f"training.epochs: {epochs}, which are over before"


def _custom_on_whole_graphs(s: Settings) -> str | None:
    return _custom(s) if s.options.batching != "neighbor" else None


NO_EFFECT: tuple[NoEffect, ...] = (
    NoEffect(("sampling.",), _batching_is_not("neighbor")),
    NoEffect(("sampling.weights", "sampling.reweight"), _method_is_not("importance")),
    NoEffect(("sampling.method",), _all_neighbours),
    NoEffect(("training.batch_size",), _batching_is_not("neighbor")),
    NoEffect(("training.batch_size",), _budget),
    NoEffect(("partition.",), _batching_is_not("cluster")),
    NoEffect(("partition.method",), _one_part_a_batch_of_all),
    NoEffect(("partition.passes",), _not_streamed),
    NoEffect(("features.", "loader."), _batching_is_not("neighbor", "cluster")),
    NoEffect(("features.cache_ratio", "features.cache_bytes"), _all_on_device),
    NoEffect(("features.policy", "features.presample_epochs"), _all_on_device),
    NoEffect(("features.policy", "features.presample_epochs"), _no_cache),
    NoEffect(("features.policy", "features.presample_epochs"), _all_cached),
    NoEffect(("features.presample_epochs",), _not_presampled),
    NoEffect(("loader.depth",), _foreground),
    NoEffect(("loader.depth",), _a_batch_a_thread),
    NoEffect(("training.patience", "training.selection", "training.eval_every"), _one_epoch),
    NoEffect(("training.patience",), _ends_before),
    NoEffect(("training.accumulate", "training.accumulate_targets"), _batching_is_not("neighbor", "cluster")),
    NoEffect(("training.accumulate_targets",), _each_batch_has_as_many),
    NoEffect(
        (
            "model.hidden",
            "model.heads",
            "model.dropout",
            "model.input_dropout",
            "model.norm",
            "model.residual",
            "model.jumping",
        ),
        _custom,
    ),
    NoEffect(("model.residual", "model.hidden"), _no_hidden_layer),
    NoEffect(("model.dropout",), _nothing_to_drop),
    NoEffect(("model.norm",), _nothing_to_normalise),
    NoEffect(("model.layers",), _custom_on_whole_graphs),
    NoEffect(("model.heads",), lambda s: None if s.model.conv in ("gat", None) else f"conv: {s.model.conv}"),
)


def without_effect(path: str, settings: Settings) -> str | None:
    """Why an option does nothing under these settings; None where it has an effect."""
    for row in _rows_about(path):
        cause = row.when(settings)
        if cause is not None:
            return f"{path} has no effect with {cause}"
    return None


def change_without_effect(path: str, settings: Settings, base: Settings) -> str | None:
    """Why a change of an option from its value in `base` does nothing; None where it has an effect.

    Some rows are about the option's own value: a patience longer than the training stops nothing, but a change to it
    from a short one does something.
    """
    reason, before = without_effect(path, settings), flat(tree_of(base)).get(path)
    if reason is None or before is None:  # options that are off by default are off by null
        return reason
    try:
        unchanged = settings_of(patched(tree_of(settings), {path: before}))
    except ValidationError:  # the old value does not fit the other changes
        return reason
    return reason if without_effect(path, unchanged) is not None else None


@cache
def _rows_about(path: str) -> tuple[NoEffect, ...]:
    return tuple(row for row in NO_EFFECT if any(_is_in(path, start) for start in row.paths))


def _is_in(path: str, start: str) -> bool:
    return path == start or (start.endswith(".") and path.startswith(start))
