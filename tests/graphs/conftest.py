"""A small graph as plain arrays, and how to prepare what a test wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.spec.dataset import Dataset

Arrays = dict[str, np.ndarray]
Open = Callable[..., Graph]


@pytest.fixture
def arrays() -> Arrays:
    """20 nodes, 40 directed edges, 5 features, 3 classes."""
    rng = np.random.default_rng(7)
    return {
        "edge_index": rng.integers(0, 20, (2, 40)),
        "x": rng.standard_normal((20, 5)).astype(np.float32),
        "y": np.arange(20) % 3,
    }


@pytest.fixture
def opened(cache: Path, tmp_path: Path) -> Open:
    """Prepares a dataset section, given as keyword arguments, in a cache of its own; opens the graph."""
    count = iter(range(1000))

    def make(**section: Any) -> Graph:
        dataset: Dataset = TypeAdapter(Dataset).validate_python(section)
        return open_graph(prepare(dataset, f"graph-{next(count)}", tmp_path))

    return make


@pytest.fixture
def from_arrays(opened: Open, tmp_path: Path) -> Open:
    """Writes arrays to graph.npz and opens the graph that is prepared from it."""

    def make(arrays: Arrays, **section: Any) -> Graph:
        np.savez(tmp_path / "graph.npz", **arrays)
        return opened(source="files", path="graph.npz", **section)

    return make
