"""What cannot run where, with reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.plan.capabilities import RULES, Candidate, cannot_run
from harness.plan.machine import Machine
from harness.plan.model import Plan
from harness.plan.no_effect import without_effect
from harness.spec.option_paths import Settings, is_option, option_paths, patched, settings_of, tree_of
from harness.spec.options import Model, Options, Training

BASE = Settings(Model(conv="sage"), Training(), Options())
PlanOf = Callable[..., Plan]


def having(patch: dict[str, Any], base: Settings = BASE) -> Settings:
    return settings_of(patched(tree_of(base), patch))


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ({"sampling.backend": "torch"}, "samples on a GPU; on the CPU numba draws the same"),
        (
            {"model.conv": "gat", "sampling.method": "importance", "sampling.reweight": True},
            "sampling.reweight: gat's attention is normalised",
        ),
        (
            {
                "model.conv": None,
                "model.class": "m:N",
                "sampling.method": "importance",
                "sampling.reweight": True,
            },
            "cannot reach inside a model given by class (m:N)",
        ),
        ({"model.conv": "gat", "aggregation": "spmm"}, "attention weights per edge: spmm gains nothing"),
        ({"model.conv": "mpnn", "aggregation": "spmm"}, "a product with a sparse matrix makes no messages"),
        ({"batching": "full", "features.home": "disk"}, "keeps all features in memory"),
    ],
)
def test_what_never_runs(patch: dict[str, Any], reason: str, machine: Machine) -> None:
    assert reason in (cannot_run(Candidate(having(patch), "cpu"), machine) or "")


def test_products_on_a_gpu_are_not_called_deterministic(machine: Machine) -> None:
    gpu = machine.model_copy(update={"cuda": True})
    for aggregation, told in (("spmm", True), ("segment", True), ("scatter", False)):
        settings = having({"deterministic": True, "aggregation": aggregation})
        assert ("cuSPARSE" in (cannot_run(Candidate(settings, "cuda"), gpu) or "")) is told
        assert cannot_run(Candidate(settings, "cpu"), gpu) is None


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"sampling.method": "fixed"},
        {"sampling.method": "importance", "sampling.reweight": True},
        {"sampling.method": "degree-stratified"},
        {"sampling.method": "labor", "loader.threads": 2},
        {"sampling.node_edge_budget": 10**9},
        {"features.home": "device"},  # as a baseline; as a toggle it is skipped on the CPU
        {"features.cache_bytes": "auto", "features.policy": "presample"},
        {"batching": "cluster", "partition.method": "fennel"},
        {"batching": "cluster", "partition.method": "ldg"},
        {"batching": "cluster", "partition.method": "random"},
        {"batching": "cluster", "features.home": "disk", "features.cache_ratio": 0.5},
        {"model.conv": "gat", "aggregation": "segment"},
        {"precision": "fp16", "aggregation": "spmm"},
        {"precision": "bf16-linear"},
        {"precision": "fp16-features", "features.home": "disk", "features.cache_ratio": 0.5},
        {"deterministic": True},
        # what a batching does not read cannot stop it
        {"batching": "full", "sampling.method": "importance", "partition.method": "fennel"},
    ],
)
def test_what_runs(patch: dict[str, Any], machine: Machine) -> None:
    assert cannot_run(Candidate(having(patch), "cpu"), machine) is None


def test_metis_needs_pymetis(machine: Machine) -> None:
    without = machine.model_copy(update={"libraries": {**machine.libraries, "pymetis": None}})
    metis = Candidate(having({"batching": "cluster"}), "cpu")
    assert cannot_run(metis, machine) is None
    assert "pip install pymetis" in (cannot_run(metis, without) or "")
    assert cannot_run(Candidate(having({"batching": "cluster", "partition.method": "random"}), "cpu"), without) is None


def test_the_device_is_no_home_of_its_own_on_the_cpu(machine: Machine) -> None:
    def reason(device: str) -> str:
        toggle = Candidate(having({"features.home": "device"}), device, ("features.home",))
        return cannot_run(toggle, machine.model_copy(update={"cuda": True})) or ""

    assert "is the host's memory on the CPU" in reason("cpu")
    assert reason("cuda") == ""


def test_sampling_on_the_gpu_where_there_is_one(machine: Machine) -> None:
    torch_samples = having({"sampling.backend": "torch", "sampling.method": "labor"})
    assert cannot_run(Candidate(torch_samples, "cuda"), machine.model_copy(update={"cuda": True})) is None


def test_half_precision_asks_the_probe(machine: Machine) -> None:
    said = "NotImplementedError: no kernel"
    kernels = {"cpu": {**machine.kernels["cpu"], "fp16": said, "bf16+segment": said}}
    weak = machine.model_copy(update={"kernels": kernels})

    def reason(**patch: Any) -> str:
        return cannot_run(Candidate(having(patch), "cpu"), weak) or ""

    assert reason(precision="fp16") == f"precision fp16 does not work on cpu with torch 2.13.0 ({said})"
    assert reason(precision="fp16-linear") == ""
    assert reason(precision="bf16") == ""
    assert reason(precision="bf16", aggregation="segment").startswith(
        "precision bf16 with aggregation segment does not"
    )
    assert reason(precision="bf16-linear", aggregation="segment") == ""
    # a device that the probe did not try is not taken for one that works
    assert "not tried" in (cannot_run(Candidate(having({"precision": "bf16"}), "cuda"), weak) or "")


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ({"aggregation": "spmm"}, "aggregation: spmm cannot reach inside a model given by class (m:N)"),
        ({"checkpointing": True}, "checkpointing: true cannot reach inside"),
        ({"aggregation": "segment", "checkpointing": True}, "aggregation: segment, checkpointing: true cannot reach"),
    ],
)
def test_toggles_cannot_reach_inside_a_custom_model(patch: dict[str, Any], reason: str, machine: Machine) -> None:
    own = Settings(Model(class_path="m:N"), Training(), Options())
    assert cannot_run(Candidate(own, "cpu"), machine) is None
    assert reason in (cannot_run(Candidate(having(patch, own), "cpu"), machine) or "")


@pytest.mark.parametrize("precision", ["bf16", "fp16", "fp16-linear", "bf16-linear", "fp16-features"])
def test_precision_reaches_the_convolutions_of_a_custom_model(precision: str, machine: Machine) -> None:
    own = Settings(Model(class_path="m:N"), Training(), Options.model_validate({"precision": precision}))
    assert cannot_run(Candidate(own, "cpu"), machine) is None


NO_EFFECT = [
    ("features.cache_ratio", {"batching": "full"}, "batching: full"),
    ("features.home", {"batching": "full"}, "batching: full"),
    ("sampling.fanout", {"batching": "cluster"}, "batching: cluster"),
    ("sampling.method", {"batching": "full"}, "batching: full"),
    ("training.batch_size", {"batching": "cluster"}, "batching: cluster"),
    ("partition.parts", {}, "batching: neighbor"),
    ("partition.method", {"batching": "cluster", "partition.parts": 8}, "each batch is the whole graph"),
    ("partition.passes", {"batching": "cluster"}, "partition.method: metis"),
    ("sampling.weights", {}, "sampling.method: uniform"),
    ("sampling.reweight", {"sampling.method": "labor"}, "sampling.method: labor"),
    ("sampling.method", {"sampling.fanout": [-1, -1], "sampling.method": "labor"}, "takes all neighbours"),
    ("training.batch_size", {"sampling.node_edge_budget": 10**9}, "closes the batches"),
    ("training.accumulate", {"batching": "full", "training.accumulate": 2}, "batching: full"),
    ("training.accumulate_targets", {"training.accumulate_targets": 1024}, "batch_size: 1024, which holds as many"),
    ("features.cache_ratio", {"features.home": "device", "features.cache_ratio": 0.5}, "holds all rows"),
    ("features.policy", {}, "no cache (cache_ratio 0 and no cache_bytes)"),
    ("features.policy", {"features.cache_ratio": 1.0}, "caches all rows"),
    ("features.presample_epochs", {"features.cache_ratio": 0.5}, "features.policy: degree"),
    ("loader.threads", {"batching": "full"}, "batching: full"),
    ("loader.depth", {}, "loader.threads: 0"),
    ("loader.depth", {"loader.threads": 4}, "loader.threads: 4"),
    ("model.heads", {}, "conv: sage"),
    ("model.hidden", {"model.layers": 1}, "no hidden layer"),
    ("model.norm", {"model.layers": 1, "model.norm": "batch"}, "no hidden layer"),
    ("model.norm", {"model.layers": 1, "model.conv": "gin", "model.norm": "pair"}, "no hidden layer"),
    ("model.dropout", {"model.layers": 1, "model.conv": "gin"}, "no hidden layer"),
    ("training.selection", {"training.epochs": 1}, "training.epochs: 1"),
    ("training.eval_every", {"training.epochs": 1, "training.eval_every": 2}, "training.epochs: 1"),
    ("training.patience", {"training.epochs": 5, "training.patience": 5}, "training.epochs: 5"),
    ("model.hidden", {"model.conv": None, "model.class": "m:N"}, "class: m:N"),
    ("model.layers", {"model.conv": None, "model.class": "m:N", "batching": "full"}, "class: m:N"),
]


@pytest.mark.parametrize(("path", "patch", "cause"), NO_EFFECT, ids=lambda value: str(value))
def test_a_toggle_that_does_nothing_says_why(path: str, patch: dict[str, Any], cause: str, machine: Machine) -> None:
    reason = without_effect(path, having(patch))
    assert reason is not None
    assert reason.startswith(f"{path} has no effect with ")
    assert cause in reason
    assert cannot_run(Candidate(having(patch), "cpu", (path,)), machine) == reason


@pytest.mark.parametrize(
    ("path", "patch"),
    [
        ("model.dropout", {"model.layers": 1, "model.conv": "gat"}),
        ("model.norm", {"model.layers": 1, "model.conv": "gin", "model.norm": "batch"}),
        ("model.hidden", {"model.layers": 1, "model.jumping": "cat"}),
        ("training.patience", {"training.epochs": 5, "training.patience": 4}),
        ("loader.depth", {"loader.threads": 4, "loader.depth": 5}),
    ],
)
def test_what_has_an_effect_all_the_same(path: str, patch: dict[str, Any]) -> None:
    assert without_effect(path, having(patch)) is None


@pytest.mark.parametrize(
    ("path", "acting", "idle", "settings"),
    [
        ("training.accumulate_targets", 5000, 500, {}),
        ("training.patience", 2, 100, {}),
        ("loader.depth", 8, 2, {"loader.threads": 4}),
        ("sampling.method", "importance", "uniform", {"sampling.fanout": [-1, -1]}),
    ],
)
def test_a_change_to_what_does_nothing_from_what_does_something_is_an_effect(
    path: str, acting: Any, idle: Any, settings: dict[str, Any], machine: Machine
) -> None:
    base, cell = having(settings | {path: acting}), having(settings | {path: idle})
    assert without_effect(path, cell) is not None
    assert cannot_run(Candidate(cell, "cpu", (path,), base=base), machine) is None
    assert cannot_run(Candidate(base, "cpu", (path,), base=cell), machine) is None
    unlike = {"training.accumulate_targets": 400, "training.patience": 70, "loader.depth": 3}
    if path in unlike:
        other = having(settings | {path: unlike[path]})
        assert "has no effect" in (cannot_run(Candidate(cell, "cpu", (path,), base=other), machine) or "")


@pytest.mark.parametrize(
    "patch", [{"batching": "cluster"}, {"sampling.node_edge_budget": 10**9}, {"training.batch_size": 1023}]
)
def test_batches_that_may_hold_fewer_labelled_nodes_are_gathered(patch: dict[str, Any]) -> None:
    asked = having({"training.accumulate_targets": 1024, **patch})
    assert without_effect("training.accumulate_targets", asked) is None


def test_with_neighbour_batching_and_gat_all_else_has_an_effect() -> None:
    gat = having({"model.conv": "gat"})
    idle = {path for path in option_paths() if without_effect(path, gat)}
    waiting = {"sampling.weights", "sampling.reweight", "features.policy", "features.presample_epochs", "loader.depth"}
    parts = {"partition.method", "partition.parts", "partition.per_batch", "partition.passes"}
    assert idle == waiting | parts
    assert all(is_option(path) for path in idle)


def test_a_policy_has_an_effect_with_clusters() -> None:
    """A batch without a training node is not fetched, so that nodes differ in how often they are."""
    assert without_effect("features.policy", having({"batching": "cluster", "features.cache_ratio": 0.5})) is None


def test_a_toggle_that_does_nothing_is_skipped_in_the_plan(plan_of: PlanOf) -> None:
    plan = plan_of(
        "baseline: {batching: full}\nvariants:\n  cache: {grid: {features.cache_ratio: [0.1, 0.3]}}\n"
        "  fanout: {set: {sampling.fanout: [5, 5]}}\n  half: {set: {precision: fp16}}\n"
        "  neighbor: {set: {batching: neighbor, sampling.fanout: [5, 5]}}\n  batch: {set: {training.batch_size: 16}}\n"
    )
    assert list(plan.cells) == ["baseline", "half", "neighbor"]
    assert [(skip.variant, skip.reason) for skip in plan.skipped] == [
        ("cache-0.1", "features.cache_ratio has no effect with batching: full"),
        ("cache-0.3", "features.cache_ratio has no effect with batching: full"),
        ("fanout", "sampling.fanout has no effect with batching: full"),
        ("batch", "training.batch_size has no effect with batching: full"),
    ]
    assert plan.skipped[0].patch == {"features.cache_ratio": 0.1}


def test_every_row_has_a_name_of_its_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
