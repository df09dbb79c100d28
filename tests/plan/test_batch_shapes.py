"""Expected batches are those that the sampler draws, hubs and all."""

from __future__ import annotations

import numpy as np
import pytest

from harness.batches import NeighborSampler
from harness.graphs.csr import Csr
from harness.graphs.edge_facts import edge_facts
from harness.plan.batch_shapes import layer_shapes
from harness.plan.sizes import sizes_of
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options, Sampling, Training


def hubby(nodes: int, edges: int) -> Csr:
    """Heavy-tailed in- and out-degrees, independent of each other."""
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.pareto(1.2, nodes) + 1.0)
    source = np.searchsorted(ends, rng.random(edges) * ends[-1])
    target = rng.permutation(nodes)[np.searchsorted(ends, rng.random(edges) * ends[-1])]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=nodes))])
    return Csr(indptr, source[np.argsort(target, kind="stable")].astype(np.int32))


@pytest.mark.parametrize("fanout", [(25, 10), (5, 5), (-1, 3), (4, 4, 4)])
def test_expected_nodes_and_edges_of_each_block(fanout: tuple[int, ...]) -> None:
    csr = hubby(20_000, 120_000)
    meta = {"num_nodes": 20_000, "num_edges": 120_000, "num_features": 8, "num_classes": 3, "train_nodes": 12_000}
    sizes = sizes_of(meta | {"degrees": edge_facts(csr).degrees})
    model = Model(conv="sage", layers=len(fanout), hidden=8)
    settings = Settings(model, Training(batch_size=512), Options(sampling=Sampling(fanout=fanout)))
    sampler = NeighborSampler(csr.indptr, csr.indices, fanout=list(fanout), seed=0)
    rng = np.random.default_rng(1)
    drawn = [sampler.sample(rng.choice(20_000, 512, replace=False), batch=i).blocks for i in range(8)]
    for layer, expected in enumerate(layer_shapes(settings, sizes)):
        blocks = [blocks[layer] for blocks in drawn]
        assert expected.sources == pytest.approx(np.mean([b.num_src for b in blocks]), rel=0.1)
        assert expected.targets == pytest.approx(np.mean([b.num_dst for b in blocks]), rel=0.1)
        assert expected.edges == pytest.approx(np.mean([b.num_edges for b in blocks]), rel=0.1)


def test_without_degrees_a_graph_of_hubs_is_taken_for_an_even_one() -> None:
    """Why `graph.json` keeps them: every draw would reach another node."""
    meta = {"num_nodes": 20_000, "num_edges": 120_000, "num_features": 8, "num_classes": 3, "train_nodes": 12_000}
    settings = Settings(Model(conv="sage"), Training(batch_size=512), Options())
    even = layer_shapes(settings, sizes_of(meta))[0]
    real = layer_shapes(settings, sizes_of(meta | {"degrees": edge_facts(hubby(20_000, 120_000)).degrees}))[0]
    assert even.sources > 1.5 * real.sources
