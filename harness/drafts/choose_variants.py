"""The variants of a first spec: those that can gain something on this graph and this device."""

from __future__ import annotations

from harness.drafts.choose_training import Sight, metis_is_possible
from harness.drafts.parts import Block, Entry
from harness.plan.machine import Machine

SMALLER = {  # fan-outs to try beside the baseline's
    (10, 5): [[5, 5], [5, 2]],
    (15, 10): [[10, 5], [5, 5]],
    (15, 10, 5): [[10, 5, 5], [5, 5, 5]],
}
SLOW_HALF = "a CPU without instructions for it computes in half precision several times slower"


def variants_block(sight: Sight, machine: Machine, half: set[str], half_asked: bool, threads: int) -> Block:
    """One family of options a line.

    Args:
        sight: graph and device.
        machine: the probe's answer: libraries, and the kernels of half precision.
        half: half precisions that the processor has instructions for; only on a CPU.
        half_asked: a person wants half precision on a CPU that has none.
        threads: of a timing job.
    """
    entries = [_neighbor(sight)] if sight.full else [*_fanout(sight), _cache(sight), *_loader(sight, threads)]
    entries += _cluster(sight, machine)
    entries += _precision(sight, machine, half, half_asked)
    entries.append(
        Entry(
            "aggregate",
            {"grid": {"aggregation": ["spmm", "segment"]}, "exact": True},
            "the same sums by a sparse product or over sorted segments; exact: equality is checked",
        )
    )
    why = "activations are computed again in the backward pass: time for memory"
    entries.append(Entry("checkpoint", {"set": {"checkpointing": True}, "exact": True, "goal": "memory"}, why))
    why = "each changes one family of options; a grid makes one variant a value"
    return Block("variants", tuple(entries), why)


def _neighbor(sight: Sight) -> Entry:
    if sight.steps == 1:
        why = f"all {sight.batch_size} training nodes with their sampled neighbours, and not the whole graph, in a step"
    else:
        why = f"mini-batches of {sight.batch_size} nodes and their sampled neighbours: less memory, more steps"
    return Entry("neighbor", {"set": {"batching": "neighbor"}}, why)


def _fanout(sight: Sight) -> list[Entry]:
    seen = [fanout for fanout in SMALLER[tuple(sight.fanout)] if min(fanout) < sight.meta.max_in_degree]
    if not seen:
        return []
    return [Entry("fanout", {"grid": {"sampling.fanout": seen}}, "fewer neighbours a hop: less of everything")]


def _cache(sight: Sight) -> Entry:
    ratios = [0.1, 0.3] if sight.device == "cuda" else [0.3]
    if sight.device == "cuda":
        why = "features of the nodes with most edges kept on the GPU: less to move"
    else:
        why = "a cache of features; on a CPU both homes are memory, so expect little"
    return Entry("cache", {"grid": {"features.cache_ratio": ratios}, "exact": True}, why)


def _loader(sight: Sight, threads: int) -> list[Entry]:
    """Where a background thread takes no core from the model."""
    if sight.device == "cpu" and threads < 4:
        return []
    return [Entry("loader", {"set": {"loader.threads": 1}, "exact": True}, "batches prepared while the model computes")]


def _cluster(sight: Sight, machine: Machine) -> list[Entry]:
    if not metis_is_possible(sight):
        return []
    methods = ["metis", "random"] if machine.libraries.get("pymetis") is not None else ["fennel", "random"]
    parts, joined = sight.partition["parts"], sight.partition["per_batch"]
    why = f"{parts} parts cut once, {joined} of them a batch; random parts are the yardstick"
    return [Entry("cluster", {"set": {"batching": "cluster"}, "grid": {"partition.method": methods}}, why)]


def _precision(sight: Sight, machine: Machine, half: set[str], half_asked: bool) -> list[Entry]:
    works = [p for p in ("bf16", "fp16-linear") if machine.kernels.get(sight.device, {}).get(p, "not tried") is None]
    if not works:
        return []
    if sight.device == "cuda" or half_asked:
        why = "half precision; fp16-linear sums in fp32, since a sum over many neighbours overflows in fp16"
        return [Entry("precision", {"grid": {"precision": works}}, why)]
    fit = ["bf16"] if "bf16" in half and "bf16" in works else []
    if fit:
        return [Entry("precision", {"grid": {"precision": fit}}, "this processor has instructions for bf16")]
    return [
        Entry(
            "precision", {"grid": {"precision": works}}, f"left out: {SLOW_HALF}; take the # away to see", offered=True
        )
    ]
