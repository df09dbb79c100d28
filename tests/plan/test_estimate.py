"""Memory and cost before anything runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from harness.plan.batch_shapes import batches, layer_shapes
from harness.plan.coarse_test_set import coarse
from harness.plan.cost import JOB_S, PROCESS_S, cost
from harness.plan.estimate import estimate, refined
from harness.plan.memory_parts import memory_parts
from harness.plan.model import Plan
from harness.plan.sizes import Sizes, known_sizes
from harness.spec.dataset import Builtin, Files, Ogb, Pyg, Split, Synthetic, Transform
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.spec.options import Model, Options, Training

HUGE = Sizes(nodes=10**9, edges=10**11, features=256, classes=10, train_nodes=10**8)
CORA = Sizes(nodes=2708, edges=10556, features=1433, classes=7, train_nodes=140)
BASE = Settings(Model(conv="sage", layers=2, hidden=64), Training(batch_size=1024), Options())
PlanOf = Callable[..., Plan]


def having(patch: dict[str, Any]) -> Settings:
    return settings_of(patched(tree_of(BASE), patch))


def parts(patch: dict[str, Any], sizes: Sizes = CORA, device: str = "cpu") -> dict[str, int]:
    settings = having(patch)
    return memory_parts(settings, sizes, layer_shapes(settings, sizes), device)


def test_on_a_boundless_graph_neighbours_grow_as_the_product_of_fanouts() -> None:
    first, last = layer_shapes(having({"sampling.fanout": [25, 10]}), HUGE)
    assert last.targets == 1024
    assert last.edges == 25 * 1024
    assert first.edges == pytest.approx(25 * 1024 + 250 * 1024, rel=1e-3)
    assert first.sources == pytest.approx((1 + 25 + 250) * 1024, rel=1e-3)
    assert (first.width_in, first.width_out, last.width_out) == (256, 64, 10)


def test_on_a_small_graph_a_batch_has_at_most_all_nodes() -> None:
    first, last = layer_shapes(having({"sampling.fanout": [-1, -1]}), CORA)
    assert last.targets == 140
    assert 140 < first.targets < first.sources <= 2708


PHOTO = Sizes(nodes=7650, edges=238_162, features=745, classes=8, train_nodes=4590)
COMPUTERS = Sizes(nodes=13_752, edges=491_722, features=767, classes=10, train_nodes=8251)


@pytest.mark.parametrize(
    ("conv", "aggregation", "sizes", "measured_s"),
    [
        ("gcn", "scatter", CORA, 0.017),
        ("gcn", "scatter", PHOTO, 0.145),
        ("gcn", "scatter", COMPUTERS, 0.336),
        ("gcn", "segment", PHOTO, 0.064),
        ("gcn", "segment", COMPUTERS, 0.130),
        ("gcn", "spmm", PHOTO, 0.028),
        ("gcn", "spmm", COMPUTERS, 0.051),
        ("gat", "scatter", CORA, 0.029),
        ("gat", "scatter", PHOTO, 0.414),
        ("sage", "scatter", CORA, 0.073),
        ("sage", "spmm", CORA, 0.030),
    ],
)
def test_the_guess_of_a_full_batch_epoch_is_within_a_factor_of_two(conv, aggregation, sizes, measured_s) -> None:
    """Of what one thread of a CPU at 2.1 GHz took, the machine not always to itself."""
    settings = having({"batching": "full", "aggregation": aggregation, "model.conv": conv})
    guess = estimate(settings, sizes, "cpu").epoch_s
    assert 0.5 < guess / measured_s < 2.0


def test_full_and_cluster_batches() -> None:
    (first, _) = layer_shapes(having({"batching": "full"}), CORA)
    assert (first.sources, first.edges) == (2708, 10556)
    kept = {}
    for method in ("metis", "random"):
        settings = having(
            {"batching": "cluster", "partition.method": method, "partition.parts": 64, "partition.per_batch": 8}
        )
        kept[method] = layer_shapes(settings, CORA)[0]
        assert batches(settings, CORA) == 8
    assert kept["metis"].sources == kept["random"].sources == 2708 / 8
    # between random parts an edge is kept where both ends fall into the batch
    assert kept["random"].edges == pytest.approx(10556 / 64)
    assert kept["metis"].edges > 5 * kept["random"].edges
    assert batches(BASE, HUGE) == 97_657


def test_toggles_move_the_part_that_they_are_about() -> None:
    base = parts({})
    assert parts({"features.home": "disk"})["features"] == 0 < base["features"] == 2708 * 1433 * 4
    assert parts({}, device="cuda")["features"] == 0
    assert parts({"features.cache_ratio": 0.25})["cache"] == base["features"] / 4
    assert parts({"aggregation": "spmm"})["messages"] == 0 < base["messages"]
    assert parts({"precision": "fp16"})["messages"] < base["messages"] / 2
    assert parts({"precision": "fp16-features"})["features"] == base["features"] / 2
    assert parts({}, device="cuda")["allocator"] == 0 < base["allocator"]
    assert parts({"precision": "fp16-linear"})["messages"] == base["messages"]
    wide = {"model.hidden": 4096, "aggregation": "spmm"}
    assert parts({**wide, "precision": "bf16"})["activations"] < 0.6 * parts(wide)["activations"]
    deep = {**wide, "model.layers": 6, "sampling.fanout": [5] * 6}
    assert parts({**deep, "checkpointing": True})["activations"] < parts(deep)["activations"]
    assert base["optimiser"] == 2 * base["parameters"]


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin", "mpnn"])
def test_every_network_has_an_estimate(conv: str, layers: int) -> None:
    """A single layer is the last one, and is computed twice all the same."""
    sizes = Sizes(nodes=2708, edges=10556, features=1433, classes=7, train_nodes=140, edge_features=3)
    for checkpointing, jumping, retain, residual in product(
        (False, True), ("none", "cat", "max"), ("none", "layer"), (False, True)
    ):
        patch = {"model.conv": conv, "model.layers": layers, "sampling.fanout": [5] * layers}
        patch |= {"model.jumping": jumping, "model.residual": residual, "retain": retain}
        found = parts({**patch, "checkpointing": checkpointing}, sizes)
        assert min(found.values()) >= 0
        assert found["activations"] > 0


def test_weights_are_counted() -> None:
    sage = 2 * 1433 * 64 + 64 + 2 * 64 * 7 + 7
    assert parts({})["parameters"] == sage * 4
    assert parts({"model.conv": "gcn"})["parameters"] == (1433 * 64 + 64 + 64 * 7 + 7) * 4


@pytest.mark.parametrize(
    ("dataset", "nodes", "edges", "train"),
    [
        (Builtin(source="builtin", name="wordnet", subset="verb"), 13_767, 31_306, 8_260),
        (Builtin(source="builtin", name="wordnet"), 117_659, 367_578, 70_595),
        (Pyg(source="pyg", name="Planetoid/Cora"), 2_708, 10_556, 140),
        (
            Pyg(source="pyg", name="Planetoid/Cora", split=Split(kind="random", train=0.5, val=0.2)),
            2_708,
            10_556,
            1_354,
        ),
        (Pyg(source="pyg", name="Amazon/Computers"), 13_752, 491_722, 8_251),
        (Ogb(source="ogb", name="ogbn-arxiv"), 169_343, 1_166_243, 90_941),
        (Ogb(source="ogb", name="ogbn-arxiv", undirected=True), 169_343, 2_332_486, 90_941),
        (Synthetic(source="synthetic", nodes=1000, mean_degree=14.0), 1_000, 14_000, 600),
    ],
)
def test_published_sizes(dataset: Any, nodes: int, edges: int, train: int) -> None:
    sizes = known_sizes(dataset)
    assert sizes is not None
    assert (sizes.nodes, sizes.edges, sizes.train_nodes) == (nodes, edges, train)


@pytest.mark.parametrize(
    ("transform", "features"),
    [
        ({"scale": "standard"}, 1_433),
        ({"pca": 64}, 64),
        ({"structural": ["degree", "clustering"]}, 1_435),
        ({"pca": 64, "structural": ["random-walk", "pagerank"], "walk_steps": 20}, 85),
    ],
)
def test_features_are_counted_as_the_transform_leaves_them(transform: dict[str, Any], features: int) -> None:
    sizes = known_sizes(Pyg(source="pyg", name="Planetoid/Cora", transform=Transform(**transform)))
    assert sizes is not None
    assert sizes.features == features


def test_sizes_of_the_graphs_at_hand(real_data: Path) -> None:
    import numpy as np

    with np.load(real_data / "files" / "wordnet30.npz", allow_pickle=False) as data:
        kinds = np.array([str(name).split(".")[0] for name in data["class_names"]])[data["y"]]
        source = np.repeat(np.arange(len(kinds)), np.diff(data["indptr"]))
        for subset in ("noun", "verb", "adj"):
            inside = (kinds[source] == subset) & (kinds[data["indices"]] == subset)
            sizes = known_sizes(Builtin(source="builtin", name="wordnet", subset=subset))
            assert sizes is not None
            assert (sizes.nodes, sizes.edges) == (int((kinds == subset).sum()), 2 * int(inside.sum()))


def test_sizes_of_own_files_are_unknown_until_prepared(plan_of: PlanOf, tmp_path: Path) -> None:
    (tmp_path / "g.npz").touch()
    assert known_sizes(Files(source="files", path="g.npz")) is None
    plan = plan_of(
        "version: 1\nname: s\ndataset: {source: files, path: g.npz}\nmodel: {conv: gcn}\n"
        "variants: {half: {set: {precision: fp16}}}\n"
    )
    assert plan.cells["half"].estimate.memory_bytes is None
    assert cost(plan) is None
    assert refined(plan, tmp_path, "cpu") == plan
    folder = tmp_path / "graphs" / plan.dataset.dataset_id
    folder.mkdir(parents=True)
    meta = {"num_nodes": 2708, "num_edges": 10556, "num_features": 1433, "num_classes": 7, "train_nodes": 140}
    (folder / "graph.json").write_text(json.dumps(meta | {"test_nodes": 1200, "warnings": ["copies in the test set"]}))
    shown = refined(plan, tmp_path, "cpu")
    assert shown.cells["half"].estimate.memory_bytes is not None
    assert cost(shown) is not None
    assert shown.warnings == ["copies in the test set", *coarse(plan, 1200), *plan.warnings]
    assert len(shown.warnings) == 2


def test_each_layer_of_a_deep_network_leaves_a_hole_in_the_heap() -> None:
    """gcn sends messages of the hidden width over the edges and a self-loop each, 3.4 MB here, weighted in a copy."""
    deep = {"batching": "full", "model.conv": "gcn"}
    message = (CORA.edges + CORA.nodes) * BASE.model.hidden * 4

    def allocator(layers: int, **more: Any) -> int:
        return parts({**deep, "model.layers": layers, **more})["allocator"]

    assert allocator(32) - allocator(31) == pytest.approx(message, rel=0.01)
    assert allocator(32, checkpointing=True) - allocator(31, checkpointing=True) == pytest.approx(message, rel=0.01)
    assert allocator(32, aggregation="spmm") - allocator(31, aggregation="spmm") < 0.9 * message


def test_kernels_are_kept_of_bfloat16_in_batches_of_many_sizes_on_the_cpu() -> None:
    kept = {p: parts({"precision": p})["kernels"] for p in ("fp32", "fp16", "bf16", "bf16-linear")}
    assert kept["bf16"] == kept["bf16-linear"] == 14_400_000
    assert kept["fp32"] == kept["fp16"] == 0
    assert parts({"precision": "bf16", "batching": "full"})["kernels"] == 0
    assert parts({"precision": "bf16"}, device="cuda")["kernels"] == 0


def test_a_custom_model_has_no_estimate() -> None:
    assert estimate(Settings(Model(class_path="m:N"), Training(), Options()), CORA, "cpu").memory_bytes is None


def test_cost_is_runs_times_epochs(plan_of: PlanOf) -> None:
    plan = plan_of("training: {epochs: 10}\nseeds: {looks: [5, 10]}\nvariants: {half: {set: {precision: fp16}}}\n")
    found = cost(plan)
    seconds = [cell.estimate.epoch_s for cell in plan.cells.values()]
    assert found is not None
    assert all(second is not None and second > 0 for second in seconds)
    jobs = 2 * JOB_S  # of each kind
    assert found.quality_min_s - jobs == pytest.approx(sum(PROCESS_S + 10 * s for s in seconds if s) * 5)
    assert found.quality_max_s - jobs == pytest.approx(2 * (found.quality_min_s - jobs))
    assert found.timing_max_s - jobs == pytest.approx(3 * (found.timing_min_s - jobs))  # looks 4 and 12
    assert found.confirmation_max_s == 0.0


def test_confirming_costs_its_runs_its_timings_and_its_jobs(plan_of: PlanOf) -> None:
    plan = plan_of("design: {confirm: recommended}\nseeds: {looks: [5]}\nvariants: {half: {set: {precision: fp16}}}\n")
    found = cost(plan)
    assert found is not None
    quality, timing = found.quality_min_s - 2 * JOB_S, found.timing_max_s - 2 * JOB_S
    # a stack of one part: the new baseline and the stack train, and one of two timings is made again; four jobs
    assert found.confirmation_max_s == pytest.approx(4 * JOB_S + quality + timing / 2)


@pytest.mark.parametrize(
    ("nodes", "gate", "words"),
    [
        (1200, "", "0.5 pp is 6 of 1,200 test nodes"),
        (300, "", "0.5 pp is 1.5 of 300 test nodes"),
        (1200, "gate: {max_drop_pp: 1.0}\n", ""),
        (2000, "", ""),
        (150, "", ""),  # less than one: the prepared graph says so itself
        (1200, "gate: {metric: roc_auc}\n", ""),
    ],
)
def test_the_plan_warns_where_a_few_test_nodes_decide(plan_of: PlanOf, nodes: int, gate: str, words: str) -> None:
    said = coarse(plan_of(f"{gate}variants: {{half: {{set: {{precision: fp16}}}}}}\n"), nodes)
    assert [w.split(":")[0] for w in said] == ([words] if words else [])


def test_a_budget_closes_batches_by_nodes_times_edges() -> None:
    """A quarter of the budget of a batch of 1,024 lets in half as many seeds where both grow with the seeds."""
    full = layer_shapes(having({}), HUGE)
    whole = int(full[0].sources * full[0].edges)
    half = layer_shapes(having({"sampling.node_edge_budget": whole // 4}), HUGE)
    assert half[-1].targets == pytest.approx(512, rel=0.01)
    assert batches(having({"sampling.node_edge_budget": whole // 4}), HUGE) == pytest.approx(10**8 / 512, rel=0.01)


def test_what_the_homes_the_cache_and_the_loader_hold() -> None:
    table = 2708 * 1433 * 4
    assert parts({"features.cache_bytes": 10**6})["cache"] == 10**6
    assert parts({"features.cache_bytes": 10**12})["cache"] == table
    assert parts({"features.home": "device"}, device="cuda")["features"] == table
    assert parts({"features.home": "device", "features.cache_ratio": 0.5})["cache"] == 0
    rows = layer_shapes(having({}), CORA)[0].sources
    assert parts({"loader.threads": 1, "loader.depth": 3})["loader"] == pytest.approx(3 * rows * 1433 * 4, rel=1e-6)
    assert parts({})["loader"] == 0
