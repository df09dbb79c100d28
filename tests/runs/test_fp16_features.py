"""Runs whose features are stored in float16: nothing else about them is half, and evaluation reads the graph's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.graphs.prepare import prepare
from harness.runs.execute import execute
from harness.runs.request import Outcome, RunRequest, Unsupported
from harness.spec.dataset import Files, Split
from harness.spec.options import Model, Options, Training

NODES, FEATURES = 200, 6
ROW_BYTES = 4 * FEATURES


def _prepared(folder: Path, name: str, x: np.ndarray) -> Path:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, NODES)
    np.savez(folder / f"{name}.npz", edge_index=rng.integers(0, NODES, (2, 1200)), x=x, y=y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        split = Split(kind="random", train=0.5, val=0.25)
        return prepare(Files(source="files", path=f"{name}.npz", undirected=True, split=split), name, folder)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Features that float16 holds exactly, that it does not, and that are too large for it."""
    folder = tmp_path_factory.mktemp("half")
    x = np.random.default_rng(1).standard_normal((NODES, FEATURES)).astype(np.float32)
    large = x.copy()
    large[17, 3] = 123456.0
    exact = x.astype(np.float16).astype(np.float32)
    return {name: _prepared(folder, name, of) for name, of in (("exact", exact), ("rounded", x), ("large", large))}


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _run(path: Path, precision: str = "fp16-features", conv: str = "sage", **options) -> Outcome:
    request = RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=0, graph_path=str(path), spec_dir=str(path), device="cpu",
        threads=1, training=Training(epochs=2, batch_size=32, lr=0.01), model=Model(conv=conv, hidden=8, layers=2),
        options=Options.model_validate({"sampling": {"fanout": [4, 3]}, "precision": precision, **options}),
    )  # fmt: skip
    return execute(request, lambda phase: None)


CLUSTER = {"batching": "cluster", "partition": {"method": "random", "parts": 6, "per_batch": 2}}


@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        CLUSTER,
        {"batching": "full"},
        {"features": {"home": "disk"}},
        {"features": {"home": "device"}},
        {"features": {"cache_ratio": 0.3}, "loader": {"threads": 2}},
        {"features": {"home": "disk", "cache_bytes": 20 * ROW_BYTES}, "checkpointing": True},
    ],
)
def test_features_that_float16_holds_give_the_run_of_float32_in_half_the_bytes(graphs, options, conv):
    half, whole = (_run(graphs["exact"], precision, conv, **options) for precision in ("fp16-features", "fp32"))
    assert half.metrics == whole.metrics
    assert (half.counters["feature_dtype"], whole.counters["feature_dtype"]) == ("float16", "float32")
    assert 2 * half.counters["feature_row_bytes"] == whole.counters["feature_row_bytes"] == ROW_BYTES
    if "cache_bytes" in options.get("features", {}):
        assert half.counters["cache_nodes"] == 2 * whole.counters["cache_nodes"] == 40
    else:
        assert 2 * half.counters["fetched_bytes"] == whole.counters["fetched_bytes"] > 0
    assert half.counters["features_underflowed"] == 0
    assert half.counters["loss_scale"] is None
    assert half.counters["aggregation_dtype"] == ["float32", "float32"]
    assert half.counters["linear_dtype"] == ["float32"]


def test_rounded_features_train_another_model(graphs):
    half, whole = (_run(graphs["rounded"], precision).metrics for precision in ("fp16-features", "fp32"))
    assert half.train_loss != whole.train_loss
    assert half.train_loss == pytest.approx(whole.train_loss, rel=1e-2)


def test_evaluation_reads_the_features_of_the_graph(graphs, monkeypatch):
    """The first epoch's training sees rounded rows, its evaluation none."""
    from harness.models import inference

    read = []
    to_tensor = inference.to_tensor
    monkeypatch.setattr(inference, "to_tensor", lambda array, device: read.append(array) or to_tensor(array, device))
    _run(graphs["rounded"])
    features = [array for array in read if array.shape == (NODES, FEATURES)]
    assert features
    assert all(array.dtype == np.float32 and (array != array.astype(np.float16)).any() for array in features)


@pytest.mark.parametrize("options", [{}, {"features": {"home": "disk"}}, {"batching": "full"}])
def test_a_feature_too_large_for_float16_ends_the_run_with_a_remedy(graphs, options):
    with pytest.raises(Unsupported, match="the largest feature is 123456 and float16 holds at most 65504; scale the"):
        _run(graphs["large"], **options)


def test_the_copy_on_disk_is_made_by_the_first_run(graphs):
    first, second = (_run(graphs["rounded"], features={"home": "disk"}).counters for _ in range(2))
    assert first["feature_home"] == "disk"
    assert first["half_copy_s"] == second["half_copy_s"] > 0
    assert (graphs["rounded"] / "x.float16.npy").stat().st_size < (graphs["rounded"] / "x.npy").stat().st_size
