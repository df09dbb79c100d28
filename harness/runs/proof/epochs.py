"""What whole epochs hold: every training node a target once, edges of the graph, and no sampler stuck on few nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.batches.observed.epoch_sources import EXACT


def epoch_faults(counters: dict[str, Any]) -> Iterator[str]:
    """Whatever makes the batches: of the epochs that were watched, which are all, or those before a clock started."""
    yield from _coverage(counters)
    yield from _targets(counters)
    sources = counters["epoch_sources"]
    if sources["not_in_graph"]:
        yield (
            f"batches of epoch 1: {sources['not_in_graph']:,} of {sources['edges']:,} edges looked at are none of the "
            "graph's"
        )
    yield from _stuck(counters.get("sampling_method"), sources)


def _coverage(counters: dict[str, Any]) -> Iterator[str]:
    due = counters["train_nodes"]
    short = [(epoch, seen) for epoch, seen in enumerate(counters["train_nodes_seen"], 1) if seen < due]
    if not short:
        return
    epoch, seen = short[0]
    balance = counters["label_balance"]
    missed = balance["classes_without_target"] if balance else []
    none_of = f"; none was of class {_some(missed)}" if missed else ""
    yield f"batches of epoch {epoch}: only {seen:,} of {due:,} training nodes were a target{none_of}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _targets(counters: dict[str, Any]) -> Iterator[str]:
    if counters["targets_not_train"]:
        yield (
            f"batches: {counters['targets_not_train']:,} targets of an epoch are no training nodes: labels that are "
            "kept for validation or the test would be learned"
        )
    if counters["targets_repeated"]:
        yield f"batches: {counters['targets_repeated']:,} targets of an epoch had been targets before in it"


def _stuck(method: str | None, sources: dict[str, Any]) -> Iterator[str]:
    """By the chance of 1e-9 where the method's draws are known exactly; else under half of what they should find."""
    least = 1.0 if method in EXACT else 0.5
    hops = zip(sources["found"], sources["expected"], sources["margin"], strict=True)
    for hop, (found, expected, margin) in enumerate(hops, 1):
        if found < least * expected - margin:
            yield (
                f"batches of epoch 1 hold {found:,} different neighbours in hop {hop}, where {method} draws for the "
                f"same nodes find {expected:,.0f}: the sampler is stuck on a small set of nodes"
            )
