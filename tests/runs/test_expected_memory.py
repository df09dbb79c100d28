"""A run's memory beside its estimate; a leak planted in a model is flagged, a plain run is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.records.record import Memory
from harness.runs.execute import execute
from harness.runs.expected_memory import beside_estimate
from harness.runs.request import RunRequest
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training

LEAKY = """
import torch
from torch_geometric.nn import GCNConv

KEPT = []

class Leaky(torch.nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = GCNConv(in_channels, out_channels)

    def forward(self, x, edge_index):
        if self.training:
            KEPT.append(torch.ones(2**20))  # 4 MiB a step
        return self.conv(x, edge_index)
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    split = Split(kind="random", train=0.5, val=0.25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("OMP_NUM_THREADS", "1")
        dataset = Synthetic(source="synthetic", nodes=300, mean_degree=6.0, classes=4, features=12, split=split)
        yield prepare(dataset, "g", ".")


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def request_of(graph: Path, spec_dir: Path, model: Model, epochs: int) -> RunRequest:
    return RunRequest(
        run_id="r",
        cell_id="c",
        purpose="quality",
        seed=0,
        model=model,
        training=Training(epochs=epochs, batch_size=64, eval_every=epochs),
        options=Options.model_validate({"sampling": {"fanout": [4, 3]}}),
        graph_path=str(graph),
        spec_dir=str(spec_dir),
        device="cpu",
        threads=1,
    )


def memory_of(request: RunRequest) -> Memory:
    memory = execute(request, lambda phase: None).memory
    assert memory is not None
    return memory


def test_a_tensor_kept_at_each_step_is_flagged(graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaky_of_the_test.py").write_text(LEAKY)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = memory_of(request_of(graph, tmp_path, Model(class_path="leaky_of_the_test:Leaky"), epochs=14))
    a_step = 4 * 2**20
    assert found.growth_bytes_per_epoch == pytest.approx(3 * a_step, rel=0.1)  # 150 seeds in batches of 64
    assert [w for w in found.warnings if "memory grows by" in w]


def test_a_plain_run_is_not_flagged_and_says_what_was_expected(graph: Path, tmp_path: Path) -> None:
    found = memory_of(request_of(graph, tmp_path, Model(conv="sage", hidden=8), epochs=30))
    assert found.growth_bytes_per_epoch is not None
    assert found.growth_bytes_per_epoch < 2**20
    assert not [w for w in found.warnings if "grows" in w]
    assert found.estimated_bytes == pytest.approx(sum(found.estimated_parts.values()), abs=20)
    assert found.estimated_parts["features"] == 300 * 12 * 4


def test_a_peak_far_over_its_estimate_is_a_warning_with_the_parts(graph: Path, tmp_path: Path) -> None:
    quality = request_of(graph, tmp_path, Model(conv="sage", hidden=8), epochs=2)
    request = quality.model_copy(update={"purpose": "timing"})
    meta = open_graph(graph).meta
    expected = beside_estimate(Memory(peak_bytes=1, kind="rss"), request, meta).estimated_bytes
    assert expected is not None
    under = beside_estimate(Memory(peak_bytes=int(1.4 * expected), kind="rss"), request, meta)
    assert under.warnings == []
    over = beside_estimate(Memory(peak_bytes=2 * expected, kind="rss", warnings=["before"]), request, meta)
    assert over.warnings[0] == "before"
    assert "2.0 times the estimate" in over.warnings[1]
    for name, size in over.estimated_parts.items():
        assert (name in over.warnings[1]) == (size >= max(expected / 100, 50_000))
    assert " 0.0 MB" not in over.warnings[1]
    with_what_evaluation_left = beside_estimate(Memory(peak_bytes=2 * expected, kind="rss"), quality, meta)
    assert with_what_evaluation_left.warnings == []
    on_a_card = Memory(peak_bytes=10 * expected, kind="cuda_allocated")  # an allocator counts what is held
    assert beside_estimate(on_a_card, quality, meta).warnings
