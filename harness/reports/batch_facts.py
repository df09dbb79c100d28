"""What a variant's batches held: training nodes, reach, degrees and labels, from one run's counters. Plain text."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from harness.verdicts.wording import plural

_MOST_BINS = 12


def batch_facts(counters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value, only what the run counted; a run of an earlier version counted none of it."""
    return [*_nodes(counters), *_degrees(counters.get("sampled_degrees")), *_labels(counters.get("label_balance"))]


def _nodes(counters: Mapping[str, Any]) -> list[tuple[str, str]]:
    seen, reached = counters.get("train_nodes_seen"), counters.get("nodes_reached")
    if not seen or not reached:
        return []
    text = f"{min(seen):,} of {counters['train_nodes']:,} training nodes a target in each epoch"
    if "num_nodes" in counters:
        text += f"; {statistics.median(reached):,.0f} of {counters['num_nodes']:,} nodes in an epoch's batches"
    return [("coverage", f"{text} ({plural(len(seen), 'epoch')})")]


def _degrees(found: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if not found:
        return []
    mean, top, distance = found["mean"], found["top_share"], found["distance"]["graph"]
    bins = [("0", 0), *((_bin(power), power) for power in range(1, len(found["histogram"]["graph"])))]
    shown = [
        f"{name}: {_percent(found, 'batches', at)} ({_percent(found, 'graph', at)})" for name, at in bins[:_MOST_BINS]
    ]
    return [
        (
            "degrees in batches",
            f"mean {mean['batches']:.3g}, in the graph {mean['graph']:.3g}; {100 * top['batches']:.1f} % of the nodes "
            f"are of the graph's top {100 * top['graph']:.2g} %; total variation of the two histograms {distance:.2f}",
        ),
        ("by degree, % (graph)", ", ".join(shown) + (", …" if len(bins) > _MOST_BINS else "")),
    ]


def _bin(power: int) -> str:
    low, high = 2 ** (power - 1), 2**power - 1
    return str(low) if low == high else f"{low} to {high}"


def _percent(found: Mapping[str, Any], whose: str, at: int) -> str:
    shares = found["histogram"][whose]
    return f"{100 * shares[at]:.0f}" if at < len(shares) else "0"


def _labels(found: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if not found:
        return []
    distance, worst, entropy = found["distance"], found["worst"], found["entropy_bits"]
    return [
        (
            "labels in batches",
            f"class shares {distance['mean']:.3f} from the training split's (total variation; chance gives "
            f"{distance['by_chance']:.3f}), at worst {worst['distance']:.3f} where chance gives "
            f"{worst['by_chance']:.3f}; entropy {entropy['batches']:.2f} of {entropy['train']:.2f} bits",
        )
    ]
