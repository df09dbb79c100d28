"""A whole run on a small graph: every toggle leaves its proof, and the same seed the same predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.runs.execute import _no_step, assemble, execute
from harness.runs.request import Diverged, Outcome, RunRequest, Unsupported
from harness.runs.stages import NoClock
from harness.spec.dataset import Files, Pyg, Split, Synthetic, Transform
from harness.spec.options import Model, Options, Training

SPLIT = Split(kind="random", train=0.5, val=0.25)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Prepared graphs of four classes and of two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("OMP_NUM_THREADS", "1")
        made = {
            name: Synthetic(
                source="synthetic", nodes=300, mean_degree=6.0, classes=classes, features=12, signal=1.0, split=SPLIT
            )
            for name, classes in (("four", 4), ("two", 2))
        }
        yield {name: prepare(dataset, name, ".") for name, dataset in made.items()}


@pytest.fixture(autouse=True)
def _threads_as_they_were() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def _request(graph: Path, options=None, model=None, training=None, **changes) -> RunRequest:
    fields = {
        "run_id": "r",
        "cell_id": "c",
        "purpose": "quality",
        "seed": 0,
        "model": Model(**{"conv": "sage", "hidden": 8, "layers": 2, **(model or {})}),
        "training": Training(**{"epochs": 3, "batch_size": 64, "lr": 0.01, **(training or {})}),
        "options": Options.model_validate({"sampling": {"fanout": [4, 3]}, **(options or {})}),
        "graph_path": str(graph),
        "spec_dir": str(graph),
        "device": "cpu",
        "threads": 1,
    }
    return RunRequest(**{**fields, **changes})


def _run(graph: Path, options=None, reports=None, **changes) -> Outcome:
    outcome = execute(_request(graph, options, **changes), (reports if reports is not None else []).append)
    json.dumps(outcome.model_dump(mode="json"), allow_nan=False)
    return outcome


def test_the_record_says_how_the_features_were_made(cache: Path, tmp_path: Path) -> None:
    transform = Transform(pca=2, structural=("degree",))
    section = Synthetic(source="synthetic", nodes=300, features=12, classes=3, split=SPLIT, transform=transform)
    data = _run(prepare(section, "projected", tmp_path)).data
    projection = data["features"]["projection"]
    assert data["num_features"] == 3
    assert (data["features"]["columns"], data["features"]["structural"]) == (12, ["degree"])
    assert 0.0 < projection["explained_variance"] < 0.85
    assert any(f"{100 * projection['explained_variance']:.1f} % of the variance" in line for line in data["warnings"])


# --- quality -----------------------------------------------------------------------------------------------------


def test_a_quality_run_measures_everything(graphs):
    reports: list[str] = []
    outcome = _run(graphs["four"], reports=reports)
    assert list(dict.fromkeys(reports)) == ["load", "prepare", "train", "evaluate", "done"]
    metrics = outcome.metrics
    assert metrics.epochs == len(metrics.train_loss) == len(metrics.val_loss) == len(outcome.epoch_s) == 3
    assert sum(row.support for row in metrics.per_class) == outcome.data["test_nodes"] == 75
    assert outcome.stages.sample_s > 0
    assert outcome.stages.compute_s > 0
    assert outcome.memory.base_bytes > 0  # a peak above it is for a fresh process to show
    assert outcome.counters["steps"] == 9  # 150 training nodes in batches of 64, three epochs
    assert outcome.environment["threads"] == 1


@pytest.mark.parametrize(("jumping", "seen"), [("none", 4), ("cat", 5)])
def test_a_quality_run_says_how_far_apart_the_embeddings_are(graphs, jumping, seen):
    """Features, three layers, and logits where these are not the last layer's output."""
    request = {"model": {"layers": 3, "jumping": jumping}, "options": {"batching": "full"}}
    counters = _run(graphs["four"], **request).counters
    assert len(counters["embedding_spread"]) == len(counters["embedding_zero_rows"]) == seen
    assert all(0.05 < spread < 1 for spread in counters["embedding_spread"])
    assert counters["over_smoothed"] is False
    assert "embedding_spread" not in _run(graphs["four"], purpose="timing", **request).counters


def test_many_layers_without_links_draw_the_nodes_together(graphs):
    request = {"options": {"batching": "full"}, "training": {"epochs": 1}}
    deep = {"conv": "gcn", "layers": 24}
    assert _run(graphs["four"], model=deep, **request).counters["over_smoothed"] is True
    linked = _run(graphs["four"], model=deep | {"norm": "pair"}, **request).counters
    assert linked["over_smoothed"] is False
    jumping = _run(graphs["four"], model=deep | {"jumping": "cat"}, **request).counters
    assert jumping["embedding_spread"][-2] < 0.03  # of the last layer, among others that the classifier reads
    assert jumping["over_smoothed"] is False


def test_the_same_seed_gives_identical_predictions_and_another_seed_others(graphs):
    one, two, other = (_run(graphs["four"], seed=seed).metrics for seed in (3, 3, 4))
    assert one == two
    assert one.train_loss != other.train_loss


def test_threads_change_nothing_but_the_rounding(graphs):
    one, two = (_run(graphs["four"], threads=threads) for threads in (1, 2))
    assert [o.environment["threads"] for o in (one, two)] == [1, 2]
    assert [one.counters[k] for k in ("nodes", "edges")] == [two.counters[k] for k in ("nodes", "edges")]
    assert one.metrics.val_loss == pytest.approx(two.metrics.val_loss, rel=1e-4)


def test_a_seed_draws_the_same_weights_for_every_batching(graphs):
    """With a learning rate of next to nothing all of them evaluate the weights they began with."""
    losses = {
        batching: _run(graphs["four"], {"batching": batching}, training={"lr": 1e-12, "epochs": 1}).metrics.val_loss[0]
        for batching in ("neighbor", "cluster", "full")
    }
    assert losses["neighbor"] == pytest.approx(losses["full"], abs=1e-6)
    assert losses["cluster"] == pytest.approx(losses["full"], abs=1e-6)


@pytest.mark.parametrize("batching", ["neighbor", "cluster", "full"])
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin"])
def test_training_lowers_the_loss(graphs, batching, conv):
    options = {"batching": batching, "partition": {"parts": 8, "per_batch": 2}}
    metrics = _run(graphs["four"], options, model={"conv": conv, "dropout": 0.0}, training={"epochs": 10}).metrics
    assert metrics.train_loss[-1] < metrics.train_loss[0]


def test_two_classes_have_a_roc_auc_above_chance(graphs):
    outcome = _run(graphs["two"], {"batching": "full"}, training={"epochs": 30})
    assert 0.6 < outcome.metrics.test.roc_auc <= 1.0


def test_a_huge_learning_rate_diverges(graphs):
    with pytest.raises(Diverged, match="epoch"):
        _run(graphs["four"], model={"conv": "gin"}, training={"lr": 1e30, "epochs": 20})


@pytest.fixture(scope="module")
def large_values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Features of up to 6e4, whose sums are beyond float16."""
    folder, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(0)
    edges = rng.integers(0, 300, (2, 3000))
    np.savez(folder / "g.npz", edge_index=edges, x=rng.uniform(0, 6e4, (300, 8)).astype("f4"), y=np.arange(300) % 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        return prepare(Files(source="files", path="g.npz", split=SPLIT), "large", folder)


@pytest.mark.parametrize(
    ("conv", "precision", "where", "remedy"),
    [
        ("gin", "fp16", r"in float16 [\d.]+ % of the sums of layer 1 overflowed", "use bf16 or bf16-linear"),
        ("sage", "fp16", r"in float16 [\d.]+ % of the sums of layer 1 overflowed", "use fp16-linear or bf16"),
        ("gin", "fp16-linear", r"in float16 linear layer layers\.0\.conv\S+ overflowed", "use bf16 or bf16-linear"),
    ],
)
def test_an_overflow_that_ends_a_training_is_named_and_counted(large_values, conv, precision, where, remedy):
    with pytest.raises(Diverged, match=where) as raised:
        _run(large_values, {"precision": precision}, model={"conv": conv}, training={"epochs": 1})
    message, counters = str(raised.value), raised.value.outcome.counters
    assert remedy in message
    assert "dataset.transform.scale" in message
    assert f"loss scale {counters['loss_scale']:g}" in message
    assert len(message) <= 400  # of which a record keeps no more
    assert counters["epochs"] == 1
    assert counters["linear_checked"] > 0
    if precision == "fp16":
        assert counters["aggregation_overflow_by_layer"][0] > 0
        assert counters["nonfinite_aggregations"] > 0
    else:
        assert next(iter(counters["linear_overflows"])).startswith("layers.0.conv")
    json.dumps(raised.value.outcome.model_dump(mode="json"), allow_nan=False)


def test_a_divergence_in_float32_is_no_overflow_of_float16(graphs):
    with pytest.raises(Diverged) as raised:
        _run(graphs["four"], model={"conv": "gin"}, training={"lr": 1e30, "epochs": 20})
    assert "float16" not in str(raised.value)
    assert raised.value.outcome.counters["linear_checked"] == 0


# --- timing ------------------------------------------------------------------------------------------------------


def test_timing_gives_epochs_stages_and_peak_but_no_metrics(graphs):
    reports: list[str] = []
    outcome = _run(graphs["four"], reports=reports, purpose="timing", warmup_epochs=1, timed_epochs=4)
    assert reports == ["load", "prepare", "train", "time", "done"]
    assert outcome.metrics is None
    assert len(outcome.epoch_s) == 4
    assert outcome.counters["epochs"] == len(outcome.warmup_s) + 4 + 1
    assert len(outcome.warmup_s) >= 1
    assert outcome.settled is not None
    assert outcome.device_times is None
    assert outcome.profile.stages == outcome.stages
    assert 0 < outcome.profile.seconds < 10 * max(outcome.epoch_s)
    assert (outcome.profile.epoch, outcome.profile.wait_s) == (1 + 4 + 1, None)


def test_stages_of_a_variant_are_of_its_references_batches(graphs):
    """Whatever changes neither draws nor order; what samples otherwise has other batches, and says so."""

    def profile(seed=0, **options):
        timing = {"purpose": "timing", "warmup_epochs": 1, "timed_epochs": 2}
        return _run(graphs["four"], options, seed=seed, **timing).profile

    reference = profile()
    for same in ({"loader": {"threads": 2}}, {"features": {"cache_ratio": 0.3}}, {"aggregation": "spmm"}):
        found = profile(**same)
        assert (found.batches_crc32, found.nodes, found.edges) == (
            reference.batches_crc32,
            reference.nodes,
            reference.edges,
        )
        assert (found.wait_s is None) == ("loader" not in same)
    assert profile(loader={"threads": 2}).wait_s > 0
    assert profile(seed=1).batches_crc32 != reference.batches_crc32
    assert profile(sampling={"fanout": [1, 1]}).batches_crc32 != reference.batches_crc32


@pytest.mark.parametrize("policy", ["degree", "presample", "optimal"])
def test_no_node_is_counted_while_epochs_are_timed(graphs, policy):
    """Only a store with a cache would pay for it."""
    options = {"features": {"cache_ratio": 0.3, "policy": policy}}
    timed = _run(graphs["four"], options, purpose="timing", warmup_epochs=2, timed_epochs=3).counters
    warm_up = _run(graphs["four"], options, purpose="timing", warmup_epochs=2, timed_epochs=1).counters
    counted = timed["cache_recount"]["requests"]
    assert 0 < counted == warm_up["cache_recount"]["requests"] < warm_up["cache_requests"] < timed["cache_requests"]
    quality = _run(graphs["four"], options).counters
    assert quality["cache_recount"]["requests"] == quality["cache_requests"]


# --- toggles -----------------------------------------------------------------------------------------------------


def test_the_fanout_bounds_what_is_sampled(graphs):
    narrow, wide = (_run(graphs["four"], {"sampling": {"fanout": fanout}}).counters for fanout in ([1, 1], [-1, -1]))
    assert narrow["fanout"] == [1, 1]
    assert max(narrow["fanout_mean"]) <= 1.0
    assert wide["edges"] > 2 * narrow["edges"]


def test_the_cache_serves_rows_and_changes_no_prediction(graphs):
    none, cached, whole = (_run(graphs["four"], {"features": {"cache_ratio": r}}) for r in (0.0, 0.3, 1.0))
    assert none.counters["cache_hits"] == none.counters["cache_nodes"] == 0
    assert cached.counters["cache_nodes"] == 90
    assert 0 < cached.counters["cache_hits"] < cached.counters["cache_requests"]
    assert cached.counters["fetched_bytes"] < none.counters["fetched_bytes"]
    assert whole.counters["fetched_bytes"] == 0
    assert none.metrics == cached.metrics == whole.metrics


def test_features_on_disk_change_no_prediction(graphs):
    host, disk = (_run(graphs["four"], {"features": {"home": home}}) for home in ("host", "disk"))
    assert (host.counters["feature_home"], disk.counters["feature_home"]) == ("host", "disk")
    assert host.metrics == disk.metrics


@pytest.mark.parametrize("method", ["metis", "random"])
def test_clusters_report_what_their_parts_keep(graphs, method):
    options = {"batching": "cluster", "partition": {"method": method, "parts": 8, "per_batch": 2}}
    counters = _run(graphs["four"], options).counters
    assert counters["partition"]["method"] == method
    assert counters["batches"] == 3 * 4
    assert 0 < counters["kept_edge_share"] < 1
    assert counters["partition_s"] >= 0


@pytest.mark.parametrize(
    ("precision", "dtype", "scaled"),
    [
        ("fp32", "float32", False),
        ("bf16", "bfloat16", False),
        ("bf16-linear", "float32", False),
        ("fp16", "float16", True),
        ("fp16-linear", "float32", True),
        ("fp16-features", "float32", False),
    ],
)
@pytest.mark.parametrize("conv", ["gcn", "sage", "gat", "gin"])
def test_precision_is_seen_in_the_messages_of_every_layer(graphs, conv, precision, dtype, scaled):
    counters = _run(graphs["four"], {"precision": precision}, model={"conv": conv}).counters
    assert counters["aggregation_dtype"] == [dtype, dtype]
    assert (counters["loss_scale"] is not None) == scaled
    assert counters["backward_passes"] == counters["steps"] + counters["skipped_steps"] == 9


@pytest.mark.parametrize("aggregation", ["scatter", "segment", "spmm"])
def test_only_the_aggregation_asked_for_is_called(graphs, aggregation):
    counters = _run(graphs["four"], {"aggregation": aggregation}).counters
    assert counters["aggregation_calls"] == {aggregation: 2 * counters["backward_passes"]}


def test_checkpointing_computes_layers_again_and_changes_no_loss(graphs):
    plain, again = (
        _run(graphs["four"], {"checkpointing": on}, model={"norm": "batch"}, training={"epochs": 2})
        for on in (False, True)
    )
    assert plain.counters["checkpoint_recomputations"] == 0
    assert again.counters["checkpoint_recomputations"] == again.counters["backward_passes"]  # all layers but the last
    assert again.metrics.val_loss == pytest.approx(plain.metrics.val_loss, rel=1e-5)


def test_clipping_reports_gradient_norms(graphs):
    counters = _run(graphs["four"], training={"clip": 1e-3}).counters
    assert counters["clipped_steps"] == counters["steps"]
    assert counters["gradient_norm"]["q05"] <= counters["gradient_norm"]["median"] <= counters["gradient_norm"]["max"]
    assert counters["gradient_norm"]["looked_at"] == counters["steps"]


def test_gradient_norms_are_looked_at_sparsely_where_nothing_is_clipped(graphs):
    outcome = _run(graphs["four"], training={"batch_size": 10, "epochs": 3})
    counters, found = outcome.counters, outcome.counters["gradient_norm"]
    # the first 17, every 16th after them, and the first of each epoch: 1st, 16th and 31st
    assert (counters["steps"], found["looked_at"]) == (45, 17 + 1 + 1)
    assert len(outcome.metrics.gradient_norm) == len(outcome.metrics.train_loss) == 3
    assert all(found["q05"] <= norm <= found["max"] for norm in outcome.metrics.gradient_norm)
    assert 0 < found["q05"] <= found["median"] <= found["q95"] <= found["max"]
    assert found["ratio"] == found["q95"] / found["q05"]
    assert "clipped_steps" not in counters


def test_each_epoch_has_a_gradient_norm_though_it_has_a_single_step(graphs):
    """The 17th step and those after it are looked at for the curve alone, and no loss knows of it."""
    plain = _run(graphs["four"], {"batching": "full"}, training={"epochs": 20})
    assert None not in plain.metrics.gradient_norm
    assert len(plain.metrics.gradient_norm) == 20
    clipped = _run(graphs["four"], {"batching": "full"}, training={"epochs": 20, "clip": 1e6})
    assert clipped.metrics == plain.metrics  # all norms are looked at there, and none is that large


def test_what_a_model_cannot_do_is_unsupported(graphs):
    with pytest.raises(Unsupported, match="gat"):
        _run(graphs["four"], {"aggregation": "spmm"}, model={"conv": "gat"})


def test_a_loss_scale_that_never_settles_is_named_as_a_cause():
    assert _no_step({"skipped_steps": 4, "loss_scale": 2.0**12}) == (
        "none of 4 steps was made: the loss scale was still settling: train longer, or the gradients are not finite"
    )
    assert "train longer" not in _no_step({"skipped_steps": 4, "loss_scale": None})


def test_a_cache_of_no_node_is_unsupported(graphs):
    with pytest.raises(Unsupported, match=r"cache_ratio 1e-06 of \d+ nodes caches none; use at least 0\.\d+"):
        _run(graphs["four"], {"features": {"cache_ratio": 1e-6}})


# --- known figures ----------------------------------------------------------------------------------------


def test_a_full_graph_gcn_trains_as_a_plain_loop_of_pyg_does(graphs):
    """Same first weights, same dropout: the losses of twenty epochs are those of ten lines of PyG and torch."""
    request = _request(graphs["four"], {"batching": "full"}, {"conv": "gcn"}, {"weight_decay": 5e-4})
    graph = open_graph(graphs["four"])
    ours = assemble(request, graph, torch.device("cpu"))
    layers = [GCNConv(12, 8), GCNConv(8, 4)]
    for layer, mine in zip(layers, ours.model.layers, strict=True):
        layer.load_state_dict({k.removeprefix("conv."): v for k, v in mine.state_dict().items()})
    optimiser = torch.optim.Adam([p for layer in layers for p in layer.parameters()], lr=0.01, weight_decay=5e-4)
    target = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack([graph.indices.astype(np.int64), target]))
    x, y, train = (torch.from_numpy(np.array(a)) for a in (graph.x, graph.y, graph.train))

    torch.manual_seed(5)
    losses = [ours.trainer.epoch(epoch, NoClock()).mean() for epoch in range(1, 21)]
    torch.manual_seed(5)
    for epoch in range(20):
        hidden = F.dropout(F.relu(layers[0](x, edge_index)), 0.5, training=True)
        loss = F.cross_entropy(layers[1](hidden, edge_index)[train], y[train])
        assert losses[epoch] == pytest.approx(loss.item(), rel=1e-4)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@pytest.mark.data
def test_gcn_on_cora_reaches_the_published_accuracy(real_data, tmp_path, monkeypatch):
    """Kipf and Welling report 81.5 %; three seeds here, so the bounds are wide."""
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    cora = Pyg(source="pyg", name="Planetoid/Cora", split=Split(kind="public"))
    folder = prepare(cora, "cora", ".")
    accuracies = [
        _run(
            folder,
            {"batching": "full"},
            model={"conv": "gcn", "hidden": 64, "dropout": 0.5},
            training={"epochs": 200, "lr": 0.01, "weight_decay": 5e-4, "selection": "best_val_loss"},
            seed=seed,
        ).metrics.test.accuracy
        for seed in range(3)
    ]
    assert 0.800 <= np.mean(accuracies) <= 0.830
