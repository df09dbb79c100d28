"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from harness.graphs.graph import Graph
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.spec.dataset import Dataset, Files, Synthetic

REPOSITORY = Path(__file__).resolve().parents[1]

# The first example compiles loops, and the machine may be busy: how long one takes says nothing about what it tests.
settings.register_profile("untimed", settings(), deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real graphs: $HARNESS_DATA, else `shared/data` beside the repository; skips where there is none."""
    named = os.environ.get("HARNESS_DATA")
    candidates = [Path(named)] if named else [REPOSITORY.parent / "shared" / "data"]
    for folder in candidates:
        if (folder / "pyg").is_dir() or (folder / "files").is_dir():
            return folder.resolve()
    pytest.skip(f"no real graphs under {candidates[0]}: set HARNESS_DATA to a folder with pyg/ and files/")


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty $HARNESS_CACHE of this test's own, gone after it: some graphs take half a gigabyte."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("HARNESS_CACHE", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def tiny_graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """A synthetic graph of 300 nodes and 4 classes, undirected, easy to learn."""
    section = Synthetic(
        source="synthetic", nodes=300, mean_degree=8.0, classes=4, features=16, homophily=0.8, signal=3.0, seed=1
    )
    return _prepared(section, tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def odd_graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """A directed graph of 60 nodes with what real graphs have and tidy code forgets.

    Node 0 is a hub that receives from and sends to all of 1 .. 49, once or twice; nodes 55 .. 59 are isolated; nodes
    1 .. 5 have self-loops, node 1 two of them; edge 7 -> 8 is there three times and, like 9 -> 10, has no reverse.
    """
    rng = np.random.default_rng(0)
    ring = np.arange(1, 50)
    source = np.concatenate(
        [ring, np.zeros(49, int), ring, [1, 1, 2, 3, 4, 5], [7, 7, 7], [9], rng.integers(50, 55, 9)]
    )
    target = np.concatenate(
        [np.zeros(49, int), ring, 0 * ring, [1, 1, 2, 3, 4, 5], [8, 8, 8], [10], rng.integers(0, 50, 9)]
    )
    folder = tmp_path_factory.mktemp("odd")
    x = rng.standard_normal((60, 8)).astype(np.float32)
    np.savez(folder / "odd.npz", edge_index=np.stack([source, target]), x=x, y=np.arange(60) % 3)
    return _prepared(Files(source="files", path=str(folder / "odd.npz")), folder)


def _prepared(section: Dataset, folder: Path) -> Graph:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        return open_graph(prepare(section, "graph", folder))
