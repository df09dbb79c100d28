"""Model, training and baseline of a first spec, from the prepared graph and the device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from harness.drafts.look import Looked
from harness.drafts.parts import Block, Entry
from harness.graphs.graph import GraphMeta

FULL_NODES = {"cpu": 20_000, "cuda": 200_000}  # up to which a step on the whole graph is the plain way
FULL_EDGES = {"cpu": 1_000_000, "cuda": 10_000_000}
DEEP_NODES = 1_000_000  # from which on a GPU gets three layers
SLOW_TO_EVALUATE = 50_000  # nodes; evaluation is exact, over the whole graph
STEPS = 600  # of the optimiser in a training, about
HOMOPHILOUS = 0.5
PART_NODES = 2_000  # in a part of the graph, about
BATCH_OF_PARTS = 8_192  # nodes in a batch of parts, about


@dataclass(frozen=True)
class Sight:
    """What the choices go by.

    Attributes:
        meta: the prepared graph.
        seen: the data set before it was prepared.
        device: `cpu` or `cuda`.
        memory: bytes that this machine has.
        untested: names of the classes that no test node is of.
    """

    meta: GraphMeta
    seen: Looked
    device: str
    memory: int
    untested: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Small enough for a step on the whole graph."""
        edges = self.meta.num_edges
        return self.meta.num_nodes <= FULL_NODES[self.device] and edges <= FULL_EDGES[self.device]

    @property
    def layers(self) -> int:
        """Of the model, and hops of a fan-out."""
        return 3 if self.device == "cuda" and self.meta.num_nodes >= DEEP_NODES else 2

    @property
    def fanout(self) -> list[int]:
        """Of the baseline."""
        return [15, 10, 5] if self.layers == 3 else [15, 10] if self.device == "cuda" else [10, 5]

    @property
    def batch_size(self) -> int:
        """Seeds of a mini-batch: at most 1,024; fewer where an epoch would not have eight steps.

        Beside a baseline on the whole graph there is no need of steps.
        """
        if self.full:
            return min(1024, self.meta.train_nodes)
        eighth = max(1, self.meta.train_nodes // 8)
        return min(1024, max(32, 2 ** int(math.log2(eighth))), self.meta.train_nodes)

    @property
    def steps(self) -> int:
        """Steps of an epoch of mini-batches."""
        return math.ceil(self.meta.train_nodes / self.batch_size)

    @property
    def partition(self) -> dict[str, Any]:
        """Parts of some 2,000 nodes, as many a batch as make some 8,000; at least eight parts."""
        parts = max(8, 2 ** round(math.log2(max(1, self.meta.num_nodes / PART_NODES))))
        joined = 2 ** round(math.log2(max(1.0, BATCH_OF_PARTS * parts / self.meta.num_nodes)))
        return {"method": "metis", "parts": parts, "per_batch": max(2, min(joined, parts // 4))}


def model_entry(sight: Sight) -> Entry:
    """The network."""
    gcn = sight.full and (sight.seen.homophily is None or sight.seen.homophily >= HOMOPHILOUS)
    width = 256 if sight.device == "cuda" else 64
    hidden = max(width, 2 ** math.ceil(math.log2(sight.meta.num_classes)))
    why = "a GCN is the plain choice on a whole graph" if gcn else "GraphSAGE keeps a node's own features apart"
    if sight.seen.homophily is not None:
        why += f"; {100 * sight.seen.homophily:.0f} % of the edges join nodes of one class"
    if sight.seen.edge_features:
        why += f". The edges' {sight.seen.edge_features} attributes are read by conv: mpnn alone"
    value = {"conv": "gcn" if gcn else "sage", "layers": sight.layers, "hidden": hidden, "dropout": 0.5}
    return Entry("model", value if gcn else {**value, "norm": "batch"}, why)


def training_entry(sight: Sight) -> Entry:
    """The optimiser's side."""
    batch: dict[str, Any] = {"batch_size": sight.batch_size}
    if sight.full:
        value = {"epochs": 200, **batch, "lr": 0.01, "weight_decay": 0.0005, "patience": 30}
        why = "an epoch is one step on the whole graph; `batch_size` is of the variant `neighbor`"
    else:
        epochs = min(60, max(8, math.ceil(STEPS / sight.steps)))
        value = {"epochs": epochs, **batch, "lr": 0.01}
        value |= {"patience": epochs // 3} if epochs >= 15 else {}
        value |= {"eval_every": 2} if sight.meta.num_nodes >= SLOW_TO_EVALUATE else {}
        steps = f"{sight.steps} steps an epoch, {epochs * sight.steps:,} in all"
        why = f"{sight.meta.train_nodes:,} training nodes make {steps}"
        why += "; evaluation is exact, over the whole graph, so every second epoch" if "eval_every" in value else ""
    why += "; which epoch is tested is chosen on validation"
    return Entry("training", {**value, "selection": "best_val_loss"}, why)


def baseline_block(sight: Sight) -> Block:
    """What every variant departs from."""
    meta, small = sight.meta, f"{sight.meta.num_nodes:,} nodes and {sight.meta.num_edges:,} edges"
    if sight.full:
        batching = Entry("batching", "full", f"{small}: a step on the whole graph is cheap enough")
    else:
        batching = Entry("batching", "neighbor", f"{small}: too many for a step on the whole graph")
    mean = meta.num_edges / max(meta.num_nodes, 1)
    drawn = f"a node has {mean:.1f} neighbours on average, {meta.max_in_degree:,} at most"
    entries = [batching, Entry("sampling", {"method": "uniform", "fanout": sight.fanout}, drawn)]
    if not sight.full:
        entries.append(_features(sight))
    if metis_is_possible(sight):
        entries.append(Entry("partition", sight.partition, "of the variant `cluster`"))
    entries += [Entry("precision", "fp32"), Entry("aggregation", "scatter"), Entry("checkpointing", False)]
    return Block("baseline", tuple(entries), "what every variant departs from, in the options it names and no other")


def _features(sight: Sight) -> Entry:
    size = 4 * sight.meta.num_nodes * sight.meta.num_features
    home = "disk" if size > sight.memory / 2 else "host"
    why = f"{size / 1e9:.1f} GB of features" if size >= 1e8 else f"{size / 1e6:.0f} MB of features"
    why += ": more than half of this machine's memory, so a memory map" if home == "disk" else ""
    return Entry("features", {"home": home, "cache_ratio": 0.0}, why)


def metis_is_possible(sight: Sight) -> bool:
    """Nodes enough that a batch of parts is a graph."""
    return sight.meta.num_nodes >= 1_000
