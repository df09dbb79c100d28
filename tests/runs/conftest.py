"""Requests, plans and a prepared graph's `graph.json` for tests that need no training."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from harness.graphs.graph import GraphMeta
from harness.plan.model import Cell, VariantPlan
from harness.runs.request import RunRequest
from harness.runs.supervisor import Engine
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Gate, Limits, Seeds, Timing


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's locks in a folder of this test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    """An engine whose runs are a function of `children.py`; its server starts in a moment, without torch."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))

    def engine(execute: str = "outcome", parity: str = "parity", drawing: str = "drawing") -> Engine:
        return Engine(f"children:{execute}", f"children:{parity}", f"children:{drawing}", preload=(), warm_up=None)

    return engine


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., RunRequest]:
    def make(run_id: str = "r0", seed: int = 0, hidden: int = 8, **changes: object) -> RunRequest:
        return RunRequest(
            **{
                "run_id": run_id,
                "cell_id": "c0",
                "purpose": "quality",
                "seed": seed,
                "model": Model(conv="sage", hidden=hidden),
                "training": Training(),
                "options": Options(),
                "graph_path": str(tmp_path),
                "spec_dir": str(tmp_path),
                "device": "cpu",
                "threads": 1,
                **changes,
            }
        )

    return make


@pytest.fixture
def graph_path(tmp_path: Path) -> Path:
    """A small prepared graph: two edges a node, all features zero."""
    folder = tmp_path / "graph"
    folder.mkdir()
    counts = dict.fromkeys(("isolated_nodes", "self_loops", "duplicate_edges", "max_in_degree"), 0)
    meta = GraphMeta(
        name="none",
        dataset={},
        fingerprint="f" * 64,
        num_nodes=10,
        num_edges=20,
        num_features=4,
        num_classes=2,
        class_names=["a", "b"],
        train_nodes=4,
        val_nodes=3,
        test_nodes=3,
        directed=False,
        split="random",
        **counts,
    )
    arrays = {
        "indptr": np.arange(0, 21, 2, dtype=np.int64),
        "indices": np.zeros(20, np.int32),
        "x": np.zeros((10, 4), np.float32),
        "y": np.zeros(10, np.int64),
        "train": np.arange(4, dtype=np.int64),
        "val": np.arange(4, 7, dtype=np.int64),
        "test": np.arange(7, 10, dtype=np.int64),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "graph.json").write_text(meta.model_dump_json())
    return folder


@pytest.fixture
def plan_of() -> Callable[..., VariantPlan]:
    """A plan whose cells differ in the hidden size."""

    def cell(name: str, hidden: int) -> Cell:
        return Cell(
            name=name,
            cell_id=f"cell-{hidden}",
            model=Model(conv="sage", hidden=hidden),
            training=Training(),
            options=Options(),
            patch={},
        )

    def make(hidden: int = 16, reference: int | None = 32, **changes: object) -> VariantPlan:
        return VariantPlan(
            **{
                "spec": "test",
                "dataset_id": "d",
                "spec_dir": ".",
                "cell": cell("thin", hidden),
                "reference": None if reference is None else cell("baseline", reference),
                "seeds": Seeds(looks=(3, 5)),
                "gate": Gate(),
                "timing": Timing(looks=(4, 6), warmup_epochs=2, epochs=3, max_repeats=0),
                "limits": Limits(time_s=60),
                "device": "cpu",
                "quality_threads": 1,
                "timing_threads": 1,
                **changes,
            }
        )

    return make
