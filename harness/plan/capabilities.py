"""What cannot run where, and which option has no effect: one table, each row answering with a reason people read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from harness.plan.machine import Machine, probe
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options

__all__ = [
    "NO_EFFECT",
    "RULES",
    "Candidate",
    "Machine",
    "NoEffect",
    "Rule",
    "cannot_run",
    "lacks_edge_attributes",
    "model_cannot",
    "probe",
    "without_effect",
]


@dataclass(frozen=True)
class Candidate:
    """A cell before it is one.

    Attributes:
        settings: its full set of options.
        device: cpu or cuda.
        changed: dotted paths whose change it is meant to measure; empty for a reference.
        edge_features: attributes of an edge of the data set; None where only preparation can tell.
    """

    settings: Settings
    device: str
    changed: tuple[str, ...] = ()
    edge_features: int | None = None


@dataclass(frozen=True)
class Rule:
    """One row: what cannot run."""

    name: str
    applies: Callable[[Candidate, Machine], str | None]


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


def _custom(s: Settings) -> str | None:
    return f"class: {s.model.class_path}, which is built from `args` alone" if s.model.class_path else None


def _no_hidden_layer(s: Settings) -> str | None:
    hidden = s.model.layers > 1 or s.model.jumping != "none"
    return None if hidden or s.model.conv is None else "model.layers: 1, which has no hidden layer"


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
    NoEffect(("model.residual",), _no_hidden_layer),
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


@cache
def _rows_about(path: str) -> tuple[NoEffect, ...]:
    return tuple(row for row in NO_EFFECT if any(_is_in(path, start) for start in row.paths))


def _is_in(path: str, start: str) -> bool:
    return path == start or (start.endswith(".") and path.startswith(start))


def _changes_nothing(c: Candidate, machine: Machine) -> str | None:
    reasons = [reason for path in c.changed if (reason := without_effect(path, c.settings)) is not None]
    return "; ".join(reasons) or None


def _no_cuda(c: Candidate, machine: Machine) -> str | None:
    return "no CUDA device can be used here; write `device: auto`" if c.device == "cuda" and not machine.cuda else None


def _sampling_backend(c: Candidate, machine: Machine) -> str | None:
    options = c.settings.options
    if options.batching == "neighbor" and options.sampling.backend == "torch" and c.device != "cuda":
        return "sampling.backend: torch samples on a GPU; on the CPU numba draws the same"
    return None


def _device_is_host(c: Candidate, machine: Machine) -> str | None:
    if c.device == "cpu" and "features.home" in c.changed and c.settings.options.features.home == "device":
        return "features.home: device is the host's memory on the CPU, as home: host is"
    return None


def _partition_method(c: Candidate, machine: Machine) -> str | None:
    method, batching = c.settings.options.partition.method, c.settings.options.batching
    if batching != "cluster":
        return None
    if method == "metis" and machine.libraries.get("pymetis") is None:
        return "partition.method: metis needs pymetis, which cannot be imported; install it: pip install pymetis"
    return None


def model_cannot(model: Model, options: Options) -> str | None:
    """Why a model cannot have the options, whatever the library and the hardware; None where it can."""
    reasons = (_sparse_products(model, options), _weights_of_messages(model, options), _own_module(model, options))
    return "; ".join(reason for reason in reasons if reason is not None) or None


def _sparse_products(model: Model, options: Options) -> str | None:
    if model.conv == "gat" and options.aggregation == "spmm":
        return "gat has attention weights per edge: spmm gains nothing and needs add_self_loops=False"
    if model.conv == "mpnn" and options.aggregation == "spmm":
        return "mpnn makes a message of each edge's attributes: a product with a sparse matrix makes no messages"
    return None


def _weights_of_messages(model: Model, options: Options) -> str | None:
    sampling = options.sampling
    if options.batching != "neighbor" or sampling.method != "importance" or not sampling.reweight:
        return None
    if model.conv == "gat":
        return "sampling.reweight: gat's attention is normalised over the sample, and has no place for other weights"
    if model.class_path is not None:
        return f"sampling.reweight cannot reach inside a model given by class ({model.class_path})"
    return None


def _own_module(model: Model, options: Options) -> str | None:
    if model.class_path is None:
        return None
    out_of_reach = []
    if options.aggregation != "scatter":
        out_of_reach.append(f"aggregation: {options.aggregation}")
    if options.checkpointing:
        out_of_reach.append("checkpointing: true")
    if options.retain != "none":
        out_of_reach.append(f"retain: {options.retain}")
    if not out_of_reach:
        return None
    return f"{', '.join(out_of_reach)} cannot reach inside a model given by class ({model.class_path})"


def lacks_edge_attributes(model: Model, edge_features: int | None) -> str | None:
    """Why a model cannot read this data set; None where it can, or where it is not known yet."""
    if model.reads_edges and edge_features == 0:
        return (
            "mpnn reads attributes of edges, and this data set has none; docs/adding-a-dataset.md says how to give them"
        )
    return None


def _edge_attributes(c: Candidate, machine: Machine) -> str | None:
    return lacks_edge_attributes(c.settings.model, c.edge_features)


def _model(c: Candidate, machine: Machine) -> str | None:
    return model_cannot(c.settings.model, c.settings.options)


def _full_from_disk(c: Candidate, machine: Machine) -> str | None:
    if c.settings.options.batching == "full" and c.settings.options.features.home == "disk":
        return "batching: full keeps all features in memory, so that features.home: disk has no effect"
    return None


def _half_precision(c: Candidate, machine: Machine) -> str | None:
    precision, aggregation = c.settings.options.precision, c.settings.options.aggregation
    if precision in ("fp32", "fp16-features"):
        return None
    kernels = machine.kernels.get(c.device, {})
    needed: list[str] = [precision]
    if not precision.endswith("-linear") and aggregation != "scatter":
        needed.append(f"{precision}+{aggregation}")
    for kernel in needed:
        said = kernels.get(kernel, "not tried")
        if said is not None:
            words = kernel.replace("+", " with aggregation ")
            return f"precision {words} does not work on {c.device} with torch {machine.torch} ({said})"
    return None


RULES: tuple[Rule, ...] = (
    Rule("cuda wished, none there", _no_cuda),
    Rule("sampling on a GPU that is not there", _sampling_backend),
    Rule("the device as a home of its own on the CPU", _device_is_host),
    Rule("partitioners without their library", _partition_method),
    Rule("spmm or weights of messages for gat; inside a model given by class", _model),
    Rule("attributes of edges where there are none", _edge_attributes),
    Rule("features on disk for the full graph", _full_from_disk),
    Rule("half precision that torch cannot do", _half_precision),
    Rule("a toggle that does nothing", _changes_nothing),
)


def cannot_run(candidate: Candidate, machine: Machine) -> str | None:
    """All reasons of the table's rows that apply, joined; None where the cell can run."""
    reasons = [reason for rule in RULES if (reason := rule.applies(candidate, machine)) is not None]
    return "; ".join(dict.fromkeys(reasons)) or None
