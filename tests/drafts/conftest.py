"""Sights of graphs of any size, and a machine that can do everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.drafts.choose_training import Sight
from harness.drafts.look import Looked
from harness.graphs.graph import GraphMeta
from harness.plan.machine import Machine


@pytest.fixture
def sight_of() -> Callable[..., Sight]:
    """A graph of so many nodes and edges, homophilous, of ten classes, whose nodes train to 60 %."""

    def made(nodes: int, edges: int, device: str = "cpu", features: int = 100, **seen: Any) -> Sight:
        looked: dict[str, Any] = {
            "nodes": nodes,
            "labelled": nodes,
            "features": features,
            "classes": 10,
            "stratifies": True,
            "smallest_class": 100,
            "rarest_share": 0.05,
            "homophily": 0.8,
            "both_ways": 1.0,
            "one_way": False,
            "own_splits": 0,
            "edge_features": 0,
            "missing": False,
            "sparse": False,
            "uneven": False,
        }
        looked |= seen
        train, test = int(0.6 * nodes), int(0.2 * nodes)
        meta = GraphMeta(
            name="g",
            dataset={},
            fingerprint="f",
            num_nodes=nodes,
            num_edges=edges,
            num_features=features,
            num_classes=looked["classes"],
            class_names=[str(c) for c in range(looked["classes"])],
            train_nodes=train,
            val_nodes=test,
            test_nodes=test,
            directed=False,
            isolated_nodes=0,
            self_loops=0,
            duplicate_edges=0,
            max_in_degree=100,
            split="random",
        )
        return Sight(meta, Looked(**looked), device, memory=16 * 10**9)

    return made


@pytest.fixture
def machine() -> Callable[[str], Machine]:
    """One with a GPU or without, on which every kernel works."""

    def made(device: str = "cpu") -> Machine:
        kernels: dict[str, str | None] = dict.fromkeys(["bf16", "fp16", "bf16-linear", "fp16-linear"])
        libraries: dict[str, str | None] = {"pymetis": "2025.2"}
        cuda = device == "cuda"
        return Machine(torch="2.13.0", pyg="2.8.1", cuda=cuda, kernels={device: kernels}, libraries=libraries)

    return made
