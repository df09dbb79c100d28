"""From a spec to its plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plan.cells import UndeclaredDifference, assert_only_declared
from harness.plan.designs import lay_out
from harness.plan.estimate import refined
from harness.plan.expand import make_plan
from harness.plan.machine import Machine, usable_cpus
from harness.plan.model import Cell, Plan
from harness.spec.cells import named_patches
from harness.spec.errors import InputError
from harness.spec.load import load_spec
from harness.spec.option_paths import Settings, flat, tree_of
from harness.spec.schema import Spec

EXAMPLE = """\
version: 1
name: computers-sage
dataset: {source: pyg, name: Amazon/Computers, split: {kind: random, train: 0.6, val: 0.2, seed: 0}}
model: {conv: sage, layers: 2, hidden: 128, dropout: 0.5, norm: batch}
training: {epochs: 60, batch_size: 1024, lr: 0.003, weight_decay: 0.0, patience: 20, selection: best_val_loss}
baseline:
  batching: neighbor                      # neighbor | cluster | full
  sampling: {method: uniform, fanout: [25, 10]}
  features: {home: host, cache_ratio: 0.0}      # the store; transforms of the data are dataset.transform
  partition: {method: metis, parts: 64, per_batch: 8}
  precision: fp32
  aggregation: scatter
  checkpointing: false
variants:
  fanout:     {grid: {sampling.fanout: [[15, 10], [10, 5], [5, 5]]}}
  importance: {set: {sampling.method: importance}}
  cache:      {grid: {features.cache_ratio: [0.1, 0.3]}, exact: true}   # named cache-0.1, cache-0.3
  cluster:    {set: {batching: cluster}, grid: {partition.method: [metis, random, fennel]}}
  precision:  {grid: {precision: [fp16, fp16-linear]}}
  spmm:       {set: {aggregation: spmm}, exact: true}       # exact: mathematically equal to the baseline
  checkpoint: {set: {checkpointing: true}, exact: true, goal: memory}
design: {kind: one-at-a-time, confirm: none}
seeds:  {looks: [5, 10, 20]}
gate:   {metric: accuracy, max_drop_pp: 0.5, alpha: 0.05, min_speedup: 1.05}
"""
PlanOf = Callable[..., Plan]


def leaves(cell: Cell) -> dict[str, Any]:
    return flat(tree_of(Settings(cell.model, cell.training, cell.options)))


def skipped(plan: Plan) -> dict[str, str]:
    return {skip.variant: skip.reason for skip in plan.skipped}


def test_the_example_of_the_documentation(plan_of: PlanOf) -> None:
    plan = plan_of(EXAMPLE)
    assert list(plan.cells) == [
        "baseline",
        "fanout-15-10",
        "fanout-10-5",
        "fanout-5-5",
        "importance",
        "cache-0.1",
        "cache-0.3",
        "cluster-metis",
        "cluster-random",
        "cluster-fennel",
        "precision-fp16",
        "precision-fp16-linear",
        "spmm",
        "checkpoint",
    ]
    assert skipped(plan) == {}
    assert [c.variant for c in plan.comparisons] == list(plan.cells)[1:]
    assert {c.variant for c in plan.comparisons if c.exact} == {"cache-0.1", "cache-0.3", "spmm", "checkpoint"}
    assert [c.variant for c in plan.comparisons if c.goal == "memory"] == ["checkpoint"]
    assert (plan.runs_min, plan.runs_max) == (14 * 5, 14 * 20)
    assert (plan.quality_threads, plan.timing_threads) == (1, 2)
    assert plan.cells["cluster-random"].patch == {"batching": "cluster", "partition.method": "random"}
    # the patch is what differs: the baseline's partition.method is metis already
    assert plan.cells["cluster-metis"].patch == {"batching": "cluster"}
    assert plan.warnings == []


def test_a_grid_never_leaks_from_one_cell_to_the_next(plan_of: PlanOf) -> None:
    """GraphGym's grid copied shallowly: a block inherited another block's value."""
    plan = plan_of(EXAMPLE)
    base = leaves(plan.cells["baseline"])
    for cell in plan.cells.values():
        assert {path for path, value in leaves(cell).items() if value != base[path]} == set(cell.patch)
    assert plan.cells["fanout-5-5"].options.sampling.fanout == (5, 5)
    assert plan.cells["baseline"].options.sampling.fanout == (25, 10)


def test_mutable_arguments_are_not_shared_between_cells(tmp_path: Path, plan_of: PlanOf) -> None:
    (tmp_path / "net.py").write_text("class Net: pass\n")
    plan = plan_of(
        "version: 1\nname: s\ndataset: {source: builtin, name: wordnet}\n"
        "model: {class: 'net:Net', args: {widths: [1, 2], inner: {a: 1}}}\n"
        "variants:\n  lr: {grid: {training.lr: [0.1, 0.2]}}\n  inner: {set: {model.args.inner.a: 2}}\n"
    )
    plan.cells["lr-0.1"].model.args["widths"].append(3)
    plan.cells["lr-0.1"].model.args["inner"]["a"] = 9
    assert plan.cells["lr-0.2"].model.args == {"widths": [1, 2], "inner": {"a": 1}}
    assert plan.cells["baseline"].model.args == {"widths": [1, 2], "inner": {"a": 1}}
    assert plan.cells["inner"].model.args == {"widths": [1, 2], "inner": {"a": 2}}


VALUES: dict[str, list[Any]] = {
    "sampling.fanout": [[5, 5], [3, -1]],
    "sampling.method": ["fixed"],
    "features.cache_ratio": [0.1, 1],
    "features.home": ["disk"],
    "precision": ["fp16", "bf16-linear"],
    "aggregation": ["spmm", "segment", "dense"],
    "checkpointing": [True],
    "model.hidden": [8, 16],
    "model.dropout": [0, 0.1],
    "training.lr": [0.1, 1],
    "training.batch_size": [16],
}


@st.composite
def variants(draw: st.DrawFn) -> dict[str, Any]:
    made = {}
    for index in range(draw(st.integers(1, 4))):
        paths = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3, unique=True))
        grid = {path: VALUES[path] for path in paths if draw(st.booleans())}
        fixed = {path: draw(st.sampled_from(VALUES[path])) for path in paths if path not in grid}
        made[f"v{index}"] = {"set": fixed, "grid": grid}
    return made


@settings(max_examples=60)
@given(variants(), st.sampled_from(["one-at-a-time", "factorial"]))
def test_a_cell_differs_from_the_baseline_in_exactly_what_it_declares(made: dict[str, Any], kind: str) -> None:
    kernels = dict.fromkeys([p + a for p in ("bf16", "fp16") for a in ("", "+spmm", "+segment", "+dense", "-linear")])
    everything = Machine(torch="2", pyg="2", cuda=False, kernels={"cpu": kernels}, libraries={"pymetis": "1"})
    data = {"version": 1, "name": "s", "dataset": {"source": "builtin", "name": "wordnet"}, "model": {"conv": "gcn"}}
    spec = Spec.model_validate({**data, "variants": made, "design": {"kind": kind}})
    plan = make_plan(spec, Path("spec.yaml"), everything, cores=1)
    base = leaves(plan.cells["baseline"])
    declared = {planned.name: planned.patch for planned in lay_out(spec).cells}
    assert set(declared) == set(plan.cells) - {"baseline"} | set(skipped(plan))
    for name, patch in declared.items():
        if name in plan.cells:
            cell = leaves(plan.cells[name])
            assert {path for path in base if cell[path] != base[path]} == set(patch)
            for path, value in patch.items():
                assert cell[path] == (tuple(value) if isinstance(value, list) else value)


def test_an_undeclared_difference_is_a_fault_of_the_planner() -> None:
    base = {"precision": "fp32", "sampling.fanout": (25, 10)}
    assert_only_declared(base, {**base, "precision": "fp16"}, {"precision": "fp16"}, "v")
    with pytest.raises(UndeclaredDifference, match=r"undeclared \['sampling.fanout'\]"):
        assert_only_declared(base, {"precision": "fp16", "sampling.fanout": (5, 5)}, {"precision": "fp16"}, "v")
    with pytest.raises(UndeclaredDifference, match=r"declared and not there \['precision'\]"):
        assert_only_declared(base, base, {"precision": "fp16"}, "v")


FOUR = """\
variants:
  cache: {set: {features.cache_ratio: 0.3}, exact: true}
  fanout: {set: {sampling.fanout: [5, 5]}}
  half: {set: {precision: fp16}}
  checkpoint: {set: {checkpointing: true}, exact: true, goal: memory}
"""


def test_stack_adds_one_variant_after_another(plan_of: PlanOf) -> None:
    plan = plan_of(FOUR + "design: {kind: stack}\n")
    assert list(plan.cells) == [
        "baseline",
        "cache",
        "cache+fanout",
        "cache+fanout+half",
        "cache+fanout+half+checkpoint",
    ]
    assert {c.reference for c in plan.comparisons} == {"baseline"}
    assert [c.exact for c in plan.comparisons] == [True, False, False, False]
    assert plan.cells["cache+fanout"].patch == {"features.cache_ratio": 0.3, "sampling.fanout": [5, 5]}


def test_leave_one_out_compares_with_all_at_once(plan_of: PlanOf) -> None:
    plan = plan_of(FOUR + "design: {kind: leave-one-out}\n")
    assert list(plan.cells) == ["all", "without-cache", "without-fanout", "without-half", "without-checkpoint"]
    assert {c.reference for c in plan.comparisons} == {"all"}
    assert [c.exact for c in plan.comparisons] == [True, False, False, True]
    assert [c.goal for c in plan.comparisons] == ["speed", "speed", "speed", "memory"]
    assert set(plan.cells["all"].patch) == {
        "features.cache_ratio",
        "sampling.fanout",
        "precision",
        "checkpointing",
    }
    assert set(plan.cells["without-half"].patch) == {"features.cache_ratio", "sampling.fanout", "checkpointing"}


def test_factorial_is_every_choice_of_cells(plan_of: PlanOf) -> None:
    plan = plan_of(
        "variants:\n  cache: {grid: {features.cache_ratio: [0.1, 0.3]}, exact: true}\n"
        "  half: {set: {precision: fp16}}\n  spmm: {set: {aggregation: spmm}, exact: true}\n"
        "design: {kind: factorial}\n"
    )
    assert len(plan.cells) == 3 * 2 * 2
    assert list(plan.cells)[:5] == ["baseline", "cache-0.1", "cache-0.3", "half", "spmm"]
    assert "cache-0.3+half+spmm" in plan.cells
    assert {c.variant for c in plan.comparisons if c.exact} == {
        "cache-0.1",
        "cache-0.3",
        "spmm",
        "cache-0.1+spmm",
        "cache-0.3+spmm",
    }


def test_factorial_skips_variants_that_contradict_each_other(plan_of: PlanOf) -> None:
    plan = plan_of(
        "variants:\n  a: {set: {precision: fp16}}\n  b: {set: {precision: bf16, checkpointing: true}}\n"
        "design: {kind: factorial}\n"
    )
    assert list(plan.cells) == ["baseline", "a", "b"]
    assert skipped(plan) == {"a+b": 'a and b both set precision, to "fp16" and "bf16"'}


def test_factorial_skips_a_combination_that_cannot_be(plan_of: PlanOf) -> None:
    plan = plan_of(
        "variants:\n  deep: {set: {model.layers: 3, sampling.fanout: [5, 5, 5]}}\n"
        "  gat: {set: {model.conv: gat, model.heads: 4}}\n  wide: {set: {model.hidden: 30}}\n"
        "  cluster: {set: {batching: cluster}}\ndesign: {kind: factorial}\n"
    )
    assert "`hidden` (30) must be a multiple of `heads` (4)" in skipped(plan)["gat+wide"]
    assert skipped(plan)["deep+cluster"] == "sampling.fanout has no effect with batching: cluster"
    assert "wide+cluster" in plan.cells


@pytest.mark.parametrize("kind", ["stack", "leave-one-out"])
def test_designs_that_need_one_cell_a_variant(kind: str, plan_of: PlanOf) -> None:
    text = f"variants:\n  cache: {{grid: {{features.cache_ratio: [0.1, 0.3]}}}}\ndesign: {{kind: {kind}}}\n"
    with pytest.raises(InputError, match=rf":6:3: variants\.cache: makes 2 cells; design {kind} needs one a variant"):
        plan_of(text)


@pytest.mark.parametrize("kind", ["stack", "leave-one-out"])
def test_designs_that_join_variants_refuse_contradictions(kind: str, plan_of: PlanOf) -> None:
    text = (
        f"variants:\n  a: {{set: {{precision: fp16}}}}\n  b: {{set: {{precision: bf16}}}}\ndesign: {{kind: {kind}}}\n"
    )
    with pytest.raises(InputError, match="a and b both set precision"):
        plan_of(text)


def test_too_many_combinations_are_refused_at_once(plan_of: PlanOf) -> None:
    grids = "".join(f"  v{i}: {{grid: {{model.args.k{i}: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}}}\n" for i in range(8))
    text = "variants:\n" + grids.replace("model.args.k", "training.") + "design: {kind: factorial}\n"
    for i, path in enumerate(["lr", "weight_decay", "clip", "epochs", "batch_size", "patience", "eval_every", "lr"]):
        text = text.replace(f"training.{i}", f"training.{path}")
    text = text.replace("weight_decay: [1,", "weight_decay: [10,")
    with pytest.raises(InputError, match=r"99,999,999 cells, at most 10,000 are planned"):
        plan_of(text.replace("epochs: [1", "epochs: [11").replace("eval_every: [1", "eval_every: [11"))


def test_a_stack_tells_which_options_a_later_one_switches_off(plan_of: PlanOf) -> None:
    plan = plan_of(
        "variants:\n  fanout: {set: {sampling.fanout: [5, 5]}}\n  cluster: {set: {batching: cluster}}\n"
        "design: {kind: stack}\n"
    )
    assert list(plan.cells) == ["baseline", "fanout", "fanout+cluster"]
    assert plan.warnings == ["fanout+cluster: sampling.fanout has no effect with batching: cluster"]


def test_leaving_out_what_has_no_effect_is_skipped(plan_of: PlanOf) -> None:
    plan = plan_of(
        "variants:\n  fanout: {set: {sampling.fanout: [5, 5]}}\n  cluster: {set: {batching: cluster}}\n"
        "  half: {set: {precision: fp16}}\ndesign: {kind: leave-one-out}\n"
    )
    assert skipped(plan) == {
        "without-fanout": "leaving out fanout changes nothing: sampling.fanout has no effect with batching: cluster"
    }
    assert list(plan.cells) == ["all", "without-cluster", "without-half"]


def test_a_baseline_that_cannot_run_stops_the_plan(plan_of: PlanOf) -> None:
    with pytest.raises(
        InputError, match=r":5:1: baseline: the reference `baseline` cannot run: .*numba draws the same"
    ):
        plan_of("baseline: {sampling: {backend: torch}}\nvariants: {a: {set: {precision: fp16}}}\n")


def test_cuda_wished_where_there_is_none(plan_of: PlanOf) -> None:
    with pytest.raises(InputError, match=r":5:9: device: cuda: no CUDA device .* write `device: auto`"):
        plan_of("device: cuda\nvariants: {a: {set: {precision: fp16}}}\n")


def test_ogb_wished_where_it_is_not_installed(plan_of: PlanOf, machine: Machine) -> None:
    text = (
        "version: 1\nname: s\ndataset: {source: ogb, name: ogbn-arxiv}\nmodel: {conv: gcn}\n"
        "variants: {a: {set: {precision: fp16}}}\n"
    )
    assert plan_of(text).warnings == []
    without = machine.model_copy(update={"libraries": {**machine.libraries, "ogb": None}})
    with pytest.raises(InputError, match="pip install ogb"):
        plan_of(text, without)


@pytest.mark.parametrize(
    ("lines", "warning"),
    [
        ("variants: {a: {set: {precision: fp16}}, b: {set: {precision: fp16}}}", "a and b are the same options"),
        ("seeds: {looks: [3]}\nvariants: {a: {set: {precision: fp16}}}", "at most 3 pairs"),
        ("training: {epochs: 5, patience: 5}\nvariants: {a: {set: {precision: fp16}}}", "early stopping never happens"),
        ("variants: {a: {set: {sampling.backend: torch}}}", "every variant is skipped"),
    ],
)
def test_warnings(lines: str, warning: str, plan_of: PlanOf) -> None:
    assert any(warning in found for found in plan_of(lines + "\n").warnings)


def test_runs_are_counted_once_for_equal_cells(plan_of: PlanOf) -> None:
    plan = plan_of("seeds: {looks: [5, 8]}\nvariants: {a: {set: {precision: fp16}}, b: {set: {precision: fp16}}}\n")
    assert (plan.runs_min, plan.runs_max) == (2 * 5, 2 * 8)


def test_threads_of_timing_are_the_specs_or_the_machines(plan_of: PlanOf, write: Any, machine: Machine) -> None:
    text = "variants: {a: {set: {precision: fp16}}}\n"
    assert plan_of("timing: {threads: 7}\n" + text).timing_threads == 7
    path = write(text)
    assert make_plan(load_spec(path), path, machine).timing_threads == len(usable_cpus()) >= 1


def test_paths_are_relative_to_where_it_runs(
    write: Any, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("variants: {a: {set: {precision: fp16}}}\n")
    monkeypatch.chdir(tmp_path)
    plan = make_plan(load_spec(path), path, machine)
    assert (plan.spec_path, plan.dataset.spec_dir) == ("spec.yaml", ".")
    monkeypatch.chdir(Path(__file__).parent)
    assert make_plan(load_spec(path), path, machine).spec_path == str(path.resolve())


def test_a_plan_is_read_back_as_it_was(plan_of: PlanOf) -> None:
    plan = plan_of(EXAMPLE)
    assert Plan.model_validate_json(plan.model_dump_json(by_alias=True)) == plan


def test_ten_thousand_cells_are_planned(plan_of: PlanOf) -> None:
    ten = list(range(1, 11))
    grid = f"training.lr: {ten}, training.epochs: {ten}, training.batch_size: {ten}, model.hidden: {ten}"
    plan = plan_of("training: {lr: 0.5}\n" + f"variants: {{g: {{grid: {{{grid}}}}}}}\n")
    assert len(plan.cells) == 10_001
    assert len({cell.cell_id for cell in plan.cells.values()}) == 10_001


def test_named_patches_and_cells_agree(plan_of: PlanOf, write: Any) -> None:
    spec = load_spec(write(EXAMPLE, "example.yaml"))
    wanted = [cell.name for key, variant in spec.variants.items() for cell in named_patches(key, variant)]
    plan = plan_of(EXAMPLE)
    assert sorted(wanted) == sorted([*list(plan.cells)[1:], *skipped(plan)])


NO_ATTRIBUTES = (
    "mpnn reads attributes of edges, and this data set has none; docs/adding-a-dataset.md says how to give them"
)
APART = "source: files, edges: e.npy, features: x.npy, labels: y.npy"


@pytest.mark.parametrize(
    ("dataset", "known_to_lack"),
    [
        ("{source: builtin, name: wordnet}", True),
        ("{source: synthetic, nodes: 100}", True),
        ("{source: synthetic, nodes: 100, edge_features: 2}", False),
        ("{source: pyg, name: Planetoid/Cora}", True),
        ("{source: pyg, name: Rare/Thing}", False),  # only preparation can tell
        (f"{{{APART}}}", True),
        (f"{{{APART}, edge_features: a.npy}}", False),
        ("{source: files, path: bare.npz}", True),
        ("{source: files, path: whole.npz}", False),
        ("{source: files, path: x.npy}", False),  # no npz: preparation says so
    ],
)
def test_mpnn_is_skipped_where_edges_are_known_to_have_no_attributes(
    dataset: str, known_to_lack: bool, plan_of: PlanOf, tmp_path: Path
) -> None:
    for name in "exya":
        np.save(tmp_path / f"{name}.npy", np.zeros(1))
    np.savez(tmp_path / "bare.npz", x=np.zeros(1))
    np.savez(tmp_path / "whole.npz", edge_attr=np.zeros(1))
    head = f"version: 1\nname: s\ndataset: {dataset}\n"
    plan = plan_of(f"{head}model: {{conv: sage}}\nvariants: {{mpnn: {{set: {{model.conv: mpnn}}}}}}\n")
    assert skipped(plan) == ({"mpnn": NO_ATTRIBUTES} if known_to_lack else {})
    if known_to_lack:
        with pytest.raises(InputError, match="the reference `baseline` cannot run: mpnn reads attributes of edges"):
            plan_of(f"{head}model: {{conv: mpnn}}\nvariants: {{sage: {{set: {{model.conv: sage}}}}}}\n")


def test_a_prepared_graph_without_attributes_is_a_warning_and_no_other_plan(plan_of: PlanOf, tmp_path: Path) -> None:
    """The plan's files must not change when a graph has been prepared."""
    plan = plan_of(
        "version: 1\nname: s\ndataset: {source: pyg, name: Rare/Thing}\nmodel: {conv: sage}\n"
        "variants: {mpnn: {set: {model.conv: mpnn}}}\n"
    )
    folder = tmp_path / "graphs" / plan.dataset.dataset_id
    folder.mkdir(parents=True)
    sizes = dict.fromkeys(("num_nodes", "num_edges", "num_features", "num_classes", "train_nodes"), 10)
    for edge_features, warnings in ((2, []), (0, [f"mpnn will end unsupported: {NO_ATTRIBUTES}"])):
        (folder / "graph.json").write_text(json.dumps(sizes | {"edge_features": edge_features}))
        shown = refined(plan, tmp_path, "cpu")
        assert (list(shown.cells), shown.warnings) == (["baseline", "mpnn"], warnings)


def test_a_prepared_graph_too_small_for_a_cache_is_a_warning(plan_of: PlanOf, tmp_path: Path) -> None:
    plan = plan_of(
        "version: 1\nname: s\ndataset: {source: pyg, name: Rare/Thing}\nmodel: {conv: sage}\nvariants:\n"
        "  share: {set: {features.cache_ratio: 0.01}}\n"
        "  bytes: {grid: {features.cache_bytes: [39, 40]}}\n"
        "  full: {set: {features.cache_bytes: 39, batching: full}}\n"
    )
    folder = tmp_path / "graphs" / plan.dataset.dataset_id
    folder.mkdir(parents=True)
    sizes = dict.fromkeys(("num_nodes", "num_edges", "num_features", "num_classes", "train_nodes"), 10)
    (folder / "graph.json").write_text(json.dumps(sizes))
    assert refined(plan, tmp_path, "cpu").warnings == [
        *plan.warnings,
        "share will end unsupported: cache_ratio 0.01 of 10 nodes caches none; use at least 0.1",
        "bytes-39 will end unsupported: cache_bytes 39 holds no row of 40 bytes; use at least 40",
    ]
