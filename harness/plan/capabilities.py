"""What cannot run where: one table, each row answering with a reason people read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.plan.machine import Machine
from harness.plan.no_effect import change_without_effect, without_effect
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options


@dataclass(frozen=True)
class Candidate:
    """A cell before it is one.

    Attributes:
        settings: its full set of options.
        device: cpu or cuda.
        changed: dotted paths whose change it is meant to measure; empty for a reference.
        edge_features: attributes of an edge of the data set; None where only preparation can tell.
        base: the settings that they are changed from; None for a reference.
    """

    settings: Settings
    device: str
    changed: tuple[str, ...] = ()
    edge_features: int | None = None
    base: Settings | None = None


@dataclass(frozen=True)
class Rule:
    """One row: what cannot run."""

    name: str
    applies: Callable[[Candidate, Machine], str | None]


def _changes_nothing(c: Candidate, machine: Machine) -> str | None:
    if c.base is None:
        found = (without_effect(path, c.settings) for path in c.changed)
    else:
        found = (change_without_effect(path, c.settings, c.base) for path in c.changed)
    return "; ".join(reason for reason in found if reason is not None) or None


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
        return "gat has attention weights per edge: spmm gains nothing over scatter; use segment or dense"
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


def caches_nothing(num_nodes: int, row_bytes: int, ratio: float, size: int | None) -> str | None:
    """Why a cache of a share of the nodes, or of so many bytes, holds not one row; None where it holds one."""
    if size is None:
        few = f"cache_ratio {ratio:g} of {num_nodes} nodes caches none; use at least {1 / max(num_nodes, 1):.2g}"
        return None if round(ratio * num_nodes) else few
    small = f"cache_bytes {size} holds no row of {row_bytes} bytes; use at least {row_bytes}"
    return None if size >= row_bytes else small


def lacks_a_cache(options: Options, num_nodes: int, num_features: int) -> str | None:
    """Why a run has no cache where it asks for one, as far as that depends on the data set alone."""
    features = options.features
    if not features.cached or features.cache_bytes == "auto" or features.home == "device" or options.batching == "full":
        return None
    return caches_nothing(num_nodes, num_features * options.stored_bytes, features.cache_ratio, features.cache_bytes)


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


def _unwatched_products(c: Candidate, machine: Machine) -> str | None:
    options = c.settings.options
    if c.device != "cuda" or not options.deterministic or options.aggregation not in ("spmm", "segment"):
        return None
    return (
        f"deterministic: true with aggregation: {options.aggregation} on cuda: cuSPARSE may add the terms of a product "
        "in another order each time, and torch does not refuse it; use scatter or dense"
    )


RULES: tuple[Rule, ...] = (
    Rule("cuda wished, none there", _no_cuda),
    Rule("sampling on a GPU that is not there", _sampling_backend),
    Rule("the device as a home of its own on the CPU", _device_is_host),
    Rule("partitioners without their library", _partition_method),
    Rule("spmm or weights of messages for gat; inside a model given by class", _model),
    Rule("attributes of edges where there are none", _edge_attributes),
    Rule("features on disk for the full graph", _full_from_disk),
    Rule("half precision that torch cannot do", _half_precision),
    Rule("products on a GPU that no deterministic mode watches over", _unwatched_products),
    Rule("a toggle that does nothing", _changes_nothing),
)


def cannot_run(candidate: Candidate, machine: Machine) -> str | None:
    """All reasons of the table's rows that apply, joined; None where the cell can run."""
    reasons = [reason for rule in RULES if (reason := rule.applies(candidate, machine)) is not None]
    return "; ".join(dict.fromkeys(reasons)) or None
