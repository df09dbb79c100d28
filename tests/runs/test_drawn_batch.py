"""The batch that is kept to be looked at is what the run's sampler draws, small, and cut in the open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches import NeighborSampler
from harness.batches.plans import batches_of
from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.records.drawn_batch import DrawnBatch
from harness.runs.drawn_batch import MOST_NODES, MOST_TARGETS, draw_batch
from harness.runs.request import RunRequest, Unsupported
from harness.spec.dataset import Split, Synthetic
from harness.spec.options import Model, Options, Training

SEED = 3


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        split = Split(kind="random", train=0.5, val=0.25)
        yield prepare(Synthetic(source="synthetic", nodes=400, classes=3, features=8, split=split), "g", ".")


def drawn(graph: Path, **options: object) -> DrawnBatch:
    threads = torch.get_num_threads()
    request = RunRequest(
        run_id="r", cell_id="c", purpose="quality", seed=SEED, graph_path=str(graph), spec_dir=str(graph),
        model=Model(conv="sage", hidden=8), training=Training(batch_size=32), device="cpu", threads=1,
        options=Options.model_validate({"sampling": {"fanout": [4, 3]}, **options}),
    )  # fmt: skip
    try:
        return draw_batch(request, lambda _: None)
    finally:
        torch.set_num_threads(threads)


def test_its_edges_are_the_graphs_and_what_the_runs_sampler_draws_for_the_first_targets_of_its_first_batch(graph):
    found, whole = drawn(graph), open_graph(graph)
    plan = batches_of(whole, Options.model_validate({"sampling": {"fanout": [4, 3]}}), Training(batch_size=32), 2, SEED)
    first = next(plan.epoch(1))
    assert found.targets == MOST_TARGETS
    assert found.nodes[: found.targets] == first.nodes[: found.targets].tolist()
    sampler = NeighborSampler(whole.indptr, whole.indices, fanout=[4, 3], method="uniform", seed=SEED)
    batch = sampler.sample(first.nodes[: found.targets], epoch=1, batch=0)
    nodes = np.array(found.nodes)
    edges = np.array(found.edges).T
    assert np.array_equal(nodes, batch.nodes)
    assert np.array_equal(nodes[edges], batch.edges())
    assert found.degrees == np.diff(whole.indptr)[nodes].tolist()
    for source, destination in nodes[edges].T:
        assert source in whole.indices[whole.indptr[destination] : whole.indptr[destination + 1]]


def test_a_hop_draws_no_more_than_its_fanout_and_reaches_the_next_hop_or_what_is_known(graph):
    found = drawn(graph)
    assert found.hops[: found.targets] == [0] * found.targets
    assert found.hops == sorted(found.hops)
    assert max(found.hops) == 2
    for place in range(len(found.nodes)):
        sources = [s for s, d in found.edges if d == place]
        most = 0 if found.hops[place] == 2 else found.fanout[found.hops[place]]
        assert len(sources) == min(most, found.degrees[place])
        assert all(found.hops[s] <= found.hops[place] + 1 for s in sources)


def test_fewer_targets_where_more_would_not_fit_and_a_cut_where_one_does_not(graph):
    wide = drawn(graph, sampling={"fanout": [8, 8]})
    assert 1 <= wide.targets < MOST_TARGETS
    assert len(wide.nodes) == wide.num_nodes <= MOST_NODES
    all_of_it = drawn(graph, sampling={"fanout": [-1, -1]})
    assert all_of_it.targets == 1
    assert len(all_of_it.nodes) == min(all_of_it.num_nodes, MOST_NODES)
    assert max(max(ends) for ends in all_of_it.edges) < MOST_NODES


def test_batches_that_are_no_neighbourhoods_are_not_drawn(graph):
    with pytest.raises(Unsupported, match="batches of kind full are no sampled neighbourhoods"):
        drawn(graph, batching="full")
